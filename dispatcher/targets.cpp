#include "dispatcher/targets.h"

#include <algorithm>

#include "core/error.h"
#include "core/promotion.h"
#include "dispatcher/explain.h"
#include "dispatcher/transfer.h"

namespace lamella::dispatcher {
namespace {

using core::DType;
using core::full;
using core::Tensor;

int32_t item_bytes(const Tensor* t) { return static_cast<int32_t>(core::itemsize(t->dtype)); }

bool same_geometry(const Tensor* a, const Tensor* b) {
  if (a->dl.data != b->dl.data || a->dtype != b->dtype || a->ndim() != b->ndim()) return false;
  for (int i = 0; i < a->ndim(); i++)
    if (a->sizes()[i] != b->sizes()[i] || (a->strides()[i] != b->strides()[i] && a->sizes()[i] > 1)) return false;
  return true;
}

lamella_status check_writable(Frame& f, int arg, const Tensor* t) {
  for (int i = 0; i < t->ndim(); i++)
    if (t->strides()[i] == 0 && t->sizes()[i] > 1 && t->numel > 0)
      return core::raise(
          LAMELLA_RUNTIME_ERROR,
          where(&f, arg) +
              ": several elements share one memory location (an expanded tensor); clone() it before writing");
  return LAMELLA_OK;
}

// Gives an output of another shape the storage of the computed tensor, or a new one if their dtypes differ. This
// happens after the kernel, since the output may be an input too.
lamella_status adopt(Frame& f, Tensor* target, Tensor* computed) {
  if (target->dtype == computed->dtype) {
    core::retain(computed->storage);
    core::replace_storage(target, computed->storage);
    core::set_geometry(target, computed->ndim(), computed->sizes(), computed->strides(), computed->storage_offset);
    return LAMELLA_OK;
  }
  core::Storage* s;
  if (lamella_status st = core::new_storage(computed->numel * core::itemsize(target->dtype), target->device(),
                                            static_cast<core::DType>(target->dtype), &s))
    return st;
  core::replace_storage(target, s);
  core::set_geometry(target, computed->ndim(), computed->sizes(), nullptr, 0);
  return copy_aside(f, target, computed);
}

}  // namespace

bool has_shape(const Tensor* t, int ndim, const int64_t* sizes) {
  return t->ndim() == ndim && std::equal(sizes, sizes + ndim, t->sizes());
}

bool overlaps_within(const Tensor* out, const Tensor* in, bool elementwise) {
  if (out->numel == 0 || in->numel == 0) return false;
  if (out->opaque() || in->opaque()) return true;  // only a layer knows which bytes are theirs
  if (elementwise && same_geometry(out, in)) return false;
  int64_t a = out->storage_offset * item_bytes(out), b = in->storage_offset * item_bytes(in);
  int64_t an = core::span_bytes(out->ndim(), out->sizes(), out->strides(), item_bytes(out));
  int64_t bn = core::span_bytes(in->ndim(), in->sizes(), in->strides(), item_bytes(in));
  return a < b + bn && b < a + an;
}

lamella_status check_all_writable(Frame& f, const CallInfo& info, const Value* args) {
  for (uint64_t w = info.stored; w; w &= w - 1) {
    int at = __builtin_ctzll(w);
    if (args[at].tag != LAMELLA_TENSOR) continue;
    if (lamella_status st = check_writable(f, at, full(args[at].as.tensor))) return st;
  }
  return LAMELLA_OK;
}

lamella_status check_target(Frame& f, const CallInfo& info, int at, Tensor* target, bool exact, DType dtype, int ndim,
                            const int64_t* sizes) {
  if (exact && dtype != target->dtype)
    return core::raise(
        LAMELLA_RUNTIME_ERROR,
        core::format("%s has dtype %s, but the result's positions or counts have dtype %s; pass a tensor "
                     "of dtype %s",
                     where(&f, at).c_str(), core::dtype_info(target->dtype).name, core::dtype_info(dtype).name,
                     core::dtype_info(dtype).name));
  if (!core::can_cast(dtype, target->dtype))
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       core::format("%s has dtype %s, which cannot hold the result's %s", where(&f, at).c_str(),
                                    core::dtype_info(target->dtype).name, core::dtype_info(dtype).name));
  if (target->opaque())  // only a layer can write its values
    return core::raise(LAMELLA_NOT_IMPLEMENTED, where(&f, at) +
                                                    " is opaque: no result can be stored in it; its layers " +
                                                    "have no kernel for " + operator_title(f.op));
  if (has_shape(target, ndim, sizes)) return check_writable(f, at, target);
  std::string have = core::shape_string(target), want = core::shape_string(ndim, sizes);
  if (info.form == Form::Inplace)
    return core::raise(LAMELLA_RUNTIME_ERROR, where(&f, at) + " has shape " + have + ", but the result has shape " +
                                                  want + "; an in-place form cannot change it");
  if (target->base)
    return core::raise(LAMELLA_RUNTIME_ERROR, where(&f, at) + ": a view of shape " + have + " cannot become " + want +
                                                  "; pass a tensor of that shape");
  return LAMELLA_OK;
}

lamella_status store_result(Frame& f, Tensor* target, Tensor* computed, Value* ret) {
  if (target != computed) {
    if (computed->opaque())
      return core::raise(
          LAMELLA_NOT_IMPLEMENTED,
          operator_title(f.op) + ": its result is opaque, so that it cannot be stored in another tensor");
    const bool fits = has_shape(target, computed->ndim(), computed->sizes());
    if (lamella_status st = fits ? copy_aside(f, target, computed) : adopt(f, target, computed)) return st;
  }
  core::retain(target);
  *ret = core::tensor_value(target);
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
