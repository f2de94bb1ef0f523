#include "threads.h"
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "state.h"

namespace emu {
namespace {

constexpr int HOLD = 62, MOST = 512, TRIES = 20000;

// What held threads write to stands outside of the walls.
#define OUTSIDE __attribute__((section("emu_gate")))
OUTSIDE int turn = 0;     // who is inside; others wait
OUTSIDE int holding = 0;  // odd while threads are held
OUTSIDE int held = 0;

int listing = -1;
ino_t known_file = 0;
dev_t known_device = 0;

void wait_while(int* word, int value) { syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0); }
void wake(int* word, int most) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0); }

void stand_still(int) {
    int saved = errno;
    for (int now = __atomic_load_n(&holding, 5); now & 1; now = __atomic_load_n(&holding, 5)) {
        __atomic_add_fetch(&held, 1, 5);
        while (__atomic_load_n(&holding, 5) == now) wait_while(&holding, now);
    }
    errno = saved;
}

struct Entry {
    uint64_t inode, offset;
    unsigned short length;
    unsigned char type;
    char name[1];
};

// The other threads; -1 where they cannot be listed.
int others(int* found) {
    struct stat now;
    if (listing < 0 && __libc_single_threaded) return 0;
    if (listing < 0 || fstat(listing, &now) || now.st_ino != known_file || now.st_dev != known_device || lseek(listing, 0, SEEK_SET)) return -1;
    int own = int(syscall(SYS_gettid)), n = 0;
    alignas(8) char buffer[2048];
    for (long got; (got = syscall(SYS_getdents64, listing, buffer, sizeof buffer)) > 0;)
        for (long at = 0; at < got; at += ((Entry*)(buffer + at))->length) {
            int thread = atoi(((Entry*)(buffer + at))->name);
            if (thread > 0 && thread != own && n < MOST) found[n++] = thread;
        }
    return n;
}

[[noreturn]] void not_held() {
    static const char told[] = "a thread of the host could not be held while the device is at work\n";
    if (write(2, told, sizeof told - 1) < 0) _exit(4);
    _exit(4);
}

}  // namespace

void find_threads() {
    listing = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat now;
    if (listing >= 0 && !fstat(listing, &now)) known_file = now.st_ino, known_device = now.st_dev;
    struct sigaction action = {};
    action.sa_handler = stand_still;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    sigaction(HOLD, &action, nullptr);
}

void hold_threads() {
    for (int free = 0; !__atomic_compare_exchange_n(&turn, &free, 1, false, 5, 5); free = 0) wait_while(&turn, 1);
    int threads[MOST];
    int n = others(threads);
    if (n < 0) not_held();
    if (!n) return;
    __atomic_store_n(&held, 0, 5);
    __atomic_add_fetch(&holding, 1, 5);
    // whoever is made meanwhile is made by one that is not held yet
    int asked[MOST], so_far = 0;
    for (int tries = 0; tries < TRIES; tries++) {
        for (int i = 0; i < n; i++) {
            bool known = false;
            for (int j = 0; j < so_far && !known; j++) known = asked[j] == threads[i];
            if (!known && so_far < MOST && !syscall(SYS_tgkill, getpid(), threads[i], HOLD)) asked[so_far++] = threads[i];
        }
        int waiting = 0;
        n = others(threads);
        for (int j = 0; j < so_far; j++)
            for (int i = 0; i < n; i++) waiting += threads[i] == asked[j];
        if (waiting == n && __atomic_load_n(&held, 5) >= waiting) return;
        timespec pause = {0, 50000};
        if (tries > 20) nanosleep(&pause, nullptr);
    }
    not_held();
}

void release_threads() {
    if (__atomic_load_n(&holding, 5) & 1) {
        __atomic_add_fetch(&holding, 1, 5);
        wake(&holding, INT_MAX);
    }
    __atomic_store_n(&turn, 0, 5);
    wake(&turn, INT_MAX);
}

}  // namespace emu
