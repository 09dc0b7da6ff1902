// Boolean masks: count, then move whole rows.
#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lattis::cpu {
namespace {

// The mask as contiguous bytes: a copy where it is strided or part of what is written.
lattis_status packed(lattis_tensor* t, const lattis_tensor* written, Tensor* out) {
  if (is_contiguous(t) && !(written && written->storage == t->storage)) {
    *out = Tensor::borrow(t);
    return LATTIS_OK;
  }
  lattis_tensor* raw;
  if (lattis_status st = api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, t->dtype, device_of(t), &raw)) return st;
  *out = Tensor::steal(raw);
  return copy_into(raw, t);
}

int64_t count(const Tensor& mask) {
  int64_t n = 0;
  const auto* m = mask.data<uint8_t>();
  for (int64_t i = 0; i < mask.numel(); i++) n += m[i] != 0;
  return n;
}

// Visits the byte offset of each selected row of `self`, whose leading `dims` dimensions the mask covers.
template <class Visit>
void each_row(const lattis_tensor* self, const Tensor& mask, Visit visit) {
  int dims = mask.dim();
  const auto* m = mask.data<uint8_t>();
  int64_t index[LATTIS_MAX_DIMS] = {}, offset = 0, item = itemsize(self);
  for (int64_t i = 0, n = mask.numel(); i < n; i++) {
    if (m[i]) visit(offset);
    for (int d = dims - 1; d >= 0; d--) {
      offset += self->dl.strides[d] * item;
      if (++index[d] < self->dl.shape[d]) break;
      offset -= self->dl.shape[d] * self->dl.strides[d] * item;
      index[d] = 0;
    }
  }
}

// One row of self as a tensor, moved along by changing where it points.
struct Row {
  lattis_tensor t;
  char* origin;
  Row(const lattis_tensor* self, int dims) : t(*self), origin(static_cast<char*>(self->dl.data)) {
    t.dl.ndim -= dims;
    t.dl.shape += dims;
    t.dl.strides += dims;
    t.numel = 1;
    for (int i = 0; i < t.dl.ndim; i++) t.numel *= t.dl.shape[i];
  }
  lattis_tensor* at(int64_t offset) {
    t.dl.data = origin + offset;
    return &t;
  }
};

lattis_status mask_index(lattis_frame*, const lattis_value* a, lattis_value* r) {
  lattis_tensor* self = a[0].as.tensor;
  Tensor mask;
  if (lattis_status st = packed(a[1].as.tensor, nullptr, &mask)) return st;
  int dims = mask.dim(), ndim = self->dl.ndim - dims + 1;
  int64_t sizes[LATTIS_MAX_DIMS + 1] = {count(mask)};
  std::copy(self->dl.shape + dims, self->dl.shape + self->dl.ndim, sizes + 1);
  lattis_tensor* out;
  if (lattis_status st = api().tensor_empty(ndim, sizes, nullptr, self->dtype, device_of(self), &out)) return st;
  r[0] = value(out);
  Row from(self, dims), to(out, 1);
  int64_t item = itemsize(self), at = 0, step = out->dl.strides[0] * item;
  if (ndim == 1) {
    CastLoop same = loops().cast[self->dtype][self->dtype];
    each_row(self, mask, [&](int64_t offset) {
      same(1, static_cast<char*>(out->dl.data) + at, 0, from.origin + offset, 0);
      at += step;
    });
    return LATTIS_OK;
  }
  lattis_status st = LATTIS_OK;
  each_row(self, mask, [&](int64_t offset) {
    if (!st) st = copy_into(to.at(at), from.at(offset));
    at += step;
  });
  return st;
}

lattis_status mask_put(lattis_frame* f, const lattis_value* a, lattis_value*) {
  lattis_tensor *self = a[0].as.tensor, *values = a[2].as.tensor;
  Tensor mask, packed_values;
  if (lattis_status st = packed(a[1].as.tensor, self, &mask)) return st;
  if (values->storage == self->storage) {  // reading what is being written: from a copy
    lattis_tensor* raw;
    if (lattis_status st =
            api().tensor_empty(values->dl.ndim, values->dl.shape, nullptr, values->dtype, device_of(values), &raw))
      return st;
    packed_values = Tensor::steal(raw);
    if (lattis_status st = copy_into(raw, values)) return st;
    values = raw;
  }
  int dims = mask.dim(), rest = self->dl.ndim - dims;
  int64_t n = count(mask);
  // values broadcast to (n, *rest): a leading dimension of n moves along, anything else stays.
  bool moves = values->dl.ndim == rest + 1 && values->dl.shape[0] != 1;
  bool fits = values->dl.ndim <= rest + 1 && (!moves || values->dl.shape[0] == n);
  for (int i = 1; fits && i <= std::min(rest, values->dl.ndim); i++) {
    int64_t v = values->dl.shape[values->dl.ndim - i];
    fits = v == 1 || v == self->dl.shape[self->dl.ndim - i];
  }
  if (!fits) {
    std::string got = "(";
    for (int i = 0; i < values->dl.ndim; i++)
      got += std::to_string(values->dl.shape[i]) + (i + 1 < values->dl.ndim ? ", " : values->dl.ndim == 1 ? "," : "");
    (void)f;
    return fail(LATTIS_RUNTIME_ERROR, "index assignment: argument 'values' of shape " + got +
                                          ") does not broadcast to the " + std::to_string(n) + " selected rows");
  }
  Row to(self, dims), from(values, values->dl.ndim == rest + 1 ? 1 : 0);
  int64_t step = moves ? values->dl.strides[0] * itemsize(values) : 0, at = 0;
  lattis_status st = LATTIS_OK;
  each_row(self, mask, [&](int64_t offset) {
    if (!st) st = copy_into(to.at(offset), from.at(at));
    at += step;
  });
  return st;
}

}  // namespace

void register_indexing(Library& m) { m.impl("_mask_index", "cpu", mask_index).impl("_mask_put_", "cpu", mask_put); }

}  // namespace lattis::cpu
