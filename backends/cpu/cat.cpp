// Joining and rearranging, and what fills new memory: cat, stack, flip, roll, triangles, diagonals, eye, linspace.
#include <lattis/half.h>

#include "backends/cpu/gather.h"
#include "backends/cpu/loops.h"

namespace lattis::cpu {
namespace {

constexpr int64_t copy_grain = 1 << 17;  // bytes for a thread

// A part of a tensor, described beside it.
struct Part {
  lattis_tensor t;
  int64_t sizes[LATTIS_MAX_DIMS], strides[LATTIS_MAX_DIMS];

  explicit Part(const lattis_tensor* of) : t(*of) {
    std::copy(of->dl.shape, of->dl.shape + of->dl.ndim, sizes);
    std::copy(of->dl.strides, of->dl.strides + of->dl.ndim, strides);
    settle();
  }
  Part(const Part& o) : t(o.t) {
    std::copy(o.sizes, o.sizes + t.dl.ndim, sizes);
    std::copy(o.strides, o.strides + t.dl.ndim, strides);
    settle();
  }
  void narrow(int d, int64_t start, int64_t length) {
    move(start * strides[d]);
    sizes[d] = length;
    settle();
  }
  void drop(int d) {
    std::copy(sizes + d + 1, sizes + t.dl.ndim, sizes + d);
    std::copy(strides + d + 1, strides + t.dl.ndim, strides + d);
    t.dl.ndim--;
    settle();
  }
  void move(int64_t elements) { t.dl.data = static_cast<char*>(t.dl.data) + elements * itemsize(&t); }

