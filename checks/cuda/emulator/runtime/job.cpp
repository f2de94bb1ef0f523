// Runs the cases of a job one after another. `job` holds one line per case:
//   rows V K index_bytes probability_bytes stride schedule offset_of_logits offset_of_indices offset_of_probabilities
// after a first line with the seconds that all of them have. Logits are read from `inputs`, answers written
// into `outputs`; `report` gets one JSON object per line and case. What is wrong is for the trusted side to say.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <unistd.h>
#include "job.h"
#include "state.h"

extern "C" int judge_launch(const float* logits, void* indices, void* probabilities, long long rows, long long V, int K);
extern "C" char __executable_start, etext;

namespace emu {

int pending_error();

namespace {

struct Case {
    long long rows, vocabulary, k, index_bytes, probability_bytes, stride, schedule, logits_at, indices_at, probabilities_at;
};

int report_fd = -1, inputs_fd = -1, outputs_fd = -1;
int number = 0;
timespec began, worked;

double since(clockid_t clock, const timespec& start) {
    timespec now;
    clock_gettime(clock, &now);
    return double(now.tv_sec - start.tv_sec) + 1e-9 * double(now.tv_nsec - start.tv_nsec);
}

void answer(const char* status, int code) {
    char line[320];
    int n = snprintf(line, sizeof line, "{\"case\":%d,\"status\":\"%s\",\"code\":%d,\"device_error\":%d,\"peak_bytes\":%zu,\"input_bytes\":%llu,\"cpu_seconds\":%.6f,\"seconds\":%.6f,\"events\":[", number,
                     status, code, machine.error, peak_bytes(), (unsigned long long)machine.input_bytes, since(CLOCK_PROCESS_CPUTIME_ID, worked), since(CLOCK_MONOTONIC, began));
    if (write(report_fd, line, size_t(n)) < 0) _exit(3);
    write_events(report_fd);
    if (write(report_fd, "]}\n", 3) < 0) _exit(3);
}

bool transfer(bool out, int fd, uintptr_t memory, size_t bytes, long long offset) {
    for (size_t done = 0; done < bytes;) {
        ssize_t n = out ? pwrite(fd, (void*)(memory + done), bytes - done, off_t(offset) + off_t(done))
                        : pread(fd, (void*)(memory + done), bytes - done, off_t(offset) + off_t(done));
        if (n <= 0) return false;
        done += size_t(n);
    }
    return true;
}

Allocation* ours(size_t bytes, const char* name) {
    Allocation* made = allocate(bytes, 0, name);
    if (made) made->ours = true;
    return made;
}

// Whether the process may go on: a card in an error state takes no more work.
bool run(const Case& c) {
    clear_events();
    clock_gettime(CLOCK_MONOTONIC, &began);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &worked);
    machine.lockstep = c.schedule == 0;
    machine.random = uint64_t(c.schedule) * 0x9e3779b97f4a7c15u + 1;
    size_t logits_bytes = size_t(c.rows * c.vocabulary) * 4, indices_bytes = size_t(c.rows * c.stride * c.index_bytes),
           probabilities_bytes = size_t(c.rows * c.stride * c.probability_bytes);
    // An allocation may move in the table when another is made: only addresses are kept.
    Allocation* a = ours(logits_bytes, "the logits");
    uintptr_t logits = a ? a->base : 0;
    uintptr_t indices = (a = ours(indices_bytes, "the indices")) ? a->base : 0;
    uintptr_t probabilities = (a = ours(probabilities_bytes, "the probabilities")) ? a->base : 0;
    if (!logits || !indices || !probabilities || !transfer(false, inputs_fd, logits, logits_bytes, c.logits_at) ||
        !transfer(false, outputs_fd, indices, indices_bytes, c.indices_at) ||
        !transfer(false, outputs_fd, probabilities, probabilities_bytes, c.probabilities_at))
        return answer("engine", 0), false;
    find(logits)->read_only = true;
    reset_peak();
    machine.error = 0;
    machine.input_bytes = 0;
    int code = 0;
    const char* status = "done";
    if (int left = sigsetjmp(host_exit, 1)) {
        machine.current = nullptr;
        status = left == 1 || left == 2 ? "crashed" : "done";
    } else {
        try {
            code = judge_launch((const float*)logits, (void*)indices, (void*)probabilities, c.rows, c.vocabulary, int(c.k));
            if (machine.error) status = "failed", code = code ? code : machine.error;
            else if (code) status = "refused";
            else if (int unread = pending_error()) status = "refused", code = unread;
        } catch (const std::exception& error) {
            report("exception", NOTE, 0, 0, "the launcher threw: %s", error.what());
            status = machine.error ? "failed" : "refused";
            code = machine.error ? machine.error : -1;
        } catch (...) {
            report("exception", NOTE, 0, 0, "the launcher threw");
            status = machine.error ? "failed" : "refused";
            code = machine.error ? machine.error : -1;
        }
    }
    fflush(nullptr);
    transfer(true, outputs_fd, indices, indices_bytes, c.indices_at);
    transfer(true, outputs_fd, probabilities, probabilities_bytes, c.probabilities_at);
    answer(status, code);
    release_ours();
    return !machine.error && status[0] != 'c';
}

}  // namespace

bool in_program(uintptr_t pc) { return pc - uintptr_t(&__executable_start) < size_t(&etext - &__executable_start); }

void finish_late() {
    answer("timed_out", 0);
    _exit(0);
}

}  // namespace emu

using namespace emu;

int main() {
    FILE* job = fopen("job", "r");
    report_fd = open("report", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    inputs_fd = open("inputs", O_RDONLY | O_CLOEXEC);
    outputs_fd = open("outputs", O_RDWR | O_CLOEXEC);
    double seconds;
    int first;
    if (!job || report_fd < 0 || inputs_fd < 0 || outputs_fd < 0 || fscanf(job, "%lf %d", &seconds, &first) != 2) return 3;
    number = first;
    make_arena();
    find_shared();
    catch_signals(seconds);
    Case c;
    for (; fscanf(job, "%lld %lld %lld %lld %lld %lld %lld %lld %lld %lld", &c.rows, &c.vocabulary, &c.k, &c.index_bytes, &c.probability_bytes, &c.stride, &c.schedule,
                  &c.logits_at, &c.indices_at, &c.probabilities_at) == 10;
         number++)
        if (!run(c)) break;
    _exit(0);
}
