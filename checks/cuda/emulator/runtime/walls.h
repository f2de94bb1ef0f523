// Who may touch what. While host code runs, device memory cannot be reached, the runtime's own state can only be
// read, and the channel of the answers is closed; what the runtime does in between opens what it needs.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emu {

enum class Wall { STATE, DEVICE, CHANNEL };

// A stretch of whole pages that a wall stands round.
void enclose(Wall wall, void* memory, size_t bytes);
// The walls stand: from here on host code may run.
void raise_walls();
void lower_walls();

// The runtime at work for host code: its state may be written, and every other thread is held.
class Inside {
public:
    Inside();
    ~Inside();
    Inside(const Inside&) = delete;

private:
    bool outermost;
};

// Device memory in reach, for kernels and copies.
class DeviceOpen {
public:
    DeviceOpen();
    ~DeviceOpen();
    DeviceOpen(const DeviceOpen&) = delete;

private:
    Inside inside;
    bool outermost;
};

bool within(Wall wall, uintptr_t address, size_t bytes);
// Whether this thread is inside; a signal that it is not waits for who is.
bool entered();
}  // namespace emu
