// Operators with one index for each element or row, along one dimension: gather, scatter, index_add, embeddings and so
// on.
#include "scattering.h"
#include "layout.h"

namespace cuda {
namespace {

int32_t index_fault(const char* op, const char* argument = "index") {
  return add_fault(LAMELLA_INDEX_ERROR,
                   text(op, ": argument '", argument, "': index {value} is out of range for size {size}"));
}

// The dimension of self along which an index moves. step() is a stride of self, but 0 along that dimension.
struct Along {
  int dim;
  int64_t size, stride;
  Along(const lamella_tensor* self, int64_t d)
      : dim(wrapped_dim(d, self->dl.ndim)), size(size_along(self, dim)), stride(stride_along(self, dim)) {}
  int64_t step(const lamella_tensor* self, int d) const { return d == dim || !self->dl.ndim ? 0 : self->dl.strides[d]; }
};

int64_t step_of(const lamella_tensor* t, int d) { return t->dl.ndim ? t->dl.strides[d] : 0; }

lamella_status gather_by(lamella::Dimensions<3>& dims, const lamella_tensor* out, const lamella_tensor* index,
                         const lamella_tensor* self, const Along& along, bool wraps, int32_t code) {
  static Kernels kernels("indexing.cu");
  dims.join();
  const int item = item_of(self->dtype);
  Kernel& kernel = kernels.get({item}, [&] { return text("gather<", word_name(item), ">"); });
  return launch(kernel, out, grid_for(out, dims.elements()), {256}, 0, walk_of<3>(dims), out->dl.data, index->dl.data,
                self->dl.data, along.size, along.stride, wraps, fault_of(out), code);
}

}  // namespace

// Computes out[o, j, :] = self[o, index[j], :], all contiguous, with rows of `width` elements.
lamella_status gather_rows(const lamella_tensor* out, const lamella_tensor* index, const lamella_tensor* self,
                           int64_t outer, int64_t size, int64_t width, bool wraps, int32_t code) {
  static Kernels kernels("indexing.cu");
  if (!out->numel) return LAMELLA_OK;
  const int item = item_of(self->dtype), word = item * pack_width(item, width, {out->dl.data, self->dl.data}, 16);
  Kernel& kernel = kernels.get({word}, [&] { return text("gather_rows<", word_name(word), ">"); });
  const int64_t packs = width * item / word, count = index->numel;
  return launch(kernel, out, grid_for(out, outer * count * packs), {256}, 0, out->dl.data, index->dl.data,
                self->dl.data, outer, count, size, packs, wraps, fault_of(out), code);
}

namespace {

Status gather(const Tensor& self, int64_t dim, const Tensor& index, bool, const Tensor& out) {
  static const int32_t code = index_fault("gather");
  if (out.numel() == 0) return LAMELLA_OK;
  const Operand at(index.get(), LAMELLA_INT64, true);
  const lamella_tensor *x = self.get(), *i = at.get(), *to = out.get();
  const Along along(x, dim);
  lamella::Dimensions<3> dims;
  for (int d = 0; d < i->dl.ndim; d++) dims.add(i->dl.shape[d], {step_of(to, d), i->dl.strides[d], along.step(x, d)});
  return gather_by(dims, to, i, x, along, false, code);
}

Status index_select(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  static const int32_t code = index_fault("index_select");
  if (out.numel() == 0) return LAMELLA_OK;
  const Operand at(index.get(), LAMELLA_INT64);
  const lamella_tensor *x = self.get(), *i = at.get(), *to = out.get();
  const Along along(x, dim);
  if (self.is_contiguous() && out.is_contiguous())
    return gather_rows(to, i, x, count_of(x, 0, along.dim), along.size, count_of(x, along.dim + 1, x->dl.ndim), false,
                       code);
  lamella::Dimensions<3> dims;
  for (int d = 0; d < to->dl.ndim; d++)
    dims.add(to->dl.shape[d], {to->dl.strides[d], d == along.dim ? 1 : 0, along.step(x, d)});
  return gather_by(dims, to, i, x, along, false, code);
}

Status take(const Tensor& self, const Tensor& index, const Tensor& out) {
  static const int32_t code = index_fault("take");
  if (out.numel() == 0) return LAMELLA_OK;
  const Operand x(self), at(index.get(), LAMELLA_INT64);
  const Result to(out);
  if (lamella_status st = gather_rows(to.get(), at.get(), x.get(), 1, x->numel, 1, true, code)) return st;
  return to.finish();
}

Status embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool, const Tensor& out) {
  static const int32_t code = index_fault("embedding", "indices");
  if (out.numel() == 0) return LAMELLA_OK;
  const Operand x(weight), at(indices.get(), LAMELLA_INT64);
  const Result to(out);
  if (lamella_status st = gather_rows(to.get(), at.get(), x.get(), 1, x->dl.shape[0], x->dl.shape[1], false, code))
    return st;
  return to.finish();
}

Status embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                                int64_t padding_idx, bool scale_grad_by_freq, const Tensor& out) {
  static const int32_t code = index_fault("embedding_dense_backward", "indices");
  static Kernels divisions("indexing.cu");
  const int dtype = scale_grad_by_freq ? wide_of(out.get()->dtype) : out.get()->dtype;
  const Result to(out.get(), dtype);
  const lamella_tensor* sums = to.get();
  if (lamella_status st = clear(sums)) return st;
  const int64_t width = out.size(1);
  if (indices.numel() && width) {
    const Operand at(indices.get(), LAMELLA_INT64), g(grad_output.get(), dtype);
    const int64_t count = at->numel, one = 1;
    const Tensor vector = view_of(at.get(), 1, &count, &one);
    const Targets t(sums, count, num_weights, width);
    if (lamella_status st = row_targets(t, vector.get(), 1, num_weights, false, padding_idx, code)) return st;
    Sorted order;
    if (lamella_status st = fold_rows(sums, t, Fold::sum, g.data(), 1, &order)) return st;
    if (scale_grad_by_freq) {
      Kernel& kernel = divisions.get({dtype, t.bytes},
                                     [&] { return text("divide_by_counts<", type_name(dtype), ", ", t.place(), ">"); });
      if (lamella_status st = launch(kernel, sums, grid_for(sums, t.count, 1), {128}, 0, order.keys.data_ptr(), t.count,
                                     sums->dl.data, width))
        return st;
    }
  }
  return to.finish();
}

