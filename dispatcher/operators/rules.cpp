#include "dispatcher/operators/rules.h"

#include "dispatcher/pointwise.h"

namespace lamella::dispatcher {

lamella_status wrap_dim(lamella_frame* f, int arg, int64_t dim, int ndim, int* out) {
  int n = std::max(ndim, 1);
  if (dim < -n || dim >= n)
    return raise(LAMELLA_INDEX_ERROR, format("%s: dimension %lld is out of range for %d dimensions; it takes %d to %d",
                                             where(f, arg).c_str(), (long long)dim, ndim, -n, n - 1));
  *out = static_cast<int>(dim < 0 ? dim + n : dim);
  return LAMELLA_OK;
}

lamella_status wrap_dims(lamella_frame* f, int arg, const Value& v, int ndim, uint64_t* out) {
  *out = 0;
  for (uint32_t i = 0; i < v.length; i++) {
    int d;
    if (lamella_status st = wrap_dim(f, arg, v.as.ints[i], ndim, &d)) return st;
    if (*out >> d & 1)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: dimension %d appears twice in %s", where(f, arg).c_str(), d, core::describe(v).c_str()));
    *out |= uint64_t{1} << d;
  }
  return LAMELLA_OK;
}

void fresh(Meta* m, int ndim, const int64_t* sizes, DType dtype) {
  m->kind = LAMELLA_META_FRESH;
  m->dtype = dtype;
  m->has_strides = 0;
  m->ndim = ndim;
  if (ndim) std::memcpy(m->sizes, sizes, sizeof(int64_t) * ndim);
}

void fresh_like(Meta* m, const lamella_tensor* t, DType dtype) {
  fresh(m, t->dl.ndim, t->dl.shape, dtype);
  if ((t->flags & LAMELLA_CONTIGUOUS) || !(t->flags & LAMELLA_DENSE)) return;
  m->has_strides = 1;
  std::memcpy(m->strides, t->dl.strides, sizeof(int64_t) * t->dl.ndim);
}

namespace {

// Strides of four dimensions (N, C, H, W) whose elements lie in the order N, H, W, C.
void channels_last(const int64_t* sizes, int64_t* strides) {
  int64_t step = 1;
  for (int d : {1, 3, 2, 0}) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
}

}  // namespace

lamella_status laid_out(lamella_frame* f, int arg, const Value& format_value, const lamella_tensor* t, Meta* m) {
  const int64_t wanted =
      format_value.tag == LAMELLA_MEMORY_FORMAT ? format_value.as.i : int64_t{LAMELLA_PRESERVE_FORMAT};
  const DType dtype = m->dtype;
  if (wanted == LAMELLA_CHANNELS_LAST) {
    if (m->ndim != 4)
      return raise(LAMELLA_RUNTIME_ERROR, format("%s: channels_last has four dimensions, got shape %s",
                                                 where(f, arg).c_str(), core::shape_string(m->ndim, m->sizes).c_str()));
    channels_last(m->sizes, m->strides);
    m->has_strides = 1;
  } else if (wanted == LAMELLA_PRESERVE_FORMAT && t) {
    fresh_like(m, t, dtype);
  }
  return LAMELLA_OK;
}

bool lies_in(const lamella_tensor* t, const Value& memory_format) {
  if (memory_format.tag != LAMELLA_MEMORY_FORMAT || memory_format.as.i == LAMELLA_PRESERVE_FORMAT) return true;
  if (memory_format.as.i == LAMELLA_CONTIGUOUS_FORMAT) return (t->flags & LAMELLA_CONTIGUOUS) != 0;
  if (t->dl.ndim != 4) return false;
  int64_t strides[4];
  channels_last(t->dl.shape, strides);
  for (int d = 0; d < 4; d++)
    if (t->dl.shape[d] != 1 && t->dl.strides[d] != strides[d]) return false;
  return true;
}

void same(Meta* m) {
  m->kind = LAMELLA_META_SAME;
  m->alias_of = 0;
}

lamella_status same_with(lamella_frame* f, const Value* args, int arg, Meta* m) {
  same(m);
  const Tensor *self = tensor_arg(args[0]), *other = tensor_arg(args[arg]);
  int ndim = self->ndim();
  int64_t sizes[LAMELLA_MAX_DIMS];
  std::copy(self->sizes(), self->sizes() + ndim, sizes);
  if (broadcast(&ndim, sizes, other->ndim(), other->sizes()) && ndim == self->ndim() &&
      std::equal(sizes, sizes + ndim, self->sizes()))
    return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, arg) + ": shape " + core::shape_string(other) +
                                          " does not broadcast to " + core::shape_string(self));
}

void alias(Meta* m, int arg, const lamella_tensor* t) {
  fresh(m, t->dl.ndim, t->dl.shape, t->dtype);
  m->kind = LAMELLA_META_ALIAS;
  m->alias_of = static_cast<uint8_t>(arg);
  m->offset = t->storage_offset;
  if (t->dl.ndim) std::memcpy(m->strides, t->dl.strides, sizeof(int64_t) * t->dl.ndim);
}

lamella_status check_sizes(lamella_frame* f, int arg, int ndim, const int64_t* sizes, DType dtype) {
  if (ndim <= 4) {  // a product of four sizes below 2^14 fits anything; the message is made when there is one
    uint64_t all = 0;
    for (int i = 0; i < ndim; i++) all |= static_cast<uint64_t>(sizes[i]);
    if (all >> 14 == 0) return LAMELLA_OK;
  }
  return core::check_sizes(where(f, arg).c_str(), ndim, sizes, core::itemsize(dtype), nullptr);
}

lamella_status check_number(lamella_frame* f, int arg, const Value& number, DType dtype) {
  if (__builtin_expect(core::number_fits(number, dtype), 1)) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, format("%s: %s does not fit dtype %s", where(f, arg).c_str(),
                                             core::describe(number).c_str(), core::dtype_info(dtype).name));
}

lamella_status read_sizes(lamella_frame* f, int arg, const Value& v, DType dtype) {
  return check_sizes(f, arg, static_cast<int>(v.length), v.as.ints, dtype);
}

}  // namespace lamella::dispatcher
