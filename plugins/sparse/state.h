// A sparse tensor: an opaque tensor over the memory of its values, whose state holds indices and values.
//
// Note [Sparse states]  A COO tensor has `outer`, the indices: int64, a column for each entry. Entries may share a
//   place; the element there is their sum. A compressed tensor (CSR, CSC) has `outer`, the row (column) pointers, and
//   `inner`, the column (row) indices, both int64 or both int32; with further dimensions in front they are a batch.
//   Dimensions of `values` after that of the entries are dense. The three tensors are contiguous and have no history;
//   autograd sees the values only through the operators of boundary.cpp.
// Note [Trust]  Indices are checked when a tensor is made or loaded, but the program can write them later, since they
//   may be memory that it shares. Kernels therefore check each index that they follow.
#pragma once

#include <lamella/extension.h>

#include <memory>

namespace lamella::sparse {

inline constexpr const char* layer_name = "sparse";
inline int32_t layer_bit = -1;

// The numbers are those of lamella.layout.
enum Kind : int64_t { strided = 0, coo = 1, csr = 2, csc = 3, bsr = 4, bsc = 5 };
const char* kind_name(int64_t kind);  // "sparse_coo", ...

struct State {
  Kind kind = coo;
  Tensor outer, inner, values;
  bool coalesced = false;

  bool compressed() const { return kind != coo; }
  int64_t batch() const { return compressed() ? outer.dim() - 1 : 0; }
  int64_t nnz() const { return compressed() ? inner.size(-1) : values.size(0); }
  int64_t sparse_dim() const { return compressed() ? 2 : outer.size(0); }
  int64_t dense_dim() const { return values.dim() - 1 - batch(); }
};

// The content of the slot. A tensor and its detached aliases share one state, so that a write in place changes all.
struct Held {
  std::shared_ptr<State> state;

  std::optional<Held> carry(const Tensor& from, const Tensor& to, int32_t how) const;
  OwnedValue save(const Tensor& of) const;
  static std::optional<Held> load(const Tensor& to, const lamella_value& saved);
};
inline Slot<Held> slot;

inline const State* state_of(const lamella_tensor* t) {
  const Held* held = slot.get(t);
  return held ? held->state.get() : nullptr;
}
inline const State* state_of(const Tensor& t) { return state_of(t.get()); }
// Returns the state of an argument; raises for a tensor that is not sparse.
const State& state_in(const Tensor& t, const char* argument = "self");
// The same for one layout.
const State& coo_in(const Tensor& t, const char* argument = "self");

// Raises unless the parts are those of a tensor of these sizes. With `deep` their elements are checked, too: bounds,
// and for compressed tensors the order of the pointers and of the indices within a row.
void check_parts(const State& s, IntArrayRef sizes, bool deep);
// Makes a sparse tensor. The parts have been checked.
Tensor make(State s, IntArrayRef sizes);
// Gives a sparse tensor the entries of another one, in place. Raises if autograd would lose it.
void assign(const Tensor& to, const Tensor& from);
bool is_recorded(const Tensor& t);  // returns whether autograd records calls with it now

}  // namespace lamella::sparse