// ---- writing --------------------------------------------------------------------------------------------------------

// Writes the places of elements along `dim` in a contiguous tensor to t.places.
lamella_status scatter_targets(const Targets& t, const lamella_tensor* self, int64_t dim, const lamella_tensor* index,
                               int32_t code) {
  static Kernels kernels("indexing.cu");
  const Along along(self, dim);
  lamella::Dimensions<2> dims;
  for (int d = 0; d < index->dl.ndim; d++) dims.add(index->dl.shape[d], {index->dl.strides[d], along.step(self, d)});
  dims.join();
  // The walk must go through the index in row-major order, in which the elements are numbered.
  Kernel& kernel = kernels.get({t.bytes == 8}, [&] { return text("scatter_places<", t.place(), ">"); });
  return launch(kernel, self, grid_for(self, t.count), {256}, 0, walk_of<2>(dims), index->dl.data, along.size,
                along.stride, t.places.data_ptr(), fault_of(self), code);
}

// Returns the part of src that the index covers, in plain layout.
Tensor covered(const Tensor& src, const lamella_tensor* index) {
  const lamella_tensor* s = src.get();
  int64_t strides[LAMELLA_MAX_DIMS];
  for (int d = 0; d < index->dl.ndim; d++) strides[d] = step_of(s, d);
  Tensor view = view_of(s, index->dl.ndim, index->dl.shape, strides);
  return view.is_contiguous() ? view : copy_of(view.get());
}

// Finds the places that the index names, and calls body(self, targets), which writes to them.
template <class Body>
lamella_status scatter_into(const Tensor& out, int64_t dim, const Tensor& index, int32_t code, Body body) {
  if (index.numel() == 0) return LAMELLA_OK;
  const Operand at(index.get(), LAMELLA_INT64, true);
  const Written self(out.get());
  const Targets t(self.get(), at->numel, self.get()->numel, 1);
  if (lamella_status st = scatter_targets(t, self.get(), dim, at.get(), code)) return st;
  if (lamella_status st = body(self.get(), t)) return st;
  return self.finish();
}

