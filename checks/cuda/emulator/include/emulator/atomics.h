// Atomics on shared and global memory.
#pragma once
#include <type_traits>
#include "warp.h"

namespace emu {

template <class T> struct Same { using type = T; };
template <class T> struct Whole {
    static_assert(std::is_integral<T>::value, "CUDA has this atomic for integers alone");
    using type = T;
};

template <class T, class F> inline T atomically(T* p, Site site, F next) {
    emu_access((const void*)p, sizeof(T), READ | WRITE | ATOMIC, site);
    T old = load(p);
    store(p, next(old));
    return old;
}

}  // namespace emu

#define EMU_ATOMIC_OF(name, expression, Operand)                                                       \
    template <class T> inline T name(T* p, typename emu::Operand<T>::type v, emu::Site site = emu::here()) { \
        return emu::atomically(p, site, [v](T old) -> T { return expression; });                       \
    }                                                                                                  \
    template <class T> inline T name##_block(T* p, typename emu::Operand<T>::type v, emu::Site site = emu::here()) { \
        return name(p, v, site);                                                                       \
    }                                                                                                  \
    template <class T> inline T name##_system(T* p, typename emu::Operand<T>::type v, emu::Site site = emu::here()) { \
        return name(p, v, site);                                                                       \
    }

EMU_ATOMIC_OF(atomicAdd, T(old + v), Same)
EMU_ATOMIC_OF(atomicSub, T(old - v), Same)
EMU_ATOMIC_OF(atomicExch, v, Same)
EMU_ATOMIC_OF(atomicMin, v < old ? v : old, Whole)
EMU_ATOMIC_OF(atomicMax, old < v ? v : old, Whole)
EMU_ATOMIC_OF(atomicAnd, T(old & v), Whole)
EMU_ATOMIC_OF(atomicOr, T(old | v), Whole)
EMU_ATOMIC_OF(atomicXor, T(old ^ v), Whole)
EMU_ATOMIC_OF(atomicInc, old >= v ? T(0) : T(old + 1), Whole)
EMU_ATOMIC_OF(atomicDec, old == 0 || old > v ? v : T(old - 1), Whole)
#undef EMU_ATOMIC_OF

template <class T>
inline T atomicCAS(T* p, typename emu::Same<T>::type expected, typename emu::Same<T>::type desired, emu::Site site = emu::here()) {
    return emu::atomically(p, site, [=](T old) -> T { return emu::bits(old) == emu::bits(T(expected)) ? T(desired) : old; });
}
template <class T>
inline T atomicCAS_block(T* p, typename emu::Same<T>::type expected, typename emu::Same<T>::type desired, emu::Site site = emu::here()) {
    return atomicCAS(p, expected, desired, site);
}
