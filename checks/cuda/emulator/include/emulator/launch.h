// k<<<grid, block, shared, stream>>>(arguments) becomes emu::launched([=](auto... a) { k(a...); }, emu::Shape(…), arguments).
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>
#include "vectors.h"

struct CUstream_st;
using cudaStream_t = CUstream_st*;

namespace emu {

struct Shape : Launch {
    Site site;
    Shape(dim3 grid_, dim3 block_, size_t shared_ = 0, cudaStream_t stream_ = nullptr, Site site_ = here())
        : Launch{{grid_.x, grid_.y, grid_.z}, {block_.x, block_.y, block_.z}, shared_, stream_, false}, site(site_) {}
};

// NULL and literal zeros for pointers, which a copy of their value would not convert to.
struct Null {
    template <class T> operator T*() const { return nullptr; }
    operator int() const { return 0; }
};

// One object holds all that a thread reads of the host's: the runtime knows its extent.
template <class Kernel, class Held> struct Closure {
    Kernel kernel;
    Held held;
};

template <class Kernel, class... Arguments> inline int launched(Kernel kernel, const Shape& shape, Arguments&&... arguments) {
    auto held = std::make_tuple(std::forward<Arguments>(arguments)...);
    using Its = Closure<Kernel, decltype(held)>;
    Its closure{kernel, held};
    return emu_launch(
        &shape,
        [](const void* opaque) {
            const Its& its = *static_cast<const Its*>(opaque);
            std::apply([&](const auto&... a) { its.kernel(a...); }, its.held);
        },
        &closure, sizeof closure, shape.site);
}

template <class... Parameters, class... Arguments>
inline int launched_by_pointer(const Shape& shape, void (*kernel)(Parameters...), Arguments&&... arguments) {
    return launched([kernel](auto... a) { kernel(a...); }, shape, Parameters(std::forward<Arguments>(arguments))...);
}

// cudaLaunchKernel's array of addresses, one per parameter.
template <class... Parameters, size_t... I>
inline int launched_from(const Shape& shape, void (*kernel)(Parameters...), void** arguments, std::index_sequence<I...>) {
    return launched([kernel](auto... a) { kernel(a...); }, shape, Parameters(*static_cast<std::decay_t<Parameters>*>(arguments[I]))...);
}

}  // namespace emu
