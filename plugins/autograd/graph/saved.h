// SavedValue: a value that a node saves for backward, with the version of its memory. If the tensor was written in
// place since, or got other memory (set_, .data), reading it is an error, not a wrong gradient.
#pragma once

#include "graph/node.h"

namespace lamella::autograd {

struct SavedValue;

// The shared part of a SavedValue: an object that saved-tensor hooks made of a tensor, or the tensors of a list. It is
// reference-counted, because threads unpack it without the node's lock. unpack_hook returns a tensor without a history,
// so an argument's history is kept here.
struct Packed {
  int64_t refcount = 1;
  lamella_saved_hooks hooks{};  // empty for a list
  void* object = nullptr;
  Edge history{};  // owned; null for a result
  std::vector<SavedValue> items{};
};

struct SavedValue {
  lamella_value value = none();  // owned
  uint64_t version = 0;
  const lamella_storage* memory = nullptr;  // compared only, never dereferenced
  Packed* packed = nullptr;                 // owned; if set, `value` is empty
  int32_t result = -1;                      // the number of the node's result that was saved, or -1 for an argument

  // Saves a tensor. A result is saved as a detached tensor: with its history, the node would own itself. `counts` says
  // that the call has written this memory and will increase its version afterwards.
  lamella_status keep(lamella_tensor* t, int32_t result, bool counts);
  // Saves any value; a list tensor by tensor, as the results from `result` on if that is not -1.
  lamella_status keep(const lamella_value& v, int32_t result = -1, bool counts = false);
  void drop();
  SavedValue take() {
    SavedValue s = *this;
    value = none();
    packed = nullptr;
    return s;
  }
  // Makes an independent copy in `out`.
  lamella_status copy(SavedValue* out) const;
  // Returns an error if the tensor's memory or version has changed.
  lamella_status check(const Node* n) const {
    const lamella_tensor* t = value.as.tensor;
    const bool same = value.tag != LAMELLA_TENSOR || (t->storage == memory && api().tensor_version(t) == version);
    return __builtin_expect(same, 1) ? LAMELLA_OK : changed(n);
  }
  // Returns the value, owned, in `out`; `with_graph` gives a saved result its history again.
  lamella_status unpack(Node* n, bool with_graph, lamella_value* out) const;

 private:
  lamella_status changed(const Node* n) const;
  lamella_status unpack_list(Node* n, bool with_graph, lamella_value* out) const;
};

// Set while backward computes the gradients of a write to a view. The graph holds the ViewWrittenNode `stands` in place
// of the node `write` of that call; a result that `write` saved therefore gets its history from `stands`.
struct WriteNow {
  Node* write;
  Node* stands;
};
extern __thread WriteNow write_now __attribute__((tls_model("initial-exec")));
void read_written(lamella_tensor* result, Node* stands);  // gives the result its history; in views.cpp

lamella_status push_saved_hooks(const lamella_saved_hooks* hooks);
lamella_status pop_saved_hooks();
// Suspends this thread's hooks, or takes them up again; returns whether they were at work before.
int32_t suspend_saved_hooks(int32_t on);
lamella_status register_hooks_slot(lamella_library*);
lamella_status used_twice(const Node* n);

}  // namespace lamella::autograd
