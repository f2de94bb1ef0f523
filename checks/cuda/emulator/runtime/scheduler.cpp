// Who runs next: the lanes of a warp in turn, warps in turn, blocks one after another.
#include <cstdio>
#include <cstring>
#include "emulator/vectors.h"
#include "global.h"
#include "state.h"

extern "C" {
uint3 emu_threadIdx, emu_blockIdx;
dim3 emu_blockDim, emu_gridDim;
}

namespace emu {

Machine machine;

namespace {

void* scheduler_stack;
void (*thread_body)(const void*);
const void* thread_closure;

void enter(Fiber& fiber, void** leaving) {
    machine.current = &fiber;
    emu_threadIdx = {fiber.index.x, fiber.index.y, fiber.index.z};
    emu_switch(leaving, fiber.sp);
}

Warp& own_warp() { return machine.warps[machine.current->warp]; }

// The next lane of a warp that can go on, after the one that ran last; -1 when none can.
int next_lane(Warp& warp) {
    unsigned after = warp.cursor >= 31 ? 0 : warp.ready & (~0u << (warp.cursor + 1));
    unsigned from = after ? after : warp.ready;
    return from ? __builtin_ctz(from) : -1;
}

uint32_t drawn() {
    machine.random = machine.random * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(machine.random >> 33);
}

void to_scheduler(Fiber& self) { emu_switch(&self.sp, scheduler_stack); }

void leave(Fiber& self) {
    Warp& warp = own_warp();
    int lane = machine.lockstep ? next_lane(warp) : -1;
    if (lane < 0) return to_scheduler(self);
    warp.cursor = unsigned(lane);
    enter(machine.fibers[self.warp * 32 + unsigned(lane)], &self.sp);
}

void barrier_may_open();

void thread_main() {
    thread_body(thread_closure);
    Fiber& self = *machine.current;
    settle_writes(true);
    settle_global(true);
    machine.idle = 0;
    Warp& warp = own_warp();
    self.state = State::DONE;
    warp.alive &= ~(1u << self.lane);
    warp.ready &= ~(1u << self.lane);
    machine.alive--;
    machine.exited++;
    for (unsigned lanes = warp.collective; lanes; lanes &= lanes - 1) {
        unsigned lane = unsigned(__builtin_ctz(lanes));
        if (warp.collective >> lane & 1) complete(warp, machine.fibers[self.warp * 32 + lane], 0);
    }
    barrier_may_open();
    leave(self);
    __builtin_unreachable();
}

unsigned own_barrier_threads(int id) {
    unsigned n = 0;
    for (unsigned t = 0; t < machine.threads; t++) n += machine.fibers[t].state == State::BARRIER && machine.fibers[t].barrier == id;
    return n;
}

void wake(Fiber& fiber) {
    fiber.state = State::READY;
    machine.warps[fiber.warp].ready |= 1u << fiber.lane;
}

int folded(int kind) {
    int count = 0, all = 1;
    for (unsigned t = 0; t < machine.threads; t++) {
        Fiber& f = machine.fibers[t];
        if (f.state == State::BARRIER && f.barrier == 0) count += f.flag != 0, all &= f.flag != 0;
    }
    return kind == BARRIER_COUNT ? count : kind == BARRIER_AND ? all : count > 0;
}

// Opens the block's barrier once every thread that has not exited waits at it.
void barrier_may_open() {
    if (machine.waiting == 0 || machine.waiting < machine.alive) return;
    Fiber* first = nullptr;
    for (unsigned t = 0; t < machine.threads; t++) {
        Fiber& f = machine.fibers[t];
        if (f.state != State::BARRIER || f.barrier != 0) continue;
        if (!first) first = &f;
        if (f.where != first->where)
            report("barrier_divergence", HAZARD, f.where, first->where, "thread %u waits at another barrier than thread %u; they pair up on a card, by luck",
                   f.tid, first->tid);
    }
    if (machine.exited)
        report("barrier_exit", NOTE, first->where, 0, "%u of %u threads have exited before this barrier, which is legal since Volta", machine.exited, machine.threads);
    int result = folded(first->kind);
    for (unsigned t = 0; t < machine.threads; t++) {
        Fiber& f = machine.fibers[t];
        if (f.state == State::BARRIER && f.barrier == 0) f.result = uint64_t(result), wake(f);
    }
    machine.waiting = 0;
    begin_epoch();
}

void place_text(const Fiber& fiber, char* text, size_t room) {
    const char* what = fiber.state == State::BARRIER ? "a barrier" : fiber.state == State::DONE ? "its end" : "another exchange";
    snprintf(text, room, "lane %u waits at %s", fiber.lane, what);
}

// Nothing can go on. Lanes that wait for each other at different exchanges go on without the others,
// as they would on a card; what waits for a thread at a barrier never does.
void unstick() {
    for (unsigned w = 0; w * 32 < machine.threads; w++) {
        Warp& warp = machine.warps[w];
        for (unsigned lanes = warp.collective; lanes; lanes &= lanes - 1) {
            Fiber& f = machine.fibers[w * 32 + unsigned(__builtin_ctz(lanes))];
            unsigned arrived = 0;
            for (unsigned l = 0; l < 32 && w * 32 + l < machine.threads; l++) {
                Fiber& o = machine.fibers[w * 32 + l];
                if ((warp.collective >> l & 1) && o.where == f.where && o.op == f.op && o.mask == f.mask) arrived |= 1u << l;
            }
            unsigned missing = f.mask & warp.alive & ~arrived;
            if (!missing || (missing & ~warp.collective)) continue;
            Fiber& other = machine.fibers[w * 32 + unsigned(__builtin_ctz(missing))];
            report("divergent_shuffle", FAULT, f.where, other.where, "mask 0x%08x names lanes 0x%08x that wait at another exchange, or with another mask", f.mask, missing);
            complete(warp, f, arrived);
            return;
        }
    }
    Fiber *at_barrier = nullptr, *at_exchange = nullptr;
    for (unsigned t = 0; t < machine.threads; t++) {
        Fiber& f = machine.fibers[t];
        if (f.state == State::BARRIER && !at_barrier) at_barrier = &f;
        if (f.state == State::COLLECTIVE && !at_exchange) at_exchange = &f;
    }
    char text[96] = "";
    if (at_exchange) {
        Warp& warp = machine.warps[at_exchange->warp];
        unsigned missing = at_exchange->mask & warp.alive & ~warp.collective;
        Fiber& other = machine.fibers[at_exchange->warp * 32 + unsigned(missing ? __builtin_ctz(missing) : 0)];
        place_text(other, text, sizeof text);
        report("divergent_shuffle", FAULT, at_exchange->where, other.where, "mask 0x%08x names lanes 0x%08x that never arrive: %s", at_exchange->mask, missing, text);
    }
    Fiber* first = at_barrier ? at_barrier : at_exchange;
    if (at_barrier && at_exchange)
        report("barrier_divergence", FAULT, at_barrier->where, at_exchange->where, "%u of %u threads wait at this barrier, the others elsewhere", machine.waiting, machine.alive);
    report("deadlock", FAULT, first ? first->where : 0, at_exchange && at_barrier ? at_exchange->where : 0, "all %u threads of the block wait, and none can go on", machine.alive);
    abort_launch(702);
}

// Lanes that asked who is active get their answer once no other lane of their warp can still join them.
bool release_parked(Warp& warp, unsigned base) {
    if (!warp.parked || warp.ready) return false;
    for (unsigned left = warp.parked; left;) {
        Where where = machine.fibers[base + unsigned(__builtin_ctz(left))].where;
        unsigned together = 0;
        for (unsigned l = 0; l < 32; l++)
            if ((left >> l & 1) && machine.fibers[base + l].where == where) together |= 1u << l;
        for (unsigned l = 0; l < 32; l++)
            if (together >> l & 1) machine.fibers[base + l].result = together, wake(machine.fibers[base + l]);
        left &= ~together;
    }
    warp.parked = 0;
    return true;
}

int pick_lane(Warp& warp) {
    if (machine.lockstep || !warp.ready) return next_lane(warp);
    unsigned skip = drawn() % unsigned(__builtin_popcount(warp.ready)), lanes = warp.ready;
    while (skip--) lanes &= lanes - 1;
    return __builtin_ctz(lanes);
}

}  // namespace

Fiber& lane_of(const Fiber& fiber, unsigned lane) { return machine.fibers[fiber.warp * 32 + lane]; }

void yield_lane() {
    Warp& warp = own_warp();
    if (!(warp.ready & (warp.ready - 1))) return;
    leave(*machine.current);
}

void rotate() { to_scheduler(*machine.current); }

void abort_launch(int code) {
    machine.error = code;
    siglongjmp(machine.exit, code);
}

// Called by a fiber whose state is no longer READY; returns once somebody woke it.
void wait_here() {
    Fiber& self = *machine.current;
    if (self.state == State::READY) return;
    own_warp().ready &= ~(1u << self.lane);
    leave(self);
}

void run_block(void (*thread)(const void*), const void* closure) {
    thread_body = thread;
    thread_closure = closure;
    unsigned warps = (machine.threads + 31) / 32;
    machine.alive = machine.threads;
    machine.waiting = machine.exited = 0;
    const Extent& b = machine.launch->block;
    for (unsigned w = 0; w < warps; w++) {
        unsigned lanes = machine.threads - w * 32 < 32 ? (1u << (machine.threads - w * 32)) - 1 : ~0u;
        machine.warps[w] = {lanes, lanes, 0, 0, 31};
    }
    for (unsigned t = 0; t < machine.threads; t++) {
        Fiber& f = machine.fibers[t];
        f.tid = t, f.lane = t % 32, f.warp = t / 32, f.state = State::READY, f.where = 0, f.barrier = 0;
        f.index = {t % b.x, t / b.x % b.y, t / b.x / b.y};
        prepare(f, thread_main);
    }
    while (machine.alive) {
        bool ran = false;
        unsigned first = machine.lockstep ? 0 : drawn() % warps;
        for (unsigned i = 0; i < warps; i++) {
            Warp& warp = machine.warps[(first + i) % warps];
            unsigned base = (first + i) % warps * 32;
            int lane = pick_lane(warp);
            if (lane < 0 && release_parked(warp, base)) lane = pick_lane(warp);
            if (lane < 0) continue;
            ran = true;
            warp.cursor = unsigned(lane);
            enter(machine.fibers[base + unsigned(lane)], &scheduler_stack);
        }
        if (!ran && machine.alive) machine.current = nullptr, unstick();
    }
    machine.current = nullptr;
}

}  // namespace emu

