// Rows and slices that a vector of indices along one dimension picks or writes.
#include <memory>

#include "backends/cpu/gather.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace lamella::cpu {

lamella_status whole_rows(lamella_frame* f, const char* name, int64_t n, const lamella_tensor* out,
                          const lamella_tensor* self, const lamella_tensor* index, int64_t is, const Places& places,
                          int dim) {
  const int64_t bytes = out->numel * itemsize(out) / n;
  bool bad = false;
  auto some = [&](int64_t b, int64_t e) -> lamella_status {
    if (!index_loops().rows(e - b, static_cast<char*>(out->dl.data) + b * bytes, bytes,
                            static_cast<const char*>(self->dl.data), static_cast<const char*>(index->dl.data) + b * is,
                            is, places))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
    return LAMELLA_OK;
  };
  const lamella_status st =
      n * bytes < (1 << 18) ? some(0, n) : parallel_for(0, n, std::max<int64_t>((1 << 17) / bytes, 1), some);
  if (st) return st;
  return bad ? bad_index(f, name, index, places, dim) : LAMELLA_OK;
}

namespace {

// Picks slices for index_select and embedding, by one vector or tensor of indices along one dimension.
lamella_status rows_of(lamella_frame* f, const char* name, const lamella_tensor* self, int dim, lamella_tensor* indices,
                       bool vector, const lamella_tensor* out) {
  if (out->numel == 0 && indices->numel == 0) return LAMELLA_OK;
  Operand index = as_int64(indices);
  const bool scalar = self->dl.ndim == 0;
  Places places = {scalar ? 1 : self->dl.shape[dim], 0, scalar ? 0 : self->dl.strides[dim] * itemsize(self)};
  if (out->numel == 0) return check_indices(f, name, index.get(), places, dim);
  if (dim > 0 && out->numel > index->numel)  // the index is read several times
    if (lamella_status st = resolve(f, name, dim, &index, &places)) return st;
  int64_t by_index[LAMELLA_MAX_DIMS], by_self[LAMELLA_MAX_DIMS];
  const int width = vector ? (scalar ? 0 : 1) : index->dl.ndim;
  for (int d = 0; d < out->dl.ndim; d++) {
    const bool indexed = d >= dim && d < dim + width;
    const int from = d < dim ? d : d - width + 1;
    by_index[d] = !indexed || out->dl.shape[d] == 1 ? 0 : index->dl.strides[vector ? 0 : d - dim] * 8;
    by_self[d] = indexed || out->dl.shape[d] == 1 ? 0 : self->dl.strides[from] * itemsize(self);
  }
  auto loop = index_loops().pick[log2_item(itemsize(out))];
  if (dim == 0 && is_contiguous(out) && is_contiguous(self) &&
      (vector ? index->dl.ndim == 1 : is_contiguous(index.get()))) {
    const int64_t n = index->numel, is = vector ? index->dl.strides[0] * 8 : 8;
    return whole_rows(f, name, n, out, self, index.get(), is, places, dim);
  }
  Strips s(out);
  s.add(index->dl.data, by_index);
  s.add(self->dl.data, by_self);
  bool bad = false;
  auto body = [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    if (!loop({n, at[2], step[2], at[1], step[1], at[0], step[0]}, places))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
    return LAMELLA_OK;
  };
  if (lamella_status st = s.run(grain, body)) return st;
  return bad ? bad_index(f, name, index.get(), places, dim) : LAMELLA_OK;
}

Status index_select(lamella_frame* f, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  return rows_of(f, "index", self.get(), wrapped_dim(dim, self.dim()), index.get(), true, out.get());
}

Status embedding(lamella_frame* f, const Tensor& weight, const Tensor& indices, int64_t, bool, bool,
                 const Tensor& out) {
  return rows_of(f, "indices", weight.get(), 0, indices.get(), false, out.get());
}

// Writes zeros, past the caches if address and size are multiples of 16. Most rows of a large table get no gradient,
// and a store past the caches does not read their memory first.
void clear_past_caches(char* to, int64_t bytes) {
#ifdef __SSE2__
  if ((reinterpret_cast<uintptr_t>(to) | static_cast<uintptr_t>(bytes)) % 16 == 0) {
    for (int64_t k = 0; k < bytes; k += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(to + k), _mm_setzero_si128());
    return;
  }
#endif
  std::memset(to, 0, bytes);
}

// Orders the stores past the caches before later stores, which other threads may read.
void fence() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

// Computes the gradient of a table: each row is the sum of the gradients of its copies, in the order of the indices.
// The row `padding` gets zeros. With `scaled`, a row's sum is divided by the number of its copies.
template <class T>
lamella_status add_rows(const Operand& g, const int64_t* index, int64_t count, int64_t rows, int64_t padding,
                        bool scaled, int64_t width, T* to) {
  const FoldLoop add = index_loops().fold[INDEX_SUM][sizeof(T) == 8 ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32];
  // `order` holds the numbers of the indices, sorted by row. first[r] is at first the end of row r's part of `order`,
  // and its beginning once the part is filled.
  const std::unique_ptr<int64_t[]> places(new int64_t[rows + 1 + count]());
  int64_t *first = places.get(), *order = first + rows + 1;
  for (int64_t i = 0; i < count; i++) first[index[i]]++;
  for (int64_t row = 1; row <= rows; row++) first[row] += first[row - 1];
  for (int64_t i = count - 1; i >= 0; i--) order[--first[index[i]]] = i;
  constexpr int64_t cached = 8 << 20;  // bytes that a later reader may find in a cache
  const bool past = rows * width * static_cast<int64_t>(sizeof(T)) > cached;
  auto some = [&](int64_t b, int64_t e) -> lamella_status {
    static constexpr int64_t here = 0;
    for (int64_t row = b; row < e; row++) {
      const int64_t n = first[row + 1] - first[row], *of = order + first[row];
      T* sum = to + row * width;
      if (n == 0 || row == padding) {
        past ? clear_past_caches(reinterpret_cast<char*>(sum), width * static_cast<int64_t>(sizeof(T)))
             : static_cast<void>(std::fill(sum, sum + width, T(0)));
        continue;
      }
      std::copy_n(g.data<T>() + of[0] * width, width, sum);
      for (int64_t k = 1; k < n; k++)
        add({width, reinterpret_cast<char*>(sum), sizeof(T), reinterpret_cast<const char*>(&here), 0,
             reinterpret_cast<char*>(const_cast<T*>(g.data<T>() + of[k] * width)), sizeof(T)},
            Places::offsets());
      if (scaled)
        for (int64_t k = 0; k < width; k++) sum[k] /= static_cast<T>(n);
    }
    if (past) fence();
    return LAMELLA_OK;
  };
  const int64_t least = std::max<int64_t>(rows / 16, 1);
  return (count + rows) * width <= grain ? some(0, rows) : parallel_for(0, rows, least, some);
}

Status embedding_dense_backward(lamella_frame* f, const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                                int64_t padding_idx, bool scale_grad_by_freq, const Tensor& out) {
  const int work = work_dtype(out.get());
  const Operand index(indices.get(), LAMELLA_INT64);
  if (lamella_status st = check_indices(f, "indices", index.get(), {num_weights, 0, 0}, 0)) return st;
  const Operand g(grad_output.get(), work);
  const Result to(out.get(), work);
  const int64_t count = index->numel, width = out.get()->dl.shape[1];
  auto add = [&](auto* table) {
    return add_rows(g, index.data<int64_t>(), count, num_weights, padding_idx, scale_grad_by_freq, width, table);
  };
  lamella_status st = work == LAMELLA_FLOAT64 ? add(to.data<double>()) : add(to.data<float>());
  return st ? st : to.finish();
}

// ---- rows written by a vector of indices

// Returns whether the rows of a source have no gaps, by its byte strides.
bool packed_rows(const lamella_tensor* self, const int64_t* strides) {
  int64_t step = itemsize(self);
  for (int d = self->dl.ndim - 1; d > 0; d--) {
    if (self->dl.shape[d] != 1 && strides[d] != step) return false;
    step *= self->dl.shape[d];
  }
  return true;
}

// Writes source[…, i, …] to self[…, index[i], …]. `from` are the source's strides in bytes; its shape is that of self
// except along dim.
lamella_status write_slices(lamella_frame* f, const lamella_tensor* self, int64_t dim, lamella_tensor* indices,
                            char* source, const int64_t* from, bool wrap, Put loop) {
  const Operand index = as_int64(indices);
  if (index->numel == 0) return LAMELLA_OK;
  const bool scalar = self->dl.ndim == 0;
  const int d = wrapped_dim(dim, self->dl.ndim);
  const int64_t n = scalar ? 1 : self->dl.shape[d];
  const Places places = {n, wrap ? n : 0, scalar ? 0 : self->dl.strides[d] * itemsize(self)};
  if (lamella_status st = check_indices(f, "index", index.get(), places, d)) return st;
  int64_t sizes[LAMELLA_MAX_DIMS], by_index[LAMELLA_MAX_DIMS] = {}, by_self[LAMELLA_MAX_DIMS];
  const int64_t width = n ? self->numel / n : 0, item = itemsize(self), count = index->numel;
  if (!scalar && d == 0 && width >= 64 && is_contiguous(self) && packed_rows(self, from)) {
    // For whole rows of memory, each thread has some rows of self and writes the source's rows for them in order.
    const auto* at = static_cast<const char*>(index->dl.data);
    const int64_t is = index->dl.ndim ? index->dl.strides[0] * 8 : 0;
    auto some = [&](int64_t b, int64_t e) -> lamella_status {
      for (int64_t i = 0; i < count; i++) {
        const int64_t raw = *reinterpret_cast<const int64_t*>(at + i * is), to = raw < 0 ? raw + n : raw;
        if (b <= to && to < e)
          loop({width, static_cast<char*>(self->dl.data), item, at + i * is, 0, source + i * from[0], item}, places);
      }
      return LAMELLA_OK;
    };
    return count * width <= grain ? some(0, n) : parallel_for(0, n, std::max<int64_t>(n / 16, 1), some);
  }
  std::copy(self->dl.shape, self->dl.shape + self->dl.ndim, sizes);
  byte_strides(self, by_self);
  if (!scalar) {
    sizes[d] = index->numel;
    by_index[d] = index->dl.ndim ? index->dl.strides[0] * 8 : 0;
    by_self[d] = 0;
  }
  Strips s(self->dl.ndim, sizes);
  s.add(index->dl.data, by_index);
  s.add(self->dl.data, by_self);
  s.add(source, from);
  constexpr int64_t together = 256;  // elements of one row, which are written one after another
  return s.run_apart(uint64_t{1} << d, grain, together,
                     [&](int64_t k, char* const* at, const int64_t* step) -> lamella_status {
                       loop({k, at[1], step[1], at[0], step[0], at[2], step[2]}, places);
                       return LAMELLA_OK;
                     });
}

Status index_copy_(lamella_frame* f, const Tensor&, int64_t dim, const Tensor& index, const Tensor& source,
                   const Tensor& out) {
  int64_t from[LAMELLA_MAX_DIMS] = {};
  byte_strides(source.get(), from);
  return write_slices(f, out.get(), dim, index.get(), static_cast<char*>(source.data_ptr()), from, false,
                      put_of(out.get()));
}

Status index_add_(lamella_frame* f, const Tensor&, int64_t dim, const Tensor& index, const Tensor& source,
                  const Scalar& alpha, const Tensor& out) {
  static const lamella_operator* mul = api().find_operator("aten::mul", "Tensor");
  const lamella_tensor* added = source.get();
  TensorRef scaled;
  if (alpha.isComplex() || alpha.to<double>() != 1) {
    const Tensor number = allocate({}, added->dtype, device_of(added));
    store_number(alpha.value(), added->dtype, number.get()->dl.data);
    const lamella_value args[2] = {value(source), value(number)};
    lamella_value product = none();
    if (lamella_status st = api().call(f, mul, args, 2, &product, 1)) return st;
    scaled = TensorRef::steal(product.as.tensor);
    added = scaled.get();
  }
  int64_t from[LAMELLA_MAX_DIMS] = {};
  byte_strides(added, from);
  return write_slices(f, out.get(), dim, index.get(), static_cast<char*>(added->dl.data), from, false,
                      index_loops().fold[INDEX_SUM][added->dtype]);
}

// `store` writes a number, or the element of a zero-dim tensor, as an element of the dtype.
void store(const Scalar& x, int dtype, char* to) { store_number(x.value(), dtype, to); }
void store(const Tensor& x, int dtype, char* to) {
  loops().cast[x.get()->dtype][dtype](1, to, 0, static_cast<const char*>(x.data_ptr()), 0);
}

template <class Value>
Status index_fill_(lamella_frame* f, const Tensor&, int64_t dim, const Tensor& index, const Value& value,
                   const Tensor& out) {
  alignas(16) char number[16];
  store(value, out.get()->dtype, number);
  const int64_t still[LAMELLA_MAX_DIMS] = {};
  return write_slices(f, out.get(), dim, index.get(), number, still, true, put_of(out.get()));
}

// ---- the same operators, writing into a copy of self

Status index_copy(lamella_frame* f, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                  const Tensor& out) {
  if (lamella_status st = copy_into(out.get(), self.get())) return st;
  return index_copy_(f, self, dim, index, source, out);
}
Status index_add(lamella_frame* f, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha, const Tensor& out) {
  if (lamella_status st = copy_into(out.get(), self.get())) return st;
  return index_add_(f, self, dim, index, source, alpha, out);
}
template <class Value>
Status index_fill(lamella_frame* f, const Tensor& self, int64_t dim, const Tensor& index, const Value& value,
                  const Tensor& out) {
  if (lamella_status st = copy_into(out.get(), self.get())) return st;
  return index_fill_(f, self, dim, index, value, out);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  m.impl<index_add_>("index_add_", "cpu", LAMELLA_KERNEL_CALLS_OPERATORS);
  m.impl<index_add>("index_add", "cpu", LAMELLA_KERNEL_CALLS_OPERATORS);
  add<index_copy_>(m, "index_copy_");
  add<index_copy>(m, "index_copy");
  add<index_fill_<Scalar>>(m, "index_fill_.int_Scalar");
  add<index_fill_<Tensor>>(m, "index_fill_.int_Tensor");
  add<index_fill<Scalar>>(m, "index_fill.int_Scalar");
  add<index_fill<Tensor>>(m, "index_fill.int_Tensor");
  add<index_select>(m, "index_select");
  add<embedding>(m, "embedding");
  add<embedding_dense_backward>(m, "embedding_dense_backward");
}

}  // namespace lamella::cpu
