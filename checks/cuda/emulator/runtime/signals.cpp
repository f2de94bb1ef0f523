// Faults of the host's processor inside a kernel, and the end of the time.
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <ctime>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/ucontext.h>
#include "job.h"
#include "state.h"
#include "walls.h"

namespace emu {

sigjmp_buf host_exit;

namespace {

constexpr size_t ALTERNATE = 64 << 10;

Where interrupted(void* context) {
    const ucontext_t* c = (const ucontext_t*)context;
#if defined(__x86_64__)
    uintptr_t pc = uintptr_t(c->uc_mcontext.gregs[REG_RIP]);
#else
    uintptr_t pc = uintptr_t(c->uc_mcontext.pc);
#endif
    return in_program(pc) ? Where(pc) : 0;
}

#if defined(__x86_64__)
// Steps over a division that the processor refused, with what a card gives: all ones, and the dividend as remainder.
bool step_over_division(void* context) {
    greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
    const unsigned char* code = (const unsigned char*)registers[REG_RIP];
    const unsigned char* at = code;
    while (*at == 0x66 || (*at & 0xf0) == 0x40 || *at == 0x64) at++;
    if (*at != 0xf7 || (at[1] & 0x30) != 0x30) return false;
    unsigned mode = at[1] >> 6, base = at[1] & 7;
    at += 2;
    if (mode != 3) {
        bool indexed = base == 4, absolute = mode == 0 && (base == 5 || (indexed && (*at & 7) == 5));
        at += (indexed ? 1 : 0) + (absolute || mode == 2 ? 4 : mode == 1 ? 1 : 0);
    }
    registers[REG_RDX] = registers[REG_RAX];
    registers[REG_RAX] = -1;
    registers[REG_RIP] = greg_t(at);
    return true;
}
#else
bool step_over_division(void*) { return false; }
#endif

// Where the program called what of a library was interrupted: the nearest return address on the stack, or in its register.
Where caller(void* context) {
    const ucontext_t* c = (const ucontext_t*)context;
#if defined(__x86_64__)
    const uintptr_t* stack = (const uintptr_t*)c->uc_mcontext.gregs[REG_RSP];
    uintptr_t bottom = uintptr_t(stack) | 0xfff;
    for (; uintptr_t(stack) + 8 <= bottom; stack++)
        if (in_program(*stack)) return Where(*stack - 1);
    return 0;
#else
    return in_program(c->uc_mcontext.regs[30]) ? Where(c->uc_mcontext.regs[30] - 1) : 0;
#endif
}

const char* touch(void* context) {
#if defined(__x86_64__)
    return ((const ucontext_t*)context)->uc_mcontext.gregs[REG_ERR] & 2 ? "writes to" : "reads";
#else
    return "touches";
#endif
}

void host_broke(int number, siginfo_t* about, void* context) {
    uintptr_t address = number == SIGSEGV || number == SIGBUS ? uintptr_t(about->si_addr) : 0;
    Where where = interrupted(context);
    if (!where) where = caller(context);
    lower_walls();
    if (address && in_device(address))
        report("illegal_address", FAULT, where, 0, "host code %s %s", touch(context), device_name(address));
    else if (address && is_private(address, 1))
        report("illegal_address", FAULT, where, 0, "host code %s the emulator's own memory", touch(context));
    else
        report("host_crash", FAULT, where, 0, "host code was ended by signal %d", number);
    end_host_code(2);
}

void broke(int number, siginfo_t* about, void* context) {
    if (!machine.current || !entered()) return host_broke(number, about, context);
    Where where = interrupted(context), last = machine.current->where;
    if (number == SIGFPE) {
        report("division_by_zero", HAZARD, where, last, "an integer is divided by zero, or its quotient overflows; a card goes on with an arbitrary number");
        if (step_over_division(context)) return;
    } else if (number == SIGSEGV && in_stack_guard(uintptr_t(about->si_addr))) {
        report("stack_overflow", FAULT, where, last, "a thread uses more than %zu KiB of local memory", STACK_BYTES >> 10);
    } else {
        report("illegal_address", FAULT, where, last, "the processor refused an access (signal %d)", number);
    }
    abort_launch(number == SIGFPE ? 719 : 700);
}

void out_of_time(int number, siginfo_t* about, void* context) {
    // what the program sends itself is no end of its time
    if (about->si_code == SI_USER || about->si_code == SI_TKILL) return host_broke(number, about, context);
    lower_walls();
    if (machine.current)
        report("out_of_time", FAULT, interrupted(context), machine.current->where, "the kernel was still running when its time was up");
    else
        report("out_of_time", FAULT, interrupted(context), 0, "host code was still running when its time was up");
    finish_late();
}

}  // namespace

void catch_signals(double seconds) {
    stack_t stack = {};
    // outside of the walls: the processor writes there whoever is interrupted
    stack.ss_sp = mmap(nullptr, ALTERNATE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack.ss_size = ALTERNATE;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    action.sa_sigaction = broke;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigaction(number, &action, nullptr);
    action.sa_sigaction = out_of_time;
    sigaction(SIGALRM, &action, nullptr);
    itimerval timer = {};
    timer.it_value.tv_sec = time_t(seconds);
    timer.it_value.tv_usec = suseconds_t((seconds - double(time_t(seconds))) * 1e6) + 1;
    setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace emu
