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

Status tril(const Tensor& self, int64_t diagonal, const Tensor& out) {
  return triangle(self.get(), diagonal, true, out.get());
}
Status triu(const Tensor& self, int64_t diagonal, const Tensor& out) {
  return triangle(self.get(), diagonal, false, out.get());
}

// Writes the rows and the columns of a triangle's places as two rows of out.
lamella_status triangle_indices(int64_t rows, int64_t columns, int64_t offset, bool lower, const lamella_tensor* out) {
  if (out->numel == 0) return LAMELLA_OK;
  constexpr int64_t tile = 128;
  int64_t place[2][tile], filled = 0;
  offset = std::clamp(offset, -rows, columns);
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
    if (!lower && cut == columns) break;  // this row and all further rows are empty
    for (int64_t j = lower ? 0 : cut; j < (lower ? cut : columns); j++) {
      place[0][filled] = i;
      place[1][filled++] = j;
      if (filled == tile) flush();
    }
  }
  flush();
  return LAMELLA_OK;
}

Status tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType>, std::optional<Layout>,
                    std::optional<Device>, std::optional<bool>, const Tensor& out) {
  return triangle_indices(row, col, offset, true, out.get());
}
Status triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType>, std::optional<Layout>,
                    std::optional<Device>, std::optional<bool>, const Tensor& out) {
  return triangle_indices(row, col, offset, false, out.get());
}

Status diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2, const Tensor& out) {
  if (lamella_status st = fill_with(0, out.get())) return st;
  if (self.numel() == 0) return LAMELLA_OK;
  const int i = wrapped_dim(dim1, out.dim()), j = wrapped_dim(dim2, out.dim());
  const IntArrayRef strides = out.strides();
  const int64_t stride = strides[i] + strides[j];
  Part to(out.get());
  to.move(offset >= 0 ? offset * strides[j] : -offset * strides[i]);
  to.drop(std::max(i, j));
  const int last = to.t.dl.ndim - 1, low = std::min(i, j);
  for (int d = low; d < last; d++) {
    to.sizes[d] = to.sizes[d + 1];
    to.strides[d] = to.strides[d + 1];
  }
  to.sizes[last] = self.sizes()[self.dim() - 1];
  to.strides[last] = stride;
  const Part diagonal(to);
  return copy_into(&diagonal.t, self.get());
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<tril>(m, "tril");
  add<triu>(m, "triu");
  add<tril_indices>(m, "tril_indices");
  add<triu_indices>(m, "triu_indices");
  add<diag_embed>(m, "diag_embed");
}

}  // namespace lamella::cpu
