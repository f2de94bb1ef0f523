// /proc shows a process its own memory through every wall, so nothing below it is opened any more. What else may be opened is for the
// jail to say; the kernel takes the stricter of both. A kernel without Landlock leaves /proc to the jail.
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace emu {
namespace {

constexpr int CREATE = 444, ADD = 445, RESTRICT = 446, BENEATH = 1;
constexpr uint64_t WRITE_FILE = 1 << 1, READ_FILE = 1 << 2;
const char* const kept[] = {".",    "/tmp", "/usr", "/lib", "/lib64", "/lib32", "/bin",      "/etc",  "/dev",   "/opt",  "/var", "/run",
                            "/nix", "/gnu", "/home", "/root", "/srv",   "/mnt",   "/submission", "/site", "/judge", "/data"};

struct __attribute__((packed)) Beneath {
    uint64_t allowed;
    int32_t parent;
};

}  // namespace

void forget_proc() {
    uint64_t handled = READ_FILE | WRITE_FILE;
    int rules = int(syscall(CREATE, &handled, sizeof handled, 0));
    if (rules < 0) return;
    for (const char* path : kept) {
        int place = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (place < 0) continue;
        Beneath rule = {handled, place};
        syscall(ADD, rules, BENEATH, &rule, 0);
        close(place);
    }
    syscall(RESTRICT, rules, 0);
    close(rules);
}

}  // namespace emu
