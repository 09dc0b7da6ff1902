// Values that a node saves for its backward, with their memory and its version: a write in place in between, or other
// memory (set_, .data), is an error, not a wrong gradient.
#pragma once

#include "graph/node.h"

namespace lamella::autograd {

struct SavedValue;

// An object that hooks have packed, or the tensors of a list. The node shares it with the threads that unpack it, since
// they do so without the node's lock. Hooks give back numbers only: an argument's history is kept beside.
struct Packed {
  int64_t refcount = 1;
  lamella_saved_hooks hooks{};  // none for a list
  void* object = nullptr;
  Edge history{};  // owned; none for a result
  std::vector<SavedValue> items{};
};

struct SavedValue {
  lamella_value value = none();  // owned
  uint64_t version = 0;
  const lamella_storage* memory = nullptr;  // compared, never read
  Packed* packed = nullptr;                 // owned; then there is no value
  int32_t result = -1;                      // which result of the node it is, if any

  // Results are kept as tensors of their own, or else they would keep their node, which keeps them. `counts`: the call
  // has written this memory, and is still to count its version up.
  lamella_status keep(lamella_tensor* t, int32_t result, bool counts);
  // Tensors of a list one by one; if they are results, from that one on.
  lamella_status keep(const lamella_value& v, int32_t result = -1, bool counts = false);
  void drop();
  SavedValue take() {
    SavedValue s = *this;
    value = none();
    packed = nullptr;
    return s;
  }
  // A copy of its own.
  lamella_status copy(SavedValue* out) const;
  // An error unless the memory is as it was.
  lamella_status check(const Node* n) const {
    const lamella_tensor* t = value.as.tensor;
    const bool same = value.tag != LAMELLA_TENSOR || (t->storage == memory && api().tensor_version(t) == version);
    return __builtin_expect(same, 1) ? LAMELLA_OK : changed(n);
  }
  // An owned value to compute with; with a graph, a result has its history again.
  lamella_status unpack(Node* n, bool with_graph, lamella_value* out) const;

 private:
  lamella_status changed(const Node* n) const;
  lamella_status unpack_list(Node* n, bool with_graph, lamella_value* out) const;
};

// While a write to a view is differentiated: its node `write` is no part of the graph, where the node `stands` is in
// its place. A result that `write` saved has its history from `stands`.
struct WriteNow {
  Node* write;
  Node* stands;
};
extern __thread WriteNow write_now __attribute__((tls_model("initial-exec")));
void read_written(lamella_tensor* result, Node* stands);  // see views.cpp

lamella_status push_saved_hooks(const lamella_saved_hooks* hooks);
lamella_status pop_saved_hooks();
lamella_status register_hooks_slot(lamella_library*);
lamella_status used_twice(const Node* n);

}  // namespace lamella::autograd