 private:
  void settle() {
    t.dl.shape = sizes;
    t.dl.strides = strides;
    t.numel = 1;
    for (int d = 0; d < t.dl.ndim; d++) t.numel *= sizes[d];
    t.flags = 0;
  }
};

template <int64_t Bytes>
void copy_fixed(int64_t n, char* dst, int64_t ds, const char* src, int64_t ss) {
  for (int64_t i = 0; i < n; i++) std::memcpy(dst + i * ds, src + i * ss, Bytes);
}

// n pieces of some bytes from one stride to another.
void copy_pieces(int64_t n, char* dst, int64_t ds, const char* src, int64_t ss, int64_t bytes) {
  switch (bytes) {
    case 4:
      return copy_fixed<4>(n, dst, ds, src, ss);
    case 8:
      return copy_fixed<8>(n, dst, ds, src, ss);
    case 16:
      return copy_fixed<16>(n, dst, ds, src, ss);
    case 32:
      return copy_fixed<32>(n, dst, ds, src, ss);
    case 64:
      return copy_fixed<64>(n, dst, ds, src, ss);
    case 128:
      return copy_fixed<128>(n, dst, ds, src, ss);
    default:
      for (int64_t i = 0; bytes > 0 && i < n; i++) std::memcpy(dst + i * ds, src + i * ss, bytes);
  }
}

lattis_status copy_bytes(char* dst, const char* src, int64_t bytes) {
  if (bytes < 2 * copy_grain) {
    std::memcpy(dst, src, bytes);
    return LATTIS_OK;
  }
  return parallel_for(0, bytes, copy_grain, [=](int64_t b, int64_t e) -> lattis_status {
    std::memcpy(dst + b, src + b, e - b);
    return LATTIS_OK;
  });
}

// ---- joining -------------------------------------------------------------------------------------------------------

bool passed_over(const lattis_tensor* t) { return t->dl.ndim == 1 && t->numel == 0; }

// Tensors side by side along dimension d of out; stacked: each is one position of it.
lattis_status join(const lattis_value& list, int d, bool stacked, const lattis_tensor* out) {
  if (out->numel == 0) return LATTIS_OK;
  bool plain = is_contiguous(out);
  for (uint32_t i = 0; i < list.length && plain; i++)
    plain = is_contiguous(list.as.tensors[i]) && list.as.tensors[i]->dtype == out->dtype;
  if (!plain) {
    int64_t at = 0;
    for (uint32_t i = 0; i < list.length; i++) {
      const lattis_tensor* t = list.as.tensors[i];
      if (!stacked && passed_over(t)) continue;
      const int64_t n = stacked ? 1 : t->dl.shape[d];
      Part to(out);
      to.narrow(d, at, n);
      if (stacked) to.drop(d);
      if (lattis_status st = copy_into(&to.t, t)) return st;
      at += n;
    }
    return LATTIS_OK;
  }
  int64_t outer = 1;
  for (int k = 0; k < d; k++) outer *= out->dl.shape[k];
  auto* to = static_cast<char*>(out->dl.data);
  const int64_t bytes = out->numel * itemsize(out), row = bytes / outer;
  if (outer == 1) {
    for (uint32_t i = 0; i < list.length; i++) {
      const lattis_tensor* t = list.as.tensors[i];
      const int64_t n = t->numel * itemsize(t);
      if (lattis_status st = copy_bytes(to, static_cast<const char*>(t->dl.data), n)) return st;
      to += n;
    }
    return LATTIS_OK;
  }
  auto some = [&](int64_t b, int64_t e) -> lattis_status {
    char* at = to + b * row;
    for (uint32_t i = 0; i < list.length; i++) {
      const lattis_tensor* t = list.as.tensors[i];
      const int64_t piece = t->numel * itemsize(t) / outer;
      copy_pieces(e - b, at, row, static_cast<const char*>(t->dl.data) + b * piece, piece, piece);
      at += piece;
    }
    return LATTIS_OK;
  };
  return bytes < 2 * copy_grain ? some(0, outer) : parallel_for(0, outer, std::max<int64_t>(copy_grain / row, 1), some);
}

lattis_status cat(lattis_frame*, const lattis_value* a, lattis_value* r) {
  return join(a[0], wrapped_dim(a[1], r[0].as.tensor->dl.ndim), false, r[0].as.tensor);
}
lattis_status stack(lattis_frame*, const lattis_value* a, lattis_value* r) {
  return join(a[0], wrapped_dim(a[1], r[0].as.tensor->dl.ndim), true, r[0].as.tensor);
}

// ---- turning
// ---------------------------------------------------------------------------------------------------------

lattis_status flip(lattis_frame*, const lattis_value* a, lattis_value* r) {
  const lattis_tensor *self = a[0].as.tensor, *out = r[0].as.tensor;
  if (out->numel == 0) return LATTIS_OK;
  const int64_t item = itemsize(self);
  int64_t strides[LATTIS_MAX_DIMS];
  byte_strides(self, strides);
  auto* from = static_cast<char*>(self->dl.data);
  for (uint32_t i = 0; i < a[1].length && self->dl.ndim; i++) {
    const int d = static_cast<int>(a[1].as.ints[i] < 0 ? a[1].as.ints[i] + self->dl.ndim : a[1].as.ints[i]);
    from += (self->dl.shape[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  auto reverse = index_loops().reverse[log2_item(item)];
  CastLoop same = loops().cast[self->dtype][self->dtype];
  Strips s(out);
  s.add(from, strides);
  return s.run(grain, [&](int64_t n, char* const* at, const int64_t* step) -> lattis_status {
    if (step[0] == item && step[1] == -item)
      reverse(n, at[0], at[1]);
    else
      same(n, at[0], step[0], at[1], step[1]);
    return LATTIS_OK;
  });
}

// Each rolled dimension is cut in two; the parts change places.
lattis_status roll_parts(const Part& to, const Part& from, const int64_t* shifts, const int64_t* dims, int count) {
  if (count == 0) return copy_into(&to.t, &from.t);
  const int d = static_cast<int>(dims[0] < 0 ? dims[0] + from.t.dl.ndim : dims[0]);
  const int64_t n = from.sizes[d], k = (shifts[0] % n + n) % n;
  for (int part = 0; part < 2; part++) {
    const int64_t length = part ? k : n - k;
    if (length == 0) continue;
    Part x(to), y(from);
    x.narrow(d, part ? 0 : k, length);
    y.narrow(d, part ? n - k : 0, length);
    if (lattis_status st = roll_parts(x, y, shifts + 1, dims + 1, count - 1)) return st;
  }
  return LATTIS_OK;
}

lattis_status roll(lattis_frame*, const lattis_value* a, lattis_value* r) {
  const lattis_tensor *self = a[0].as.tensor, *out = r[0].as.tensor;
  if (out->numel == 0) return LATTIS_OK;
  if (a[2].length && self->dl.ndim)
    return roll_parts(Part(out), Part(self), a[1].as.ints, a[2].as.ints, static_cast<int>(a[2].length));
  if (self->dl.ndim == 0) return copy_into(out, self);
  Tensor packed = Tensor::borrow(a[0].as.tensor), target = Tensor::borrow(r[0].as.tensor);
  auto contiguous = [](const lattis_tensor* like, Tensor* made) -> lattis_status {
    lattis_tensor* raw;
    if (lattis_status st =
            api().tensor_empty(like->dl.ndim, like->dl.shape, nullptr, like->dtype, device_of(like), &raw))
      return st;
    *made = Tensor::steal(raw);
    return LATTIS_OK;
  };
  if (!packed.contiguous()) {
    if (lattis_status st = contiguous(self, &packed)) return st;
    if (lattis_status st = copy_into(packed.get(), self)) return st;
  }
  if (!target.contiguous())
    if (lattis_status st = contiguous(out, &target)) return st;
  const int64_t item = itemsize(self), n = self->numel, k = (a[1].as.ints[0] % n + n) % n;
  char* to = target.data<char>();
  const char* from = packed.data<char>();
  if (lattis_status st = copy_bytes(to + k * item, from, (n - k) * item)) return st;
  if (lattis_status st = copy_bytes(to, from + (n - k) * item, k * item)) return st;
  return target.get() == out ? LATTIS_OK : copy_into(out, target.get());
}

// ---- triangles and diagonals
// -------------------------------------------------------------------------------------------

lattis_status triangle(const lattis_tensor* self, int64_t diagonal, bool lower, const lattis_tensor* out) {
  if (out->numel == 0) return LATTIS_OK;
  const int ndim = out->dl.ndim;
  const int64_t rows = out->dl.shape[ndim - 2], columns = out->dl.shape[ndim - 1], item = itemsize(out);
  const int64_t os = out->dl.strides[ndim - 1] * item, ss = self->dl.strides[ndim - 1] * item;
  CastLoop same = loops().cast[self->dtype][self->dtype];
  const char zero[16] = {};
  auto row_start = [&](const lattis_tensor* t, int64_t row) {
    int64_t offset = 0;
    for (int d = ndim - 2; d >= 0; d--) {
      offset += row % t->dl.shape[d] * t->dl.strides[d];
      row /= t->dl.shape[d];
    }
    return static_cast<char*>(t->dl.data) + offset * item;
  };
  auto some = [&](int64_t b, int64_t e) -> lattis_status {
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
    return LATTIS_OK;
  };
  const int64_t all = out->numel / columns;
  return out->numel < 2 * grain ? some(0, all) : parallel_for(0, all, std::max<int64_t>(grain / columns, 1), some);
}

lattis_status tril(lattis_frame*, const lattis_value* a, lattis_value* r) {
  return triangle(a[0].as.tensor, a[1].as.i, true, r[0].as.tensor);
}
lattis_status triu(lattis_frame*, const lattis_value* a, lattis_value* r) {
  return triangle(a[0].as.tensor, a[1].as.i, false, r[0].as.tensor);
}

// row, col, offset: the rows and the columns of a triangle's places, as two rows of out.
lattis_status triangle_indices(const lattis_value* a, bool lower, const lattis_tensor* out) {
  if (out->numel == 0) return LATTIS_OK;
  constexpr int64_t tile = 128;
  int64_t place[2][tile], filled = 0;
  const int64_t rows = a[0].as.i, columns = a[1].as.i, offset = a[2].as.i;
  const int64_t item = itemsize(out), step = out->dl.strides[1] * item;
  auto* to = static_cast<char*>(out->dl.data);
  CastLoop cast = loops().cast[LATTIS_INT64][out->dtype];
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
  return LATTIS_OK;
}

lattis_status tril_indices(lattis_frame*, const lattis_value* a, lattis_value* r) {
  return triangle_indices(a, true, r[0].as.tensor);
}
lattis_status triu_indices(lattis_frame*, const lattis_value* a, lattis_value* r) {
  return triangle_indices(a, false, r[0].as.tensor);
}

lattis_status fill_with(lattis_frame* f, const lattis_value& number, lattis_value* r) {
  const lattis_tensor* t = r[0].as.tensor;
  if (t->numel == 0) return LATTIS_OK;
  if (is_contiguous(t) && number.tag == LATTIS_INT && number.as.i == 0) {
    const int64_t bytes = t->numel * itemsize(t);
    auto* data = static_cast<char*>(t->dl.data);
    if (bytes < 2 * copy_grain) {
      std::memset(data, 0, bytes);
      return LATTIS_OK;
    }
    return parallel_for(0, bytes, copy_grain, [=](int64_t b, int64_t e) -> lattis_status {
      std::memset(data + b, 0, e - b);
      return LATTIS_OK;
    });
  }
  const lattis_value args[2] = {none(), number};
  return fill_kernel(f, args, r);
}

// self, offset, dim1, dim2
lattis_status diag_embed(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  const lattis_tensor *self = a[0].as.tensor, *out = r[0].as.tensor;
  if (lattis_status st = fill_with(f, value(0), r)) return st;
  if (self->numel == 0) return LATTIS_OK;
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

lattis_status eye(lattis_frame* f, const lattis_value*, lattis_value* r) {
  const lattis_tensor* t = r[0].as.tensor;
  if (lattis_status st = fill_with(f, value(0), r)) return st;
  const int64_t n = std::min(t->dl.shape[0], t->dl.shape[1]),
                step = (t->dl.strides[0] + t->dl.strides[1]) * itemsize(t);
  alignas(16) char one[16];
  store_number(value(1), t->dtype, one);
  loops().cast[t->dtype][t->dtype](n, static_cast<char*>(t->dl.data), step, one, 0);
  return LATTIS_OK;
}

// start, end, steps
lattis_status linspace(lattis_frame*, const lattis_value* a, lattis_value* r) {
  const lattis_tensor* t = r[0].as.tensor;
  const int64_t steps = t->numel, half = steps / 2, stride = t->dl.ndim ? t->dl.strides[0] * itemsize(t) : 0;
  const double start = as_double(a[0]), end = as_double(a[1]);
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  CastLoop cast = loops().cast[LATTIS_FLOAT64][t->dtype];
  auto* data = static_cast<char*>(t->dl.data);
  auto some = [&](int64_t b, int64_t e) -> lattis_status {
    constexpr int64_t tile = 256;
    double numbers[tile];
    for (; b < e; b += tile) {
      const int64_t n = std::min(tile, e - b);
      const int64_t up = steps == 1 ? n : std::clamp<int64_t>(half - b, 0, n);
      const auto first = static_cast<double>(b), rest = static_cast<double>(steps - 1 - b);
      for (int64_t k = 0; k < up; k++) numbers[k] = start + (first + static_cast<double>(static_cast<int>(k))) * step;
      for (int64_t k = up; k < n; k++) numbers[k] = end - (rest - static_cast<double>(static_cast<int>(k))) * step;
      cast(n, data + b * stride, stride, reinterpret_cast<char*>(numbers), 8);
    }
    return LATTIS_OK;
  };
  return steps <= grain ? some(0, steps) : parallel_for(0, steps, grain / 2, some);
}

lattis_status zeros(lattis_frame* f, const lattis_value*, lattis_value* r) { return fill_with(f, value(0), r); }
lattis_status ones(lattis_frame* f, const lattis_value*, lattis_value* r) { return fill_with(f, value(1), r); }
lattis_status full(lattis_frame* f, const lattis_value* a, lattis_value* r) { return fill_with(f, a[1], r); }

}  // namespace

void register_joining(Library& m) {
  m.impl("cat", "cpu", cat)
      .impl("concat", "cpu", cat)
      .impl("concatenate", "cpu", cat)
      .impl("stack", "cpu", stack)
      .impl("flip", "cpu", flip)
      .impl("roll", "cpu", roll)
      .impl("tril", "cpu", tril)
      .impl("triu", "cpu", triu)
      .impl("tril_indices", "cpu", tril_indices)
      .impl("triu_indices", "cpu", triu_indices)
      .impl("diag_embed", "cpu", diag_embed)
      .impl("eye", "cpu", eye)
      .impl("eye.m", "cpu", eye)
      .impl("linspace", "cpu", linspace)
      .impl("zeros", "cpu", zeros)
      .impl("zero_", "cpu", zeros)
      .impl("zeros_like", "cpu", zeros)
      .impl("ones", "cpu", ones)
      .impl("ones_like", "cpu", ones)
      .impl("full", "cpu", full)
      .impl("full_like", "cpu", full);
}

}  // namespace lattis::cpu
