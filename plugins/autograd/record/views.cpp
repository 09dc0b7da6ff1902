// The histories of views, and of tensors that were written in place.
//
// Note [Histories of views]  All views of one memory share one history, that of their base, the root tensor. A write
//   through a view therefore gives the base a new node (ViewWrittenNode), which replaces the written part of the base's
//   gradient by the part's own gradient. Versions tell which views are stale: the base's Variable holds the version of
//   its last write in place, a view's Variable the version at which its history was made. A stale view gets its history
//   anew, from the base's current one, at its next use. If a view gets other sizes in place (t_), its history is made
//   anew, too; a tensor that is no view becomes a strided view of what it was. The sticky bit of the storage makes
//   calls with a view reach this layer even if the view was made before the base required a gradient.
// Note [Geometry]  A view is described by its sizes, strides and offset alone, not by the operators that made it. If
//   only one of base and view is complex, the geometry counts real numbers.
#include <lamella/extension.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fork.h"
#include "graph/event.h"
#include "record/record.h"

namespace lamella::autograd {
namespace {

struct Geometry {
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  ScalarType dtype = ScalarType::Undefined;

  Geometry() = default;
  explicit Geometry(const lamella_tensor* t)
      : sizes(t->dl.shape, t->dl.shape + t->dl.ndim),
        strides(t->dl.strides, t->dl.strides + t->dl.ndim),
        offset(t->storage_offset),
        dtype(static_cast<ScalarType>(t->dtype)) {}
};

// Moves the reference out of a tensor; the caller owns it.
lamella_tensor* owned(lamella::Tensor t) { return static_cast<TensorRef&>(t).take(); }

// Returns the view `part` of `whole`, a tensor that has the sizes and strides of `base`, but its own memory.
lamella::Tensor view_of(lamella::Tensor whole, const Geometry& base, const Geometry& part) {
  int64_t offset = part.offset, base_offset = base.offset;
  const bool parts = is_complex(base.dtype) && !is_complex(part.dtype);
  const bool pairs = !is_complex(base.dtype) && is_complex(part.dtype);
  if (parts) {
    whole = view_as_real(whole);
    base_offset *= 2;
  }
  std::vector<int64_t> sizes = part.sizes, strides = part.strides;
  if (pairs) {  // a view of pairs of real numbers, made complex at the end
    for (int64_t& s : strides) s *= 2;
    sizes.push_back(2);
    strides.push_back(1);
    offset *= 2;
  }
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  const int64_t at = empty ? 0 : offset - base_offset + whole.storage_offset();  // an empty view needs no offset
  const lamella::Tensor view = whole.as_strided(sizes, strides, at);
  return pairs ? view_as_complex(view) : view;
}

// ---- the history of a stale view -----------------------------------------------------------------------------------

struct ViewNode : Node {
  Geometry base, view;
};

// The adjoint of reading a view: zeros of the base's shape, with the gradient added at the view's places.
lamella_status apply_view(Node* node, Run&, lamella_tensor** grads, lamella_tensor** outs) {
  return guarded([&]() -> lamella_status {
    static const Operator<lamella::Tensor(const lamella::Tensor&, IntArrayRef, IntArrayRef, int64_t, bool, IntArrayRef,
                                          IntArrayRef, int64_t)>
        strided_backward("autograd::_strided_backward");
    const Geometry &base = static_cast<ViewNode*>(node)->base, &view = static_cast<ViewNode*>(node)->view;
    outs[0] = owned(strided_backward(lamella::Tensor::borrow(grads[0]), base.sizes, base.strides, base.offset,
                                     is_complex(base.dtype), view.sizes, view.strides, view.offset));
    return LAMELLA_OK;
  });
}

const NodeKind view_kind = {apply_view, [](Node*) {},
                            [](Node* n) {
                              static_cast<ViewNode*>(n)->base.~Geometry();
                              static_cast<ViewNode*>(n)->view.~Geometry();
                            },
                            [](const Node*) { return std::string("AsStridedBackward0"); }, nullptr};

// ---- a base that was written through a view -------------------------------------------------------------------------

// The first edge leads to the base's former history; the others are the edges of the node `write`.
struct ViewWrittenNode : Node {
  Geometry base, view;
  Node* write;    // owned: the node of the call that wrote the view, which is not in the graph itself
  int self_edge;  // the edge of `write` that led to the view's old history, and now to the base's old history; or -1
};

// Owns the gradients that the node `write` computed; the destructor releases those that were not taken.
struct Computed {
  std::vector<lamella_tensor*> list;

