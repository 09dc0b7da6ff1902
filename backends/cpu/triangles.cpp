// Triangles and diagonals.
#include "backends/cpu/gather.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/parts.h"

namespace lamella::cpu {
namespace {

lamella_status triangle(const lamella_tensor* self, int64_t diagonal, bool lower, const lamella_tensor* out) {
  if (out->numel == 0) return LAMELLA_OK;
  const int ndim = out->dl.ndim;
  const int64_t rows = out->dl.shape[ndim - 2], columns = out->dl.shape[ndim - 1], item = itemsize(out);
  diagonal = std::clamp(diagonal, -rows, columns);
  const int64_t os = out->dl.strides[ndim - 1] * item, ss = self->dl.strides[ndim - 1] * item;
  CastLoop same = loops().cast[self->dtype][self->dtype];
  const char zero[16] = {};
  auto row_start = [&](const lamella_tensor* t, int64_t row) {
    int64_t offset = 0;
    for (int d = ndim - 2; d >= 0; d--) {
      offset += row % t->dl.shape[d] * t->dl.strides[d];
      row /= t->dl.shape[d];
    }
    return static_cast<char*>(t->dl.data) + offset * item;
  };
  auto some = [&](int64_t b, int64_t e) -> lamella_status {
    for (; b < e; b++) {
      // Columns [0, cut) are in the lower triangle, including the diagonal itself for tril only.
      const int64_t i = b % rows, bound = lower ? diagonal + 1 : diagonal;
      const int64_t cut = bound <= -i ? 0 : bound >= columns - i ? columns : bound + i;
      char* to = row_start(out, b);
      const char* from = row_start(self, b);
      const int64_t copy_from = lower ? 0 : cut, copy_count = lower ? cut : columns - cut;
      const int64_t zero_from = lower ? cut : 0, zero_count = columns - copy_count;
      if (copy_count) same(copy_count, to + copy_from * os, os, from + copy_from * ss, ss);
      if (zero_count && os == item)
        std::memset(to + zero_from * os, 0, zero_count * item);
      else if (zero_count)
        same(zero_count, to + zero_from * os, os, zero, 0);
    }
    return LAMELLA_OK;
  };
  const int64_t all = out->numel / columns;
  return out->numel < 2 * grain ? some(0, all) : parallel_for(0, all, std::max<int64_t>(grain / columns, 1), some);
}

lamella_status tril(lamella_frame*, const lamella_value* a, lamella_value* r) {
  return triangle(a[0].as.tensor, a[1].as.i, true, r[0].as.tensor);
}
lamella_status triu(lamella_frame*, const lamella_value* a, lamella_value* r) {
  return triangle(a[0].as.tensor, a[1].as.i, false, r[0].as.tensor);
}

// row, col, offset: the rows and the columns of a triangle's places, as two rows of out.
lamella_status triangle_indices(const lamella_value* a, bool lower, const lamella_tensor* out) {
  if (out->numel == 0) return LAMELLA_OK;
  constexpr int64_t tile = 128;
  int64_t place[2][tile], filled = 0;
  const int64_t rows = a[0].as.i, columns = a[1].as.i, offset = std::clamp(a[2].as.i, -rows, columns);
  const int64_t item = itemsize(out), step = out->dl.strides[1] * item;
  auto* to = static_cast<char*>(out->dl.data);
  CastLoop cast = loops().cast[LAMELLA_INT64][out->dtype];
  auto flush = [&] {
    for (int k = 0; k < 2; k++)
      cast(filled, to + k * out->dl.strides[0] * item, step, reinterpret_cast<char*>(place[k]), 8);
    to += filled * step;
    filled = 0;
  };
  const int64_t bound = lower ? offset + 1 : offset;  // row i is cut before column i + bound
  for (int64_t i = lower ? std::max<int64_t>(-offset, 0) : 0; i < rows; i++) {
    const int64_t cut = bound <= -i ? 0 : bound >= columns - i ? columns : bound + i;
    if (!lower && cut == columns) break;  // so are all that follow
    for (int64_t j = lower ? 0 : cut; j < (lower ? cut : columns); j++) {
      place[0][filled] = i;
      place[1][filled++] = j;
      if (filled == tile) flush();
    }
  }
  flush();
  return LAMELLA_OK;
}

lamella_status tril_indices(lamella_frame*, const lamella_value* a, lamella_value* r) {
  return triangle_indices(a, true, r[0].as.tensor);
}
lamella_status triu_indices(lamella_frame*, const lamella_value* a, lamella_value* r) {
  return triangle_indices(a, false, r[0].as.tensor);
}

// self, offset, dim1, dim2
lamella_status diag_embed(lamella_frame*, const lamella_value* a, lamella_value* r) {
  const lamella_tensor *self = a[0].as.tensor, *out = r[0].as.tensor;
  if (lamella_status st = fill_with(value(0), out)) return st;
  if (self->numel == 0) return LAMELLA_OK;
  const int i = wrapped_dim(a[2], out->dl.ndim), j = wrapped_dim(a[3], out->dl.ndim);
  const int64_t offset = a[1].as.i, stride = out->dl.strides[i] + out->dl.strides[j];
  Part to(out);
  to.move(offset >= 0 ? offset * out->dl.strides[j] : -offset * out->dl.strides[i]);
  to.drop(std::max(i, j));
  const int last = to.t.dl.ndim - 1, low = std::min(i, j);
  for (int d = low; d < last; d++) {
    to.sizes[d] = to.sizes[d + 1];
    to.strides[d] = to.strides[d + 1];
  }
  to.sizes[last] = self->dl.shape[self->dl.ndim - 1];
  to.strides[last] = stride;
  const Part diagonal(to);
  return copy_into(&diagonal.t, self);
}

}  // namespace

void register_triangles(Library& m) {
  m.impl("tril", "cpu", tril)
      .impl("triu", "cpu", triu)
      .impl("tril_indices", "cpu", tril_indices)
      .impl("triu_indices", "cpu", triu_indices)
      .impl("diag_embed", "cpu", diag_embed);
}

}  // namespace lamella::cpu
