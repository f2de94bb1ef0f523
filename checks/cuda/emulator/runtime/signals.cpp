// Faults of the host's processor inside a kernel, and the end of the time.
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <ctime>
#include <sys/time.h>
#include <sys/ucontext.h>
#include "job.h"
#include "state.h"

namespace emu {

sigjmp_buf host_exit;

namespace {

char alternate[64 << 10];

Where interrupted(void* context) {
    const ucontext_t* c = (const ucontext_t*)context;
#if defined(__x86_64__)
    uintptr_t pc = uintptr_t(c->uc_mcontext.gregs[REG_RIP]);
#else
    uintptr_t pc = uintptr_t(c->uc_mcontext.pc);
#endif
    return in_program(pc) ? Where(pc) : 0;
}

void broke(int number, siginfo_t* about, void* context) {
    if (!machine.current) {
        report("host_crash", FAULT, interrupted(context), 0, "host code was ended by signal %d", number);
        siglongjmp(host_exit, 2);
    }
    Where where = interrupted(context), last = machine.current->where;
    if (number == SIGFPE) {
        report("trap", FAULT, where, last, "an integer is divided by zero, or its quotient overflows; a card gives an arbitrary number");
    } else if (number == SIGSEGV && in_stack_guard(uintptr_t(about->si_addr))) {
        report("stack_overflow", FAULT, where, last, "a thread uses more than %zu KiB of local memory", STACK_BYTES >> 10);
    } else {
        report("illegal_address", FAULT, where, last, "the processor refused an access (signal %d)", number);
    }
    abort_launch(number == SIGFPE ? 719 : 700);
}

void out_of_time(int, siginfo_t*, void* context) {
    if (machine.current)
        report("out_of_time", FAULT, interrupted(context), machine.current->where, "the kernel was still running when its time was up");
    else
        report("out_of_time", FAULT, interrupted(context), 0, "host code was still running when its time was up");
    finish_late();
}

}  // namespace

void catch_signals(double seconds) {
    stack_t stack = {};
    stack.ss_sp = alternate;
    stack.ss_size = sizeof alternate;
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
