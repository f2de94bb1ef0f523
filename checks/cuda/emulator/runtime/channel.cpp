#include "channel.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sha256.h"
#include "state.h"
#include "threads.h"
#include "walls.h"

namespace emu {

void forget_proc();

namespace {

constexpr size_t KEY = 32;

struct File {
    const char* name;
    bool goes_back;
    int fd;
    size_t bytes;
    char* at;
} job = {"judge.job"}, given = {"judge.inputs"}, answers = {"judge.outputs", true}, key = {"judge.key"};
File* const files[] = {&job, &given, &answers, &key};
size_t read_so_far = 0;
int report_fd = 0, first = 0;
double seconds = 0;
bool whole_job = false;

// A page more than the file has, so that an empty one has an address and a text ends in a zero.
size_t room(const File& file) { return (file.bytes / 4096 + 1) * 4096; }

void opened(File& file) {
    struct stat about;
    file.fd = open(file.name, (file.goes_back ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
    if (file.fd >= 0 && !fstat(file.fd, &about) && S_ISREG(about.st_mode)) file.bytes = size_t(about.st_size);
}

// Maps a file and, unless it goes back, removes its name: nobody else opens it.
void taken(File& file, char* at) {
    int how = MAP_FIXED | (file.goes_back ? MAP_SHARED : MAP_PRIVATE);
    if (file.fd < 0) return;
    if (!file.bytes || mmap(at, file.bytes, PROT_READ | PROT_WRITE, how, file.fd, 0) != MAP_FAILED) file.at = at;
    close(file.fd);
    if (!file.goes_back) unlink(file.name);
}

// All of them side by side, behind one wall.
void take_files() {
    size_t total = 0;
    for (File* file : files) opened(*file), total += room(*file);
    char* at = (char*)mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    enclose(Wall::CHANNEL, at, total);
    for (File* file : files) taken(*file, at), at += room(*file);
}

// The next number of the job, wherever the last one ended.
template <class T, class Parse> bool number(T& value, Parse parse) {
    if (read_so_far >= job.bytes) return false;
    char* end;
    value = parse(job.at + read_so_far, &end);
    bool fine = end != job.at + read_so_far;
    read_so_far = size_t(end - job.at);
    return fine;
}

bool whole(long long& value) {
    return number(value, [](const char* at, char** end) { return strtoll(at, end, 10); });
}

// The loader calls this before any constructor, the submission's or a library's.
void take(int, char**, char**) {
    take_files();
    long long start = 0;
    whole_job = job.at && given.at && answers.at && key.bytes == KEY && number(seconds, strtod) && whole(start);
    first = int(start);
    make_arena();
    find_shared();
    find_threads();
    forget_proc();
    raise_walls();
}

__attribute__((section(".preinit_array"), used)) void (*const before_all)(int, char**, char**) = take;

}  // namespace

bool took_all() { return whole_job; }
double seconds_given() { return seconds; }
int first_number() { return first; }

bool next_case(Case& next) {
    long long Case::*const fields[] = {&Case::rows, &Case::vocabulary, &Case::k, &Case::index_bytes, &Case::probability_bytes, &Case::stride,
                                       &Case::schedule, &Case::logits_at, &Case::indices_at, &Case::probabilities_at};
    for (auto field : fields)
        if (!whole(next.*field)) return false;
    return true;
}

const char* inputs(long long offset, size_t bytes) { return offset >= 0 && size_t(offset) + bytes <= given.bytes ? given.at + offset : nullptr; }
char* outputs(long long offset, size_t bytes) { return offset >= 0 && size_t(offset) + bytes <= answers.bytes ? answers.at + offset : nullptr; }

bool open_report() {
    report_fd = open("judge.report", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    return report_fd >= 0;
}

void write_signed(const char* line, size_t bytes) {
    static char all[192 << 10];
    if (bytes + 2 * Sha256::BYTES + 3 > sizeof all) _exit(3);
    hmac((const unsigned char*)key.at, key.bytes, line, bytes, all);
    size_t n = 2 * Sha256::BYTES;
    all[n++] = ' ';
    memcpy(all + n, line, bytes);
    n += bytes;
    all[n++] = '\n';
    if (write(report_fd, all, n) != ssize_t(n)) _exit(3);
}

}  // namespace emu
