// A stack per thread, with a guard page below, and the switch between them.
#include <cstring>
#include <sys/mman.h>
#include "state.h"
#if !defined(__x86_64__) && !defined(__aarch64__)
#error "the emulator switches stacks on x86-64 and AArch64 alone"
#endif

#if defined(__x86_64__)
__asm__(
    ".text\n.globl emu_switch\n.type emu_switch,@function\nemu_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n.size emu_switch,.-emu_switch\n");
#else
__asm__(
    ".text\n.globl emu_switch\n.type emu_switch,%function\nemu_switch:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n  ret\n.size emu_switch,.-emu_switch\n");
#endif

namespace emu {
namespace {
constexpr size_t PAGE = 4096;
uintptr_t pool = 0;
unsigned guarded = 0;
}  // namespace

void make_stacks(unsigned threads) {
    if (!pool) {
        void* memory = mmap(nullptr, MOST_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        pool = memory == MAP_FAILED ? 0 : uintptr_t(memory);
    }
    for (; guarded < threads; guarded++) mprotect((void*)(pool + guarded * STACK_BYTES), PAGE, PROT_NONE);
    for (unsigned i = 0; i < threads; i++) machine.fibers[i].stack = pool + i * STACK_BYTES;
}

void prepare(Fiber& fiber, void (*entry)()) {
    uintptr_t top = fiber.stack + STACK_BYTES - 64;
#if defined(__x86_64__)
    uintptr_t* sp = (uintptr_t*)top;  // 16-byte aligned
    *--sp = 0;                        // the entry never returns
    *--sp = uintptr_t(entry);
    sp -= 6;
    memset(sp, 0, 6 * sizeof(uintptr_t));
#else
    uintptr_t* sp = (uintptr_t*)(top - 160);
    memset(sp, 0, 160);
    sp[11] = uintptr_t(entry);
#endif
    fiber.sp = sp;
}

bool in_stacks(uintptr_t address) { return pool && address - pool < guarded * STACK_BYTES; }

bool in_stack_guard(uintptr_t address) { return in_stacks(address) && (address - pool) % STACK_BYTES < PAGE; }

}  // namespace emu