  explicit Computed(size_t n) : list(n) {}
  Computed(const Computed&) = delete;
  ~Computed() {
    for (lamella_tensor* t : list)
      if (t) api().release(t);
  }
};

// Returns memory with the base's strides for a gradient. An opaque tensor is a layer's own, as are tensors that operators
// make of it, and the layer may refuse to write it into others.
lamella::Tensor room_for(const lamella::Tensor& grad, const Geometry& base) {
  if (!grad.is_opaque())
    return empty_strided(base.sizes, base.strides, TensorOptions(base.dtype).device(grad.device()));
  int64_t length = 1;
  for (size_t i = 0; i < base.sizes.size(); i++) length += std::max<int64_t>(base.sizes[i] - 1, 0) * base.strides[i];
  const lamella::Tensor flat = zeros_like(zeros_like(grad).sum().expand({length}));
  return flat.as_strided(base.sizes, base.strides, 0);
}

lamella_status apply_written(Node* node, Run& run, lamella_tensor** grads, lamella_tensor** outs) {
  return guarded([&]() -> lamella_status {
    auto* n = static_cast<ViewWrittenNode*>(node);
    // A copy of the gradient with the base's strides.
    const lamella::Tensor grad = lamella::Tensor::borrow(grads[0]);
    lamella::Tensor whole = room_for(grad, n->base);
    whole.copy_(grad);
    const lamella::Tensor part = view_of(whole, n->base, n->view);
    Computed computed(n->write->num_edges);
    lamella_tensor* in[1] = {owned(part.clone())};
    lamella_status st;
    {
      const struct Standing {
        WriteNow above;
        ~Standing() { write_now = above; }
      } standing{std::exchange(write_now, {n->write, n})};
      st = n->write->kind->apply(n->write, run, in, computed.list.data());
    }
    if (in[0]) api().release(in[0]);
    if (st) return st;
    if (n->self_edge >= 0 && computed.list[n->self_edge]) {
      const lamella::Tensor own = lamella::Tensor::borrow(computed.list[n->self_edge]);
      if (own.is_opaque() && !whole.is_opaque()) {
        const lamella::Tensor shared = std::exchange(whole, room_for(own, n->base));
        whole.copy_(shared);
      }
      view_of(whole, n->base, n->view).copy_(own);
    } else {
      part.zero_();
    }
    for (int i = 0; i < n->write->num_edges; i++)
      if (i != n->self_edge) outs[1 + i] = std::exchange(computed.list[i], nullptr);
    outs[0] = owned(std::move(whole));
    return LAMELLA_OK;
  });
}

const NodeKind written_kind = {apply_written,
                               [](Node* n) {
                                 auto* w = static_cast<ViewWrittenNode*>(n)->write;
                                 w->kind->release_saved(w);
                               },
                               [](Node* n) {
                                 auto* w = static_cast<ViewWrittenNode*>(n);
                                 release(w->write);
                                 w->base.~Geometry();
                                 w->view.~Geometry();
                               },
                               [](const Node*) { return std::string("CopySlices"); },
                               [](Node* n, lamella_visit visit, void* visitor) {
                                 Node* w = static_cast<ViewWrittenNode*>(n)->write;
                                 return w->kind->traverse ? w->kind->traverse(w, visit, visitor) : 0;
                               }};

// Makes the node that reads a view of the base; `from` and `output` are the base's history.
ViewNode* read_base(const Geometry& base, const Geometry& view, Node* from, uint32_t output) {
  auto* n = new_node<ViewNode>(&view_kind, 1, 1);
  n->base = base;
  n->view = view;
  retain(from);
  n->edges[0] = {from, output};
  if (holds_host(from)) hold_host(n);
  return n;
}

bool is_stale(const Variable* view, const Variable* base) {
  return base && base->version > 0 && !base->leaf && (!view || view->version < base->version);
}

// Makes node n the history of a tensor, and keeps the grad of its old Variable.
void replace_history(lamella_tensor* t, Node* n, uint32_t output, uint64_t version) {
  lamella_tensor* grad = nullptr;
  bool retains = false, fresh = false;
  if (Variable* old = variable(t)) {
    grad = std::exchange(old->grad, nullptr);
    retains = old->retains_grad;
    fresh = old->fresh_grad;
  }
  set_history(t, n, output);
  Variable& v = *variable(t);
  v.grad = grad;
  v.fresh_grad = fresh;
  v.version = version;
  if (retains) retain_grad(v);
  check(api().storage_add_sticky(t->storage, layer_bit));
}

}  // namespace

lamella_status refreshed(lamella_tensor* t, Variable** out) {
  *out = variable(t);
  lamella_tensor* base = api().tensor_base(t);
  if (__builtin_expect(base == nullptr, 1)) return LAMELLA_OK;
  const Variable* history = variable(base);
  if (__builtin_expect(!history || history->version == 0, 1)) return LAMELLA_OK;
  // Several threads that read a view may find it stale at once.
  static auto& views = new_locks<std::array<std::recursive_mutex, 64>>();
  std::lock_guard lock(views[reinterpret_cast<uintptr_t>(t) / 64 % 64]);
  *out = variable(t);
  if (!is_stale(*out, history) || !is_differentiable(t)) return LAMELLA_OK;
  lamella_status st = regenerate(t, base, *history);
  *out = variable(t);
  return st;
}

lamella_status regenerate(lamella_tensor* view, lamella_tensor* base, const Variable& history) {
  if (!history.requires_grad) return LAMELLA_OK;
  const Variable* old = variable(view);
  if (const Node* n = old ? view_by_hand(*old) : nullptr) return refuse_view_by_hand("backward", n);
  ViewNode* n = read_base(Geometry(base), Geometry(view), history.node, history.output);
  replace_history(view, n, 0, history.version);
  return LAMELLA_OK;
}

void read_written(lamella_tensor* result, Node* stands) {
  const auto* w = static_cast<ViewWrittenNode*>(stands);
  set_history(result, read_base(w->base, w->view, stands, 0), 0);
}

lamella_status adopt(lamella_tensor* t) {
  lamella_tensor* base = api().tensor_base(t);
  const Variable* history = base ? variable(base) : nullptr;
  if (!history || history->leaf || !is_differentiable(t)) return LAMELLA_OK;
  const Variable* own = variable(t);
  return own && own->requires_grad ? LAMELLA_OK : regenerate(t, base, *history);
}

namespace {

// Returns the tensor's Variable, or null, after the checks of every recorded call: gradient_edge() refuses a tensor
// with a forward tangent.
lamella_status followed(lamella_tensor* t, Variable** v) {
  Edge e{};
  if (lamella_status st = gradient_edge(t, &e)) return st;
  if (e.node) release(e.node);
  return refreshed(t, v);
}

bool has_recorded_base(lamella_tensor* t) {
  lamella_tensor* base = api().tensor_base(t);
  const Variable* history = base ? variable(base) : nullptr;
  return history && history->requires_grad;
}

// Calls a function with the place in memory of each element.
template <class Function>
void each_place(int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset, Function function) {
  if (ndim == 0) return function(offset);
  for (int64_t i = 0; i < sizes[0]; i++)
    each_place(ndim - 1, sizes + 1, strides + 1, offset + i * strides[0], function);
}

// Returns whether a strided window has the place of every element of a tensor.
bool has_every_place(const lamella_tensor* t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) {
  std::unordered_set<int64_t> places;
  each_place(t->dl.ndim, t->dl.shape, t->dl.strides, t->storage_offset, [&](int64_t at) { places.insert(at); });
  each_place(ndim, sizes, strides, offset, [&](int64_t at) { places.erase(at); });
  return places.empty();
}

lamella_status follow_geometry(lamella_frame* frame, const lamella_value* args, lamella_value* rets) {
  lamella_tensor* t = args[0].as.tensor;
  if (lamella_status st = adopt(t)) return st;
  Variable* v = nullptr;
  if (lamella_status st = followed(t, &v)) return st;
  const bool recorded = v && v->requires_grad;
  if (recorded)
    if (lamella_status st = check_writable(api().operator_name(frame->op), t)) return st;
  const Geometry before(t);
  if (lamella_status st = api().redispatch(frame, args, frame->num_args, rets, frame->num_rets)) return st;
  if (!recorded) return LAMELLA_OK;
  Results results(rets, 1);
  if (has_recorded_base(t)) {
    lamella_tensor* base = api().tensor_base(t);
    if (lamella_status st = regenerate(t, base, *variable(base))) return st;
  } else {
    ViewNode* n = read_base(before, Geometry(t), v->node, v->output);
    report_recorded(n, frame->op);
    replace_history(t, n, 0, api().tensor_version(t));
  }
  results.keep();
  return LAMELLA_OK;
}

lamella_status allow_geometry(lamella_frame* frame, const lamella_value* args, lamella_value* rets) {
  Variable* v = nullptr;
  if (lamella_status st = followed(args[0].as.tensor, &v)) return st;
  if (!v || !v->requires_grad) return api().redispatch(frame, args, frame->num_args, rets, frame->num_rets);
  return fail(LAMELLA_RUNTIME_ERROR, std::string(api().operator_name(frame->op)) +
                                         ": the tensor requires grad, and its history has its shape; use its .data, or "
                                         "detach() it");
}

}  // namespace

lamella_status record_geometry(lamella_frame* frame, const lamella_value* args, lamella_value* rets) {
  return guarded([&] { return follow_geometry(frame, args, rets); });
}

lamella_status refuse_geometry(lamella_frame* frame, const lamella_value* args, lamella_value* rets) {
  return guarded([&] { return allow_geometry(frame, args, rets); });
}

lamella_status record_window(lamella_frame* frame, const lamella_value* args, lamella_value* rets) {
  return guarded([&] {
    lamella_tensor* t = args[0].as.tensor;
    const lamella_value &sizes = args[1], &strides = args[2], &offset = args[3];
    const bool whole = has_recorded_base(t) || sizes.length != strides.length ||  // the operator raises
                       has_every_place(t, static_cast<int>(sizes.length), sizes.as.ints, strides.as.ints,
                                       offset.tag == LAMELLA_INT ? offset.as.i : t->storage_offset);
    return whole ? follow_geometry(frame, args, rets) : allow_geometry(frame, args, rets);
  });
}

// Takes over the reference to n, whose edges are complete. The edge at self_edge leads to the view's old history.
lamella_status set_written(lamella_tensor* t, Node* n, uint32_t output, int self_edge, uint64_t version) {
  lamella_tensor* base = api().tensor_base(t);
  if (!base) {
    replace_history(t, n, output, version);
    return LAMELLA_OK;
  }
  n->results[output].describe(t);
  auto* w = new_node<ViewWrittenNode>(&written_kind, 1 + n->num_edges, 1);
  w->base = Geometry(base);
  w->view = Geometry(t);
  w->write = n;
  w->self_edge = self_edge;
  if (lamella_status st = gradient_edge(base, &w->edges[0])) {
    release(w);
    return st;
  }
  for (int i = 0; i < n->num_edges; i++) {
    Edge& from = n->edges[i];
    if (i != self_edge) {
      w->edges[1 + i] = from;
    } else {
      if (from.node) release(from.node);
      from = w->edges[0];
    }
    if (from.node) retain(from.node);
  }
  if (holds_host(n) || (w->edges[0].node && holds_host(w->edges[0].node))) hold_host(w);
  replace_history(base, w, 0, version);
  return regenerate(t, base, *variable(base));
}

}  // namespace lamella::autograd
