// Shared memory's shadow: which bytes belong to a variable, which were written since the block began, and who touched them last.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "clocks.h"
#include "state.h"
#include "threads.h"

namespace emu {
namespace {

constexpr size_t DYNAMIC = 232448, GUARD = 4096;
constexpr uint8_t VALID = 1, WRITTEN = 2, SPLIT = 4, GUARDS = 8, IN_FLIGHT = 16;
constexpr int READERS = 4;
constexpr size_t MOST_ALIGNED = 1024;

struct Cell {
    Touch writer, readers[READERS];
};

struct Region {
    uintptr_t low;
    size_t bytes;
    uint8_t *fresh, *state;  // the state that a block begins with; the state now
    Cell* cells;
};

struct Variable {
    size_t offset, bytes;
    char name[64];
};

Region fixed, dynamic;
uintptr_t before_pointer = 0;  // how far the thread's own storage stands before its pointer
Variable variables[2048];
int variable_count = 0;
size_t guards[2048];
int guard_count = 0;

// A thread's write where another has written: done by its second access after it, for the first may read what it writes.
struct Pending {
    uintptr_t address;
    size_t bytes;
    Where where, other;
    unsigned by;
    char old[16], name[96];
    int left;
};
Pending pending[MOST_THREADS];

void* reserve(size_t bytes) {
    void* memory = mmap(nullptr, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

void make_region(Region& region, uintptr_t low, size_t bytes) {
    region.low = low;
    region.bytes = bytes;
    region.fresh = (uint8_t*)reserve(bytes);
    region.state = (uint8_t*)reserve(bytes);
    region.cells = (Cell*)reserve(bytes * sizeof(Cell));
}

int first_object(dl_phdr_info* info, size_t, void*) {
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data)
            make_region(fixed, uintptr_t(info->dlpi_tls_data), info->dlpi_phdr[i].p_memsz);
    return 1;
}

void name_variable(const char* symbol, size_t offset, size_t bytes) {
    if (offset + bytes > fixed.bytes || variable_count == 2048) return;
    // C++ guards the initialization of such variables; CUDA has none, so it counts as done
    if (!strncmp(symbol, "_ZGV", 4)) {
        if (guard_count == 2048) return;
        guards[guard_count++] = offset;
        memset(fixed.fresh + offset, VALID | GUARDS, bytes);
        return;
    }
    memset(fixed.fresh + offset, VALID, bytes);
    Variable& variable = variables[variable_count++];
    variable.offset = offset;
    variable.bytes = bytes;
    int status;
    char* readable = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    const char* name = readable && status == 0 ? readable : symbol;
    for (const char* p = name; (p = strstr(p, "::"));) name = p += 2;
    snprintf(variable.name, sizeof variable.name, "%s", name);
    free(readable);
}

// The program's own symbol table tells where each shared variable lies and how long it is.
void read_symbols() {
    int fd = open("program", O_RDONLY);
    struct stat about;
    if (fd < 0 || fstat(fd, &about)) return;
    char* file = (char*)mmap(nullptr, size_t(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED) return;
    const Elf64_Ehdr* head = (const Elf64_Ehdr*)file;
    const Elf64_Shdr* sections = (const Elf64_Shdr*)(file + head->e_shoff);
    for (int s = 0; s < head->e_shnum; s++) {
        if (sections[s].sh_type != SHT_SYMTAB) continue;
        const Elf64_Sym* symbols = (const Elf64_Sym*)(file + sections[s].sh_offset);
        const char* names = file + sections[sections[s].sh_link].sh_offset;
        for (size_t i = 0; i < sections[s].sh_size / sizeof(Elf64_Sym); i++)
            if (ELF64_ST_TYPE(symbols[i].st_info) == STT_TLS && symbols[i].st_shndx != SHN_UNDEF)
                name_variable(names + symbols[i].st_name, symbols[i].st_value, symbols[i].st_size);
    }
    munmap(file, size_t(about.st_size));
}

void describe(uintptr_t address, char* text, size_t room) {
    if (address - dynamic.low < dynamic.bytes) {
        snprintf(text, room, "dynamic shared memory at byte %zd", ssize_t(address - dynamic.low - GUARD));
        return;
    }
    const Variable* best = nullptr;
    for (int i = 0; i < variable_count; i++)
        if (fixed.low + variables[i].offset <= address && (!best || variables[i].offset > best->offset)) best = &variables[i];
    if (!best) snprintf(text, room, "shared memory");
    else snprintf(text, room, "shared %.40s at byte %zu", best->name, size_t(address - fixed.low - best->offset));
}

void conflict(const Touch& earlier, Order how, uintptr_t address, size_t bytes, bool was_write, unsigned access, Where where) {
    unsigned t = machine.current->tid;
    char name[96];
    describe(address, name, sizeof name);
    const char* then = was_write ? "written" : "read";
    const char* now = access & WRITE ? "writes" : "reads";
    if (how == WEAKLY) {
        report("weak_order", HAZARD, where, earlier.where,
               "thread %u %s %s, %s by thread %u: only a shuffle or vote stands between, which orders no memory", t, now, name, then, earlier.tid);
    } else if (was_write && (access & WRITE) && !(access & ATOMIC) && bytes <= 16) {
        Pending& its = pending[t];
        if (its.left && its.where == where) return;
        its = {address, bytes, where, earlier.where, earlier.tid, {0}, {0}, 2};
        memcpy(its.old, (const void*)address, bytes);
        memcpy(its.name, name, sizeof name);
    } else {
        report("race", FAULT, where, earlier.where, "thread %u %s %s, %s by thread %u with no barrier between", t, now, name, then, earlier.tid);
    }
}

void touch(Cell& cell, uintptr_t address, size_t bytes, unsigned access, Where where) {
    unsigned t = machine.current->tid;
    bool atomic = access & ATOMIC;
    Touch now{epoch, strong[t][t], uint16_t(t), atomic, where};
    if (Order how = order(cell.writer, t, atomic)) conflict(cell.writer, how, address, bytes, true, access, where);
    if (access & WRITE) {
        for (Touch& reader : cell.readers)
            if (Order how = order(reader, t, atomic)) conflict(reader, how, address, bytes, false, access, where);
        cell.writer = now;
    }
    if (!(access & READ)) return;
    int place = -1;
    for (int i = 0; i < READERS && place < 0; i++)
        if (cell.readers[i].epoch != epoch || cell.readers[i].tid == t) place = i;
    for (int i = 0; i < READERS && place < 0; i++)
        if (order(cell.readers[i], t, false) == ORDERED) place = i;
    if (place < 0) place = int((address / 4 + t) % READERS);
    cell.readers[place] = now;
}

void split(Region& region, size_t word) {
    region.state[word] |= SPLIT;
    for (size_t i = 1; i < 4 && word + i < region.bytes; i++) region.cells[word + i] = region.cells[word];
}

// Where the dynamic part follows the static one, both aligned as they are in memory.
size_t dynamic_offset() { return (fixed.bytes + MOST_ALIGNED - 1) / MOST_ALIGNED * MOST_ALIGNED; }

}  // namespace

extern "C" {
alignas(1024) unsigned char emu_dynamic_pool[GUARD + DYNAMIC + GUARD];
}
__asm__(".globl emu_dynamic\n.set emu_dynamic, emu_dynamic_pool + 4096\n");

// Shared memory as PTX counts it: the static part, then the dynamic one.
extern "C" size_t emu_shared_offset(const void* p) {
    uintptr_t address = uintptr_t(p);
    if (address - fixed.low < fixed.bytes) return MOST_ALIGNED + (address - fixed.low);
    return address - dynamic.low < dynamic.bytes ? MOST_ALIGNED + dynamic_offset() + (address - dynamic.low) : address;
}

extern "C" void* emu_shared_address(size_t offset) {
    if (offset - MOST_ALIGNED < fixed.bytes) return (void*)(fixed.low + offset - MOST_ALIGNED);
    return (void*)(dynamic.low + offset - MOST_ALIGNED - dynamic_offset());
}

void find_shared() {
    dl_iterate_phdr(first_object, nullptr);
    make_region(dynamic, uintptr_t(emu_dynamic_pool), sizeof emu_dynamic_pool);
    before_pointer = uintptr_t(this_thread()) - fixed.low;
    if (fixed.bytes) read_symbols();
}

void follow_thread() {
    if (fixed.bytes) fixed.low = uintptr_t(this_thread()) - before_pointer;
}

bool in_shared(uintptr_t address) { return address - fixed.low < fixed.bytes || address - dynamic.low < dynamic.bytes; }

void begin_block_memory() {
    size_t used = std::min(DYNAMIC, machine.launch->shared);
    memcpy(fixed.state, fixed.fresh, fixed.bytes);
    memset(dynamic.state + GUARD, VALID, used);
    memset(dynamic.state + GUARD + used, 0, DYNAMIC - used);
    for (size_t i = 0; i + 4 <= fixed.bytes; i += 4) *(uint32_t*)(fixed.low + i) = POISON;
    for (int i = 0; i < guard_count; i++) *(uint8_t*)(fixed.low + guards[i]) = 1;
    for (size_t i = 0; i < GUARD + used + GUARD; i += 4) *(uint32_t*)(dynamic.low + i) = POISON;
    for (unsigned t = 0; t < machine.threads; t++) pending[t].left = 0;
    begin_copies();
    begin_epoch();
}

void mark_in_flight(uintptr_t address, size_t bytes, bool in_flight) {
    Region& region = address - fixed.low < fixed.bytes ? fixed : dynamic;
    for (size_t i = address - region.low, end = std::min(i + bytes, region.bytes); i < end; i++)
        region.state[i] = in_flight ? region.state[i] | IN_FLIGHT : region.state[i] & ~IN_FLIGHT;
}

void settle_writes(bool all) {
    unsigned t = machine.current->tid;
    Pending& its = pending[t];
    if (!its.left) return;
    its.left = all ? 0 : its.left - 1;
    if (its.left) return;
    if (!memcmp(its.old, (const void*)its.address, its.bytes))
        report("benign_race", HAZARD, its.where, its.other, "threads %u and %u write the same value to %s with no barrier between", its.by, t, its.name);
    else
        report("race", FAULT, its.where, its.other, "threads %u and %u write different values to %s with no barrier between", its.by, t, its.name);
}

void shared_access(uintptr_t address, size_t bytes, unsigned access, Where where) {
    Region& region = address - fixed.low < fixed.bytes ? fixed : dynamic;
    size_t offset = address - region.low;
    if (offset < region.bytes && (region.state[offset] & GUARDS)) return;
    unsigned t = machine.current->tid;
    know(t);
    char name[96];
    uint8_t written = 0, late = 0;
    for (size_t i = offset; i < offset + bytes; i++) {
        if (i >= region.bytes || !(region.state[i] & VALID)) {
            describe(address, name, sizeof name);
            report("out_of_bounds", FAULT, where, 0, "a %s of %zu bytes outside %s", access & WRITE ? "write" : "read", bytes, name);
            return;
        }
        written |= region.state[i] & WRITTEN;
        late |= region.state[i] & IN_FLIGHT;
    }
    if (late) {
        describe(address, name, sizeof name);
        report("unfinished_copy", FAULT, where, copied_by(address), "thread %u %s %s, where an asynchronous copy has not been waited for", t,
               access & WRITE ? "writes" : "reads", name);
    }
    // A copy of a struct reads its padding too, so what was written in part counts as written.
    if ((access & READ) && !written) {
        describe(address, name, sizeof name);
        report("uninitialized_read", FAULT, where, 0, "thread %u reads %s, which nobody has written", t, name);
    }
    if (access & WRITE)
        for (size_t i = offset; i < offset + bytes; i++) region.state[i] |= WRITTEN;
    if (access & ATOMIC) atomic_order(address);
    for (size_t i = offset; i < offset + bytes;) {
        size_t word = i & ~size_t(3), left = offset + bytes - i;
        bool whole = i == word && left >= 4;
        if (!whole && !(region.state[word] & SPLIT)) split(region, word);
        size_t step = whole && !(region.state[word] & SPLIT) ? 4 : 1;
        touch(region.cells[i], region.low + i, std::min(step, left), access, where);
        i += step;
    }
    if (access & ATOMIC) published();
}

}  // namespace emu
