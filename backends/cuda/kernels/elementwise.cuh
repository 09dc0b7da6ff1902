// The loops of pointwise operators. elementwise.cpp writes an operator's Op at run time. Op has the types Out, In0, In1
// and In2 of the operands in memory, Nothing for an operand that is not in memory, and computes one element.
#ifndef LAMELLA_CUDA_ELEMENTWISE
#define LAMELLA_CUDA_ELEMENTWISE
#include "elementwise.h"
#include "layout.cuh"

struct Nothing {};  // an operand that is absent, or a number that the Op holds

template <class T, int N>
DEVICE Pack<T, N> load(const char* data, int64_t i, bool moves) {
  if (moves) return reinterpret_cast<const Pack<T, N>*>(data)[i];
  Pack<T, N> all;
  const T one = *reinterpret_cast<const T*>(data);
#pragma unroll
  for (int v = 0; v < N; v++) all.v[v] = one;
  return all;
}
template <class T, int N>
struct Loader {
  static DEVICE Pack<T, N> get(const char* data, int64_t i, bool moves) { return load<T, N>(data, i, moves); }
};
template <int N>
struct Loader<Nothing, N> {
  struct Empty {
    Nothing v[N];
  };
  static DEVICE Empty get(const char*, int64_t, bool) { return Empty(); }
};
template <class T>
DEVICE T element(const char* at) {
  if constexpr (Same<T, Nothing>::value)
    return T();
  else
    return *reinterpret_cast<const T*>(at);
}

template <class Op, int N>
DEVICE void step(const Op& op, const Pointers& p, int64_t i, int moving, Fault* fault) {
  const auto a = Loader<typename Op::In0, N>::get(p.data[1], i, moving & 1);
  const auto b = Loader<typename Op::In1, N>::get(p.data[2], i, moving & 2);
  const auto c = Loader<typename Op::In2, N>::get(p.data[3], i, moving & 4);
  Pack<typename Op::Out, N> out;
#pragma unroll
  for (int v = 0; v < N; v++) out.v[v] = op(a.v[v], b.v[v], c.v[v], fault);
  reinterpret_cast<Pack<typename Op::Out, N>*>(p.data[0])[i] = out;
}

// flat() takes operands without gaps, in one order. An input without a bit in `moving` is a single element.
template <class Op>
__global__ void flat(Op op, Pointers p, int64_t n, int moving, int packed, Fault* fault) {
  const int width = Op::width;
  const int64_t packs = packed ? n / width : 0;
  for (int64_t i = thread_index(); i < packs; i += grid_threads()) step<Op, width>(op, p, i, moving, fault);
  for (int64_t i = packs * width + thread_index(); i < n; i += grid_threads()) step<Op, 1>(op, p, i, moving, fault);
}

// strided() takes operands with any steps. Index is uint32_t for fewer than 2^31 elements, else uint64_t.
template <class Op, class Index>
__global__ void strided(Op op, Pointers p, Layout l, int64_t n, Fault* fault) {
  for (int64_t i = thread_index(); i < n; i += grid_threads()) {
    int64_t at[layout_operands];
    offsets_of<Op::operands>(l, static_cast<Index>(i), at);
    *reinterpret_cast<typename Op::Out*>(p.data[0] + at[0]) =
        op(element<typename Op::In0>(p.data[1] + (Op::operands > 1 ? at[1] : 0)),
           element<typename Op::In1>(p.data[2] + (Op::operands > 2 ? at[2] : 0)),
           element<typename Op::In2>(p.data[3] + (Op::operands > 3 ? at[3] : 0)), fault);
  }
}
#endif
