// Operators as cub and libcu++ name them.
#pragma once
#include <functional>
#include "cuda.h"

namespace cub {
struct Sum { template <class T> T operator()(const T& a, const T& b) const { return a + b; } };
struct Max { template <class T> T operator()(const T& a, const T& b) const { return a < b ? b : a; } };
struct Min { template <class T> T operator()(const T& a, const T& b) const { return b < a ? b : a; } };
template <class K, class V> struct KeyValuePair {
    using Key = K;
    using Value = V;
    K key;
    V value;
    KeyValuePair() = default;
    KeyValuePair(const K& k, const V& v) : key(k), value(v) {}
};
struct ArgMax {
    template <class K, class V> KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class K, class V> KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
}  // namespace cub

namespace cuda {
template <class T = void> struct maximum { template <class U> U operator()(const U& a, const U& b) const { return a < b ? b : a; } };
template <class T = void> struct minimum { template <class U> U operator()(const U& a, const U& b) const { return b < a ? b : a; } };
namespace std {
using namespace ::std;
}
}  // namespace cuda
