// The program that launches a submission on a card: judge_launch on buffers between guard bands.
//
// It reads "judge.job" (a line per case), "judge.inputs" and "judge.outputs", and writes the last and "judge.report" as the emulator's
// program does. All of it is the untrusted side: sizes come from the trusted one, and the outputs decide.
#include <cuda_runtime.h>

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" int judge_launch(const float*, void*, void*, long long, long long, int);

namespace {

// how the process ends: its context is spoiled, the card has no room for the judge's own buffers, or launches hold it
constexpr int kSpoiled = 3, kNoRoom = 4, kHeld = 5;
constexpr int kPattern = 0xa5;
constexpr int kThrew = -1;
constexpr int kWarmUp = 2, kTurns = 12;
// seconds after a launch's end by events from which on work was still under way, on a stream that they do not see
constexpr double kLate = 50e-6;
size_t g_guard = 4096;

struct Case {
    long long rows, V, K, index_bytes, probability_bytes, stride, schedule, logits_at, indices_at, probabilities_at;
};

using Clock = std::chrono::steady_clock;

double since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

// Ends the process without destructors: they may wait for ever in a spoiled context, and are the submission's too.
[[noreturn]] void end(int status) {
    std::fflush(nullptr);
    std::_Exit(status);
}

// The case that runs, and where it is told that the time was over in it.
struct Running {
    int report = -1, number = 0;
    Clock::time_point began;
} g_running;

// The time is over, whatever a launch waits for: what was answered so far is kept.
void late(int) {
    char line[160];
    const int length = std::snprintf(line, sizeof line, "{\"case\":%d,\"status\":\"timed_out\",\"seconds\":%.3f}\n",
                                     g_running.number, since(g_running.began));
    if (write(g_running.report, line, (size_t)length) != length) _exit(2);
    _exit(0);
}

void end_after(double seconds) {
    struct itimerval timer = {};
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6) + 1;
    signal(SIGALRM, late);
    setitimer(ITIMER_REAL, &timer, nullptr);
}

// What launches allocated and still hold, and the most of it during one.
struct Account {
    std::mutex mutex;
    std::unordered_map<void*, size_t> held;
    size_t now = 0, start = 0, most = 0;
    bool counting = false;

    void begin() {
        const std::lock_guard<std::mutex> lock(mutex);
        start = most = now;
        counting = true;
    }
    size_t stop() {
        const std::lock_guard<std::mutex> lock(mutex);
        counting = false;
        return most - start;
    }
    cudaError_t made(cudaError_t status, void* const* pointer, size_t bytes) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!counting || status != cudaSuccess || *pointer == nullptr) return status;
        held[*pointer] = bytes;
        now += bytes;
        if (now > most) most = now;
        return status;
    }
    void freed(void* pointer) {
        const std::lock_guard<std::mutex> lock(mutex);
        const auto found = held.find(pointer);
        if (found == held.end()) return;
        now -= found->second;
        held.erase(found);
    }
};

Account& account() {
    // never destroyed: what a submission frees at its end is told as well
    static Account* const made = new Account;
    return *made;
}

struct Banded {
    char* base = nullptr;
    size_t bytes = 0;

    cudaError_t make(const void* content, size_t count) {
        bytes = count;
        cudaError_t status = cudaMalloc(&base, bytes + 2 * g_guard);
        if (status == cudaSuccess) status = cudaMemset(base, kPattern, bytes + 2 * g_guard);
        return status == cudaSuccess ? cudaMemcpy(at(), content, bytes, cudaMemcpyHostToDevice) : status;
    }
    char* at() const { return base + g_guard; }
    // bytes of the bands that were written to
    long long damage() const {
        std::vector<unsigned char> band(g_guard);
        long long wrong = 0;
        for (char* from : {base, base + g_guard + bytes}) {
            if (cudaMemcpy(band.data(), from, g_guard, cudaMemcpyDeviceToHost) != cudaSuccess) return 0;
            for (unsigned char byte : band) wrong += byte != kPattern;
        }
        return wrong;
    }
    void release() { cudaFree(base); }
};

std::vector<char> whole(const char* name) {
    std::vector<char> data;
    FILE* file = std::fopen(name, "rb");
    if (!file) return data;
    std::fseek(file, 0, SEEK_END);
    data.resize(std::ftell(file));
    std::rewind(file);
    if (std::fread(data.data(), 1, data.size(), file) != data.size()) data.clear();
    std::fclose(file);
    return data;
}