using namespace emu;

extern "C" int emu_barrier(Barrier kind, int predicate, Site site) {
    if (!machine.current) return 0;
    settle_writes(true);
    settle_global(true);
    machine.idle = 0;
    Fiber& self = *machine.current;
    self.kind = uint8_t(kind), self.flag = predicate, self.where = interned(site), self.barrier = 0;
    self.state = State::BARRIER;
    machine.waiting++;
    machine.warps[self.warp].ready &= ~(1u << self.lane);
    barrier_may_open();
    wait_here();
    return int(self.result);
}

extern "C" void emu_named_barrier(int id, int count, Site site) {
    Fiber& self = *machine.current;
    settle_writes(true);
    settle_global(true);
    machine.idle = 0;
    self.where = interned(site), self.barrier = id + 1, self.state = State::BARRIER;
    machine.warps[self.warp].ready &= ~(1u << self.lane);
    if (own_barrier_threads(id + 1) >= unsigned(count)) {
        for (unsigned t = 0; t < machine.threads; t++) {
            Fiber& f = machine.fibers[t];
            if (f.state == State::BARRIER && f.barrier == id + 1) wake(f);
        }
        begin_epoch();
    }
    wait_here();
}

extern "C" unsigned emu_activemask(Site site) {
    Fiber& self = *machine.current;
    settle_writes(true);
    settle_global(true);
    self.where = interned(site);
    self.state = State::PARKED;
    machine.warps[self.warp].parked |= 1u << self.lane;
    wait_here();
    return unsigned(self.result);
}

extern "C" unsigned emu_lane() { return machine.current ? machine.current->lane : 0; }
extern "C" unsigned emu_thread() { return machine.current ? machine.current->tid : 0; }
extern "C" unsigned emu_threads() { return machine.threads; }
extern "C" size_t emu_dynamic_bytes() { return machine.launch ? machine.launch->shared : 0; }
extern "C" void emu_pause() {
    if (machine.current) machine.idle++, rotate();
}
