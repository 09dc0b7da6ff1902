// Views and writes in place.
//
// Note [Histories of views]  Memory has one history: its root tensor's, the base of all views. A write through a view
//   therefore gives the base a new node, which puts the written part's gradient in place of that part of the base's
//   (ViewWrittenNode). The versions say which views are stale: a Variable of a base holds the version of its last write
//   in place, that of a view the version when it was made; an older view is made again, from the base as it is now,
//   when somebody next looks at it. Its storage's sticky bit leads the calls with such a view here even if it was made
//   before anybody asked for a gradient.
// Note [Geometry]  A view is known by its sizes, strides and offset alone, whatever chain of operators made it. Where
// the
//   one is complex and the other its parts, the geometry counts real numbers.
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "compose.h"
#include "record.h"

namespace lamella::autograd {
namespace {

struct Geometry {
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  uint8_t dtype = LAMELLA_NO_DTYPE;

  Geometry() = default;
  explicit Geometry(const lamella_tensor* t)
      : sizes(t->dl.shape, t->dl.shape + t->dl.ndim),
        strides(t->dl.strides, t->dl.strides + t->dl.ndim),
        offset(t->storage_offset),
        dtype(t->dtype) {}
};

bool is_complex(uint8_t dtype) { return dtype >= LAMELLA_COMPLEX64; }

// The view `part` of a tensor that stands for the whole of `base`: same sizes and strides, its own memory.
Tensor view_of(Compose& c, Tensor whole, const Geometry& base, const Geometry& part) {
  int64_t offset = part.offset, base_offset = base.offset;
  const bool parts = is_complex(base.dtype) && !is_complex(part.dtype);
  const bool pairs = !is_complex(base.dtype) && is_complex(part.dtype);
  if (parts) {
    whole = c.op<"view_as_real">(whole);
    base_offset *= 2;
  }
  Ints sizes = part.sizes, strides = part.strides;
  if (pairs) {  // as real numbers first
    for (int64_t& s : strides) s *= 2;
    sizes.push_back(2);
    strides.push_back(1);
    offset *= 2;
  }
  if (!c) return Tensor();
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  const int64_t at = empty ? 0 : offset - base_offset + whole.get()->storage_offset;  // what is empty lies nowhere
  const Tensor view = c.op<"as_strided">(whole, sizes, strides, at);
  return pairs ? c.op<"view_as_complex">(view) : view;
}

// ---- a view, made again -------------------------------------------------------------------------------------------

struct ViewNode : Node {
  Geometry base, view;
};

// The adjoint of reading a view: zeros of the base, with what came added at the view's places.
lamella_status apply_view(Node* node, Run&, lamella_tensor** grads, lamella_tensor** outs) {
  auto* n = static_cast<ViewNode*>(node);
  Compose c(nullptr);
  outs[0] =
      c.op<"autograd::_strided_backward">(Tensor::borrow(grads[0]), n->base.sizes, n->base.strides, n->base.offset,
                                          is_complex(n->base.dtype), n->view.sizes, n->view.strides, n->view.offset)
          .take();
  return c.status();
}

const NodeKind view_kind = {apply_view, [](Node*) {},
                            [](Node* n) {
                              static_cast<ViewNode*>(n)->base.~Geometry();
                              static_cast<ViewNode*>(n)->view.~Geometry();
                            },
                            [](const Node*) { return std::string("AsStridedBackward0"); }, nullptr};

// ---- a base that was written through a view -------------------------------------------------------------------------

// The first edge leads to what the base was before; the others are those of the node of the write.
struct ViewWrittenNode : Node {
  Geometry base, view;
  Node* write;    // owned; it is no part of the graph itself
  int self_edge;  // which of its edges led to the view, and leads to the base as it was before, or -1
};

lamella_status apply_written(Node* node, Run& run, lamella_tensor** grads, lamella_tensor** outs) {
  auto* n = static_cast<ViewWrittenNode*>(node);
  Compose c(nullptr);
  // The gradient, laid out as the base is.
  const Tensor grad = Tensor::borrow(grads[0]);
  Tensor whole = c.op<"empty_strided">(n->base.sizes, n->base.strides, As{n->base.dtype}, none(), grad.device());
  c.op<"copy_">(whole, grad);
  const Tensor part = view_of(c, whole, n->base, n->view);
  std::vector<lamella_tensor*> computed(n->write->num_edges);
  lamella_tensor* in[1] = {c.op<"clone">(part).take()};
  if (!c) return c.status();
  lamella_status st;
  {
    const struct Standing {
      WriteNow above;
      ~Standing() { write_now = above; }
    } standing{std::exchange(write_now, {n->write, n})};
    st = n->write->kind->apply(n->write, run, in, computed.data());
  }
  if (in[0]) api().release(in[0]);
  if (!st) {
    if (n->self_edge >= 0 && computed[n->self_edge])
      c.op<"copy_">(part, Tensor::borrow(computed[n->self_edge]));
    else
      c.op<"zero_">(part);
    st = c.status();
  }
  for (int i = 0; i < n->write->num_edges; i++) {
    if (!computed[i]) continue;
    if (i == n->self_edge || st)
      api().release(computed[i]);
    else
      outs[1 + i] = computed[i];
  }
  if (!st) outs[0] = whole.take();
  return st;
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

// The view of a base that is the result of this node.
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

// The tensor's history is now this; its own Variable keeps a gradient that it had.
void replace_history(lamella_tensor* t, Node* n, uint32_t output, uint64_t version) {
  lamella_tensor* grad = nullptr;
  bool retains = false;
  if (Variable* old = variable(t)) {
    grad = std::exchange(old->grad, nullptr);
    retains = old->retains_grad;
  }
  set_history(t, n, output);
  Variable& v = *variable(t);
  v.grad = grad;
  v.version = version;
  if (retains) retain_grad(v);
  api().storage_add_sticky(t->storage, layer_bit);
}

}  // namespace

lamella_status refreshed(lamella_tensor* t, Variable** out) {
  *out = variable(t);
  lamella_tensor* base = api().tensor_base(t);
  if (__builtin_expect(base == nullptr, 1)) return LAMELLA_OK;
  const Variable* history = variable(base);
  if (__builtin_expect(!history || history->version == 0, 1)) return LAMELLA_OK;
  // Threads that only read a view may all find it stale.
  static std::recursive_mutex views[64];
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
  if (old && is_view_by_hand(*old)) return refuse_view_by_hand("backward");
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

// Takes over the reference to n, whose edges are complete; that at self_edge leads to the view's old history.
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