std::string event(const char* kind, const char* severity, const std::string& text) {
    std::string plain;
    for (const unsigned char c : text) plain += c == '"' || c == '\\' ? '\'' : c < 0x20 || c > 0x7e ? '?' : (char)c;
    return std::string("{\"kind\":\"") + kind + "\",\"severity\":\"" + severity + "\",\"text\":\"" + plain + "\"}";
}

// An error that stays, in the emulator's words.
const char* kind_of(cudaError_t error) {
    switch ((int)error) {
        case 700: case 714: case 717: case 718: return "illegal_address";
        case 716: return "misaligned_access";
        case 702: return "out_of_time";
        default: return "trap";
    }
}

// Seconds of a launch and of a copy of the logits on the device, each the best of several, with a cold cache.
std::string timed(const Case& job, const Banded& logits, const Banded& indices, const Banded& probabilities) {
    int device = 0, cache = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device);
    const size_t flushed = 2 * (size_t)cache + (32u << 20);
    char *copy = nullptr, *flush = nullptr;
    cudaEvent_t start = nullptr, stop = nullptr;
    bool fine = cudaMalloc(&copy, logits.bytes) == cudaSuccess && cudaMalloc(&flush, flushed) == cudaSuccess &&
                cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&stop) == cudaSuccess;
    double best[2] = {1e30, 1e30};
    for (int turn = 0; fine && turn < kTurns; ++turn)
        for (int which = 0; fine && which < 2; ++which) {
            // while the device is busy with this, the rest is queued: no gap of the host's is timed
            cudaMemsetAsync(flush, turn, flushed);
            cudaEventRecord(start);
            int code = 0;
            if (which == 0)
                code = judge_launch((const float*)logits.at(), indices.at(), probabilities.at(), job.rows, job.V, (int)job.K);
            else
                cudaMemcpyAsync(copy, logits.at(), logits.bytes, cudaMemcpyDeviceToDevice);
            cudaEventRecord(stop);
            float milliseconds = 0;
            fine = code == 0 && cudaEventSynchronize(stop) == cudaSuccess;
            const auto then = Clock::now();
            fine = fine && cudaDeviceSynchronize() == cudaSuccess;
            const double after = since(then);
            fine = fine && cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess;
            const double seconds = milliseconds * 1e-3 + (after > kLate ? after : 0);
            if (turn >= kWarmUp && seconds < best[which]) best[which] = seconds;
        }
    cudaFree(copy);
    cudaFree(flush);
    if (!fine) return "";
    char text[64];
    std::snprintf(text, sizeof text, "%.9g %.9g", best[0], best[1]);
    return event("timing", "note", text);
}

void run(FILE* report, int number, const Case& job, const std::vector<char>& inputs, std::vector<char>& outputs) {
    g_running.number = number;
    g_running.began = Clock::now();
    const size_t row_bytes = (size_t)job.rows * job.V * 4, count = (size_t)job.rows * job.stride;
    Banded logits, indices, probabilities;
    cudaError_t status = logits.make(inputs.data() + job.logits_at, row_bytes);
    if (status == cudaSuccess) status = indices.make(outputs.data() + job.indices_at, count * job.index_bytes);
    if (status == cudaSuccess)
        status = probabilities.make(outputs.data() + job.probabilities_at, count * job.probability_bytes);
    // a launch on any stream finds the buffers made
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        const size_t held = account().now;
        if (held) std::fprintf(stderr, "no room beside the %zu bytes that launches hold\n", held);
        else std::fprintf(stderr, "no memory on the card: %s\n", cudaGetErrorString(status));
        end(held ? kHeld : kNoRoom);
    }
    std::string events;
    auto add = [&](const std::string& one) { events += (events.empty() || one.empty() ? "" : ",") + one; };
    // what an earlier case left unread is not this one's
    cudaGetLastError();
    account().begin();
    const auto began = Clock::now();
    int code;
    try {
        code = judge_launch((const float*)logits.at(), indices.at(), probabilities.at(), job.rows, job.V, (int)job.K);
    } catch (const std::exception& error) {
        code = kThrew;
        add(event("exception", "note", std::string("the launcher threw: ") + error.what()));
    } catch (...) {
        code = kThrew;
        add(event("exception", "note", "the launcher threw"));
    }
    cudaError_t sticky = cudaDeviceSynchronize();
    const double seconds = since(began);
    const size_t peak = account().stop();
    const cudaError_t unread = cudaGetLastError();
    if (sticky == cudaSuccess && code == 0) code = (int)unread;
    if (sticky == cudaSuccess) {
        std::vector<char> after(row_bytes);
        sticky = cudaMemcpy(outputs.data() + job.indices_at, indices.at(), indices.bytes, cudaMemcpyDeviceToHost);
        if (sticky == cudaSuccess)
            sticky = cudaMemcpy(outputs.data() + job.probabilities_at, probabilities.at(), probabilities.bytes, cudaMemcpyDeviceToHost);
        if (sticky == cudaSuccess) sticky = cudaMemcpy(after.data(), logits.at(), row_bytes, cudaMemcpyDeviceToHost);
        if (sticky == cudaSuccess && std::memcmp(after.data(), inputs.data() + job.logits_at, row_bytes))
            add(event("input_written", "fault", "the logits were changed"));
    }
    if (sticky == cudaSuccess) {
        const char* names[] = {"logits", "indices", "probabilities"};
        const Banded* buffers[] = {&logits, &indices, &probabilities};
        for (int i = 0; i < 3; ++i)
            if (const long long wrong = buffers[i]->damage())
                add(event("out_of_bounds", "fault", std::to_string(wrong) + " bytes beside the " + names[i] + " were written"));
        if (code == 0 && job.schedule < 0) add(timed(job, logits, indices, probabilities));
        logits.release();
        indices.release();
        probabilities.release();
    } else {
        add(event(kind_of(sticky), "fault", cudaGetErrorName(sticky)));
    }
    std::fprintf(report,
                 "{\"case\":%d,\"status\":\"%s\",\"code\":%d,\"device_error\":%d,\"peak_bytes\":%zu,\"seconds\":%.9f,\"events\":[%s]}\n",
                 number, sticky != cudaSuccess ? "failed" : code ? "refused" : "done", code, (int)sticky, peak, seconds,
                 events.c_str());
    std::fflush(report);
    // a spoiled context judges nothing else
    if (sticky != cudaSuccess) end(kSpoiled);
}

}  // namespace

