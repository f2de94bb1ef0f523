// Runs the cases of a job one after another. `judge.job` holds, after a line with the seconds that all of them have and the first
// case's number, one line per case:
//   rows V K index_bytes probability_bytes stride schedule offset_of_logits offset_of_indices offset_of_probabilities
// Where the offsets are -1 there are no files for it, and no kernel is run: it is looked at what the launcher would launch.
// Logits are in `judge.inputs`, answers go into `judge.outputs`; `judge.report` gets one JSON object per line and case, each behind its
// mark (an HMAC with the key of this run), which holds a digest of the answers. What is wrong is for the trusted side to say.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <unistd.h>
#include "channel.h"
#include "job.h"
#include "sha256.h"
#include "state.h"
#include "threads.h"
#include "walls.h"

extern "C" int judge_launch(const float* logits, void* indices, void* probabilities, long long rows, long long V, int K);
extern "C" char __executable_start, etext;

namespace emu {

int pending_error();
void forget_error();

namespace {

constexpr size_t PLANNED = size_t(64) << 20;
int number = 0;
timespec began, worked;

double since(clockid_t clock, const timespec& start) {
    timespec now;
    clock_gettime(clock, &now);
    return double(now.tv_sec - start.tv_sec) + 1e-9 * double(now.tv_nsec - start.tv_nsec);
}

// What was written, as the trusted side reads it from the file.
void summed(const char* indices, size_t indices_bytes, const char* probabilities, size_t probabilities_bytes, char* hex) {
    unsigned char digest[Sha256::BYTES];
    Sha256 sum;
    sum.add(indices, indices_bytes);
    sum.add(probabilities, probabilities_bytes);
    sum.digest(digest);
    hexadecimal(digest, hex);
}

void answer(const char* status, int code, const char* outputs = "") {
    static char line[160 << 10];
    size_t n = size_t(snprintf(line, sizeof line, "{\"case\":%d,\"status\":\"%s\",\"code\":%d,\"device_error\":%d,\"peak_bytes\":%zu,\"input_bytes\":%llu,\"cpu_seconds\":%.6f,\"seconds\":%.6f,\"outputs\":\"%s\",\"events\":[", number,
                               status, code, machine.error, peak_bytes(), (unsigned long long)machine.input_bytes, since(CLOCK_PROCESS_CPUTIME_ID, worked), since(CLOCK_MONOTONIC, began), outputs));
    n += put_events(line + n, sizeof line - n - 4);
    memcpy(line + n, "]}", 3);
    write_signed(line, n + 2);
}

Allocation* ours(size_t bytes, const char* name, const char* content) {
    Allocation* made = content || machine.planned ? allocate(bytes, 0, name) : nullptr;
    if (made) made->ours = true;
    if (made && content) memcpy((void*)made->base, content, bytes);
    return made;
}

// Runs the launcher; no object that it throws is touched or destroyed but behind the walls.
int called(const Case& c, uintptr_t logits, uintptr_t indices, uintptr_t probabilities, char* said) {
    try {
        return judge_launch((const float*)logits, (void*)indices, (void*)probabilities, c.rows, c.vocabulary, int(c.k));
    } catch (const std::exception& error) {
        snprintf(said, 160, ":: %.150s", error.what());
    } catch (...) {
        said[0] = ':', said[1] = 0;
    }
    return -1;
}

// Whether the process may go on: a card in an error state takes no more work.
bool run(const Case& c) {
    clear_events();
    clock_gettime(CLOCK_MONOTONIC, &began);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &worked);
    machine.schedule = c.schedule;
    machine.lockstep = c.schedule == 0;
    machine.random = uint64_t(c.schedule) * 0x9e3779b97f4a7c15u + 1;
    machine.planned = c.logits_at < 0, machine.refused[0] = 0;
    forget_error();
    size_t logits_bytes = size_t(c.rows * c.vocabulary) * 4, indices_bytes = size_t(c.rows * c.stride * c.index_bytes),
           probabilities_bytes = size_t(c.rows * c.stride * c.probability_bytes);
    char *indices_out = outputs(c.indices_at, indices_bytes), *probabilities_out = outputs(c.probabilities_at, probabilities_bytes);
    // nobody reads of what is planned alone
    if (machine.planned && logits_bytes > PLANNED) logits_bytes = PLANNED;
    // An allocation may move in the table when another is made: only addresses are kept.
    Allocation* a = ours(logits_bytes, "the logits", inputs(c.logits_at, logits_bytes));
    uintptr_t logits = a ? a->base : 0;
    uintptr_t indices = (a = ours(indices_bytes, "the indices", indices_out)) ? a->base : 0;
    uintptr_t probabilities = (a = ours(probabilities_bytes, "the probabilities", probabilities_out)) ? a->base : 0;
    if (!logits || !indices || !probabilities) return answer("engine", 0), false;
    find(logits)->read_only = true;
    find(indices)->answer = find(probabilities)->answer = true;
    reset_peak();
    machine.error = 0;
    machine.input_bytes = machine.brought_bytes = 0;
    int code = 0;
    const char* status = "done";
    char said[160] = "";
    int left = sigsetjmp(host_exit, 1);
    if (!left) {
        raise_walls();
        code = called(c, logits, indices, probabilities, said);
        // streams may have code of the host's behind them
        fflush(nullptr);
    } else if (!machine.flushed) {
        lower_walls();
        machine.current = nullptr, machine.flushed = true;
        raise_walls();
        fflush(nullptr);
    }
    lower_walls();
    machine.current = nullptr;
    if (left) status = "crashed";
    else if (machine.error) status = "failed", code = said[0] || !code ? machine.error : code;
    else if (code) status = "refused";
    else if (int unread = pending_error()) status = "refused", code = unread;
    if (said[0]) report("exception", NOTE, 0, 0, "the launcher threw%s", said + 1);
    // as many as the outputs may be looked at; from an eighth of the logits host code knows enough of them
    if (machine.brought_bytes > indices_bytes + probabilities_bytes && machine.brought_bytes * 8 >= logits_bytes)
        report("host_copy", HAZARD, 0, 0, "%llu bytes were copied to the host, and the logits have %zu: host code can have made the answer", (unsigned long long)machine.brought_bytes, logits_bytes);
    char sum[2 * Sha256::BYTES + 1] = "";
    // a file that was cut ends here, and the case for good
    if (!left && !machine.planned) {
        memcpy(indices_out, (const void*)indices, indices_bytes), memcpy(probabilities_out, (const void*)probabilities, probabilities_bytes);
        summed(indices_out, indices_bytes, probabilities_out, probabilities_bytes, sum);
    }
    if (machine.planned && machine.refused[0]) report("refused_launch", FAULT, machine.refused_at, 0, "%s", machine.refused);
    answer(status, code, sum);
    release_ours();
    return !machine.error && status[0] != 'c';
}

}  // namespace

bool in_program(uintptr_t pc) { return pc - uintptr_t(&__executable_start) < size_t(&etext - &__executable_start); }

void finish_late() {
    answer("timed_out", 0);
    _exit(0);
}

void end_host_code(int how) {
    if (this_thread() == machine.main_thread) siglongjmp(host_exit, how);
    answer("crashed", 0);
    _exit(0);
}

}  // namespace emu

using namespace emu;

int main() {
    lower_walls();
    if (!took_all() || !open_report()) _exit(3);
    machine.main_thread = this_thread();
    number = first_number();
    static const char began_line[] = "{\"began\":true}";
    write_signed(began_line, sizeof began_line - 1);
    catch_signals(seconds_given());
    for (Case c; next_case(c); number++)
        if (!run(c)) break;
    _exit(0);
}
