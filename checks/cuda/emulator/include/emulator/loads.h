// Loads and stores with a cache hint.
#pragma once
#include "qualifiers.h"

#define EMU_LOAD(name, access)                                                  \
    template <class T> inline T name(const T* p, emu::Site site = emu::here()) { \
        emu_access((const void*)p, sizeof(T), access, site);                    \
        return emu::load(p);                                                    \
    }
EMU_LOAD(__ldg, emu::READ)
EMU_LOAD(__ldca, emu::READ)
EMU_LOAD(__ldcg, emu::READ)
EMU_LOAD(__ldcs, emu::READ)
EMU_LOAD(__ldlu, emu::READ)
EMU_LOAD(__ldcv, emu::READ | emu::ATOMIC)
#undef EMU_LOAD
#define EMU_STORE(name)                                                                                        \
    template <class T> inline void name(T* p, typename emu::Same<T>::type value, emu::Site site = emu::here()) { \
        emu_access((const void*)p, sizeof(T), emu::WRITE, site);                                               \
        emu::store(p, T(value));                                                                               \
    }
EMU_STORE(__stwb)
EMU_STORE(__stcg)
EMU_STORE(__stcs)
EMU_STORE(__stwt)
#undef EMU_STORE

inline size_t __cvta_generic_to_shared(const void* p) { return emu_shared_offset(p); }
inline void* __cvta_shared_to_generic(size_t offset) { return emu_shared_address(offset); }
inline size_t __cvta_generic_to_global(const void* p) { return size_t(p); }
inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeroed = 0, emu::Site site = emu::here()) {
    emu_copy_late(to, from, bytes, zeroed, site);
}
inline void __pipeline_commit() { emu_copies_commit(); }
inline void __pipeline_wait_prior(size_t open) { emu_copies_wait(unsigned(open)); }