// Linked in front of the runtime's own (--wrap): what launches allocate and free is counted.
extern "C" {
cudaError_t __real_cudaMalloc(void** pointer, size_t bytes);
cudaError_t __real_cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
cudaError_t __real_cudaMallocManaged(void** pointer, size_t bytes, unsigned flags);
cudaError_t __real_cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t __real_cudaFree(void* pointer);
cudaError_t __real_cudaFreeAsync(void* pointer, cudaStream_t stream);

cudaError_t __wrap_cudaMalloc(void** pointer, size_t bytes) {
    return account().made(__real_cudaMalloc(pointer, bytes), pointer, bytes);
}
cudaError_t __wrap_cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
    return account().made(__real_cudaMallocAsync(pointer, bytes, stream), pointer, bytes);
}
cudaError_t __wrap_cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
    return account().made(__real_cudaMallocManaged(pointer, bytes, flags), pointer, bytes);
}
cudaError_t __wrap_cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    const cudaError_t status = __real_cudaMallocPitch(pointer, pitch, width, height);
    return account().made(status, pointer, status == cudaSuccess ? *pitch * height : 0);
}
cudaError_t __wrap_cudaFree(void* pointer) {
    account().freed(pointer);
    return __real_cudaFree(pointer);
}
cudaError_t __wrap_cudaFreeAsync(void* pointer, cudaStream_t stream) {
    account().freed(pointer);
    return __real_cudaFreeAsync(pointer, stream);
}
}

int main() {
    const std::vector<char> inputs = whole("judge.inputs");
    std::vector<char> outputs = whole("judge.outputs");
    FILE* jobs = std::fopen("judge.job", "r");
    FILE* report = std::fopen("judge.report", "w");
    double seconds = 0;
    int watched = 0;
    if (!jobs || !report || std::fscanf(jobs, "%lf %d", &seconds, &watched) != 2) return 2;
    // who watches every access is told the bounds by the allocations themselves
    if (watched) g_guard = 0;
    g_running.report = fileno(report);
    end_after(seconds);
    Case job;
    for (int number = 0; std::fscanf(jobs, "%lld %lld %lld %lld %lld %lld %lld %lld %lld %lld", &job.rows, &job.V, &job.K,
                                     &job.index_bytes, &job.probability_bytes, &job.stride, &job.schedule, &job.logits_at,
                                     &job.indices_at, &job.probabilities_at) == 10;
         ++number) {
        run(report, number, job, inputs, outputs);
        FILE* file = std::fopen("judge.outputs", "wb");
        if (!file || std::fwrite(outputs.data(), 1, outputs.size(), file) != outputs.size()) return 2;
        std::fclose(file);
    }
    return 0;
}
