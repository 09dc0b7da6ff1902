// Rows of a table whose gradient is sparse: an entry for each row that was picked.
#include "rules.h"

namespace lamella::sparse {
namespace {

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq) {
  return lamella::embedding(weight, indices, padding_idx, scale_grad_by_freq, false);
}

Tensor embedding_grad(const Tensor& grad, const Tensor& indices, int64_t rows, int64_t padding_idx, bool scale) {
  LAMELLA_CHECK(grad.dim() == indices.dim() + 1, "argument 'grad': shape ", grad.sizes(),
                " does not fit the indices, shape ", indices.sizes());
  Tensor at = indices.detach().reshape({-1}).to(kLong);
  Tensor values = indices.dim() ? grad.flatten(0, indices.dim() - 1) : grad.unsqueeze(0);
  if (padding_idx >= 0) {
    const Tensor kept = at.ne(padding_idx).nonzero().reshape({-1});
    at = at.index_select(0, kept);
    values = values.index_select(0, kept);
  }
  if (scale) {
    const Tensor counts = lamella::bincount(at, {}, rows).index_select(0, at);
    values = values / counts.to(values.dtype()).unsqueeze(1);
  }
  const int64_t size[] = {rows, grad.size(-1)};
  return coo_of(at.unsqueeze(0), values, IntArrayRef(size, 2), false);
}

}  // namespace

void register_tables(Library& m) {
  m.define("embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False) -> Tensor",
           nullptr, nullptr,
           "The rows of a table at indices, as aten::embedding, with a gradient of layout sparse_coo for the table.");
  m.impl("embedding", "composite", embedding);
  m.derivative("embedding",
               "weight: sparse::_embedding_grad(grad, indices, weight.shape[0], padding_idx, scale_grad_by_freq)");
  define_composite(m, "_embedding_grad(Tensor grad, Tensor indices, int rows, int padding_idx, bool scale) -> Tensor",
                   embedding_grad);
}

}  // namespace lamella::sparse