Status scatter_(const Tensor&, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  static const int32_t code = index_fault("scatter_");
  return scatter_into(out, dim, index, code, [&](const lamella_tensor* self, const Targets& t) {
    const Tensor from = covered(src, index.get());
    return put_rows(self, t, from.data_ptr(), false);
  });
}

Status scatter_value_(const Tensor&, int64_t dim, const Tensor& index, const Scalar& value, const Tensor& out) {
  static const int32_t code = index_fault("scatter_");
  return scatter_into(out, dim, index, code, [&](const lamella_tensor* self, const Targets& t) {
    const Tensor one = number_on(self, value, self->dtype);
    return put_rows(self, t, one.data_ptr(), true);
  });
}

Status scatter_add_(const Tensor&, int64_t dim, const Tensor& index, const Tensor& src, const Tensor& out) {
  static const int32_t code = index_fault("scatter_add_");
  return scatter_into(out, dim, index, code, [&](const lamella_tensor* self, const Targets& t) {
    const Tensor from = covered(src, index.get());
    return fold_rows(self, t, Fold::sum, from.data_ptr());
  });
}

// `reduce` is 'prod', 'amax' or 'amin'.
Status scatter_fold_(const Tensor&, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                     const Tensor& out) {
  static const int32_t code = index_fault("scatter_reduce_");
  const Fold how = reduce == "prod" ? Fold::product : reduce == "amax" ? Fold::largest : Fold::least;
  return scatter_into(out, dim, index, code, [&](const lamella_tensor* self, const Targets& t) {
    const Tensor from = covered(src, index.get());
    return fold_rows(self, t, how, from.data_ptr());
  });
}

// Finds the rows that the index names, and calls body(self, targets, src), which writes whole slices along `dim`.
template <class Body>
lamella_status rows_into(const Tensor& out, int64_t dim, const Tensor& index, const Tensor& source, int32_t code,
                         Body body) {
  if (index.numel() == 0 || out.numel() == 0) return LAMELLA_OK;
  const Operand at(index.get(), LAMELLA_INT64), from(source);
  const Written written(out.get());
  const lamella_tensor* self = written.get();
  const int d = wrapped_dim(dim, self->dl.ndim);
  const int64_t outer = count_of(self, 0, d), size = size_along(self, d), width = count_of(self, d + 1, self->dl.ndim);
  const Targets t(self, outer * at->numel, outer * size, width);
  if (lamella_status st = row_targets(t, at.get(), outer, size, false, -1, code)) return st;
  if (lamella_status st = body(self, t, from.data())) return st;
  return written.finish();
}

Status index_copy_(const Tensor&, int64_t dim, const Tensor& index, const Tensor& source, const Tensor& out) {
  static const int32_t code = index_fault("index_copy_");
  return rows_into(out, dim, index, source, code, [](const lamella_tensor* self, const Targets& t, const void* src) {
    return put_rows(self, t, src, false);
  });
}

Status index_add_(const Tensor&, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha,
                  const Tensor& out) {
  static const int32_t code = index_fault("index_add_");
  return rows_into(out, dim, index, source, code, [&](const lamella_tensor* self, const Targets& t, const void* src) {
    return fold_rows(self, t, Fold::sum, src, alpha);
  });
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<gather>(m, "gather");
  add<index_select>(m, "index_select");
  add<take>(m, "take");
  add<embedding>(m, "embedding");
  add<embedding_dense_backward>(m, "embedding_dense_backward");
  add<scatter_>(m, "scatter_.src");
  add<scatter_value_>(m, "scatter_.value");
  add<scatter_add_>(m, "scatter_add_");
  add<scatter_fold_>(m, "_scatter_fold_");
  add<index_copy_>(m, "index_copy_");
  add<index_add_>(m, "index_add_");
}

}  // namespace cuda
