// Rules that need more than a text: products of matrices, convolutions, and indices that are tensors.
#include "lowered.h"

namespace lamella::transforms {
namespace {

int64_t product(const Sizes& sizes, size_t begin, size_t end) {
  int64_t n = 1;
  for (size_t i = begin; i < end; i++) n *= sizes[i];
  return n;
}

// Joins the dimensions from `begin` to before `end` into one.
Tensor joined(const Tensor& t, size_t begin, size_t end) {
  const Sizes from = t.sizes().vec();
  Sizes to(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(begin));
  to.push_back(product(from, begin, end));
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(end), from.end());
  return t.reshape(to);
}

// Divides dimension `at` into `outer` times the rest.
Tensor divided(const Tensor& t, size_t at, int64_t outer) {
  Sizes sizes = t.sizes().vec();
  if (outer) sizes[at] /= outer;
  sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), outer);
  return t.reshape(sizes);
}

Sizes ints_of(const lamella_value& v) { return {v.as.ints, v.as.ints + v.length}; }

}  // namespace

// ---- products of matrices -----------------------------------------------------------------------------------------------

// A vector becomes a matrix of one row or one column.
bool serve_matmul(Call& c) {
  if (c.by_dims()) return true;
  const Operand *a = c.operand(0), *b = c.operand(1);
  const bool row = a->ndim == 1, column = b->ndim == 1;
  if (a->ndim == 0 || b->ndim == 0 || c.plan.form != LAMELLA_FUNCTIONAL_FORM) return false;
  const std::string name = c.name();
  const int rows = name == "bmm" ? 3 : name == "dot" ? 1 : name == "mm" || name == "mv" ? 2 : a->ndim;
  const int columns = name == "bmm" ? 3 : name == "mm" ? 2 : name == "mv" || name == "dot" ? 1 : b->ndim;
  LAMELLA_CHECK(a->ndim == rows && b->ndim == columns, "vmap: ", name, ": expected samples of ", rows, " and ", columns,
                " dimensions, got ", a->ndim, " and ", b->ndim);
  const auto as_matrix = [&](const Operand& o, bool vector, int64_t dim) {
    Operand m = o;
    if (vector) {
      m.tensor = o.tensor.unsqueeze(dim);
      m.ndim++;
    }
    return m;
  };
  const Operand left = as_matrix(*a, row, -2), right = as_matrix(*b, column, -1);
  const int ndim = std::max(left.ndim, right.ndim);
  Tensor out = with_dims(left, ndim).matmul(with_dims(right, ndim));
  if (column) out = out.squeeze(-1);
  if (row) out = out.squeeze(column ? -1 : -2);
  c.give(0, out);
  return true;
}

// ---- convolutions -------------------------------------------------------------------------------------------------------

// With weights that all samples share, the samples are further images. With weights of its own, each sample is a group
// of channels, beside the groups that the convolution has.
bool serve_convolution(Call& c) {
  constexpr int groups =
      6;  // in all three operators, as are the first three arguments: two tensors and a third one or sizes
  if (c.size() == 0) return false;
  const std::string name = c.name();
  const bool to_input = name == "_convolution_backward_input", to_weight = name == "_convolution_backward_weight";
  const int64_t n = c.size();
  const Operand *a = c.operand(0), *b = c.operand(1), *bias = to_input || to_weight ? nullptr : c.operand(2);
  Lowered on(c);
  const auto images = [&](const Operand& o) { return joined(o.tensor, 0, 2); };
  const auto channels = [&](const Operand& o) { return joined(with_batch(o, n, o.ndim).movedim(0, 1), 1, 3); };
  const auto filters = [&](const Operand& o) { return joined(with_batch(o, n, o.ndim), 0, 2); };
  Sizes sizes = to_input || to_weight ? ints_of(c.argument(2)) : Sizes();
  if (!to_weight && !b->batched && !(bias && bias->batched)) {
    on.tensor(*a, images(*a));
    if (to_input) {
      sizes[0] *= n;
      on.ints(2, sizes);
    }
    on.run(c.frame()->op);
    c.give(0, divided(on.result(0), 0, n));
    return true;
  }
  on.tensor(*a, channels(*a));
  on.tensor(*b, to_weight ? channels(*b) : filters(*b));
  if (bias) on.tensor(*bias, filters(*bias));
  if (to_input || to_weight) {
    sizes[to_input ? 1 : 0] *= n;
    on.ints(2, sizes);
  }
  on.integer(groups, c.argument(groups).as.i * n);
  on.run(c.frame()->op);
  if (to_weight)
    c.give(0, divided(on.result(0), 0, n));
  else
    c.give(0, divided(on.result(0), 1, n), 1);
  return true;
}

// ---- resampling -------------------------------------------------------------------------------------------------------------

// The samples are further images, and the sizes of the input say so.
bool serve_resampled(Call& c) {
  const int at = argument_named(c.frame()->op, "input_size");
  if (at < 0 || c.plan.form != LAMELLA_FUNCTIONAL_FORM) return false;
  Lowered on(c);
  on.tensor(*c.operand(0), joined(c.operand(0)->tensor, 0, 2));
  Sizes sizes = ints_of(c.argument(at));
  sizes[0] *= c.size();
  on.ints(at, sizes);
  on.run(c.frame()->op);
  c.give(0, divided(on.result(0), 0, c.size()));
  return true;
}

// ---- attention ----------------------------------------------------------------------------------------------------------

// The samples are further entries of the first dimension. Tensors have four dimensions, (batch, heads, length, width), or
// three without the width; the mask may have fewer.
bool serve_attention(Call& c) {
  if (c.size() == 0) return false;
  int64_t n = 1;
  for (const Operand& o : c.operands())
    if (o.ndim == 4 && o.argument < 3) n = std::max(n, o.given->dl.shape[0]);
  Lowered on(c);
  for (const Operand& o : c.operands()) {
    const bool is_mask = std::string_view(api().operator_argument(c.frame()->op, o.argument)->name) == "attn_mask";
    if (is_mask && !o.batched && o.ndim < 4) continue;  // one mask for all
    const Tensor t = with_batch(o, c.size(), is_mask ? 4 : o.ndim);
    Sizes sizes = t.sizes().vec();
    if (sizes.size() < 3) return false;
    sizes[1] = n;
    on.tensor(o, joined(t.expand(sizes), 0, 2));
  }
  on.run(c.frame()->op);
  for (int i = 0; i < c.frame()->num_rets; i++)
    if (on.result(i).defined()) c.give(i, divided(on.result(i), 0, c.size()));
  return true;
}

// ---- stacks, fills and casts ----------------------------------------------------------------------------------------

bool serve_stack(Call& c) {
  const int64_t n = c.operands().empty() ? 0 : c.operands()[0].ndim + 1, dim = c.argument(1).as.i;
  for (const Operand& o : c.operands())
    if (o.ndim != n - 1) return false;
  if (c.plan.form != LAMELLA_FUNCTIONAL_FORM || dim < -n || dim >= n) return false;
  std::vector<Tensor> all;
  for (const Operand& o : c.operands()) all.push_back(with_batch(o, c.size(), o.ndim));
  c.give(0, lamella::stack(all, (dim < 0 ? dim + n : dim) + 1));
  return true;
}

bool serve_to_other(Call& c) {
  const Operand *self = c.operand(0), *other = c.operand(1);
  if (c.plan.form != LAMELLA_FUNCTIONAL_FORM) return false;
  const Tensor t = with_batch(*self, c.size(), self->ndim);
  c.give(0, t.to(other->tensor.device(), other->tensor.dtype()));
  return true;
}

// A batch of values is no zero-dim tensor, so that it is copied.
bool serve_fill(Call& c) {
  const Operand *self = c.operand(0), *value = c.operand(1);
  if (c.plan.form == LAMELLA_OUT_FORM || value->ndim != 0) return false;
  if (c.plan.written >= 0) {
    self->tensor.copy_(with_dims(*value, self->ndim));
    c.give_written();
  } else {
    const Tensor out = lamella::empty_like(with_batch(*self, c.size(), self->ndim));
    out.copy_(with_dims(*value, self->ndim));
    c.give(0, out);
  }
  return true;
}

bool serve_masked_fill(Call& c) {
  const Operand *self = c.operand(0), *mask = c.operand(1), *value = c.operand(2);
  if (c.plan.form == LAMELLA_OUT_FORM || value->ndim != 0) return false;
  const int ndim = std::max(self->ndim, mask->ndim);
  const Tensor made = lamella::where(with_dims(*mask, ndim), with_dims(*value, ndim).to(self->tensor.dtype()),
                                     with_batch(*self, c.size(), ndim));
  if (c.plan.written >= 0) {
    self->tensor.copy_(made);
    c.give_written();
  } else {
    c.give(0, made);
  }
  return true;
}

// ---- indices that are tensors ---------------------------------------------------------------------------------------------

// index(self, indices) and index_put_(self, indices, values). Indices of samples get the batch's own index in front, so
// that sample i reads and writes its own part.
bool serve_index(Call& c) {
  const Operand* self = c.operand(0);
  const bool puts = c.plan.tensors.size() > 2;
  if (c.plan.form != LAMELLA_FUNCTIONAL_FORM) return false;
  if (puts && c.plan.written < 0) return false;  // by its composite, which calls index_put_
  const lamella_value& list = c.argument(1);
  std::vector<Tensor> indices(list.length);
  int most = 0;
  bool batched = false;
  for (const Operand& o : c.operands()) {
    if (o.argument != 1) continue;
    if (o.tensor.dtype() == kBool || o.tensor.dtype() == kByte) {
      LAMELLA_CHECK(!o.batched, "vmap: ", c.name(),
                    ": a mask that differs between samples selects numbers of elements that may differ, too; use "
                    "lamella.where");
      return false;
    }
    most = std::max(most, o.ndim);
    batched |= o.batched;
  }
  for (const Operand& o : c.operands())
    if (o.argument == 1) indices[static_cast<size_t>(o.element)] = o.batched ? with_dims(o, most) : o.tensor;
  // The place of the indices' dimensions in a sample's result: where the first index is if indices lie side by side.
  int first = -1, last = -1, count = 0;
  for (size_t i = 0; i < indices.size(); i++) {
    if (!indices[i].defined()) continue;
    if (first < 0) first = static_cast<int>(i);
    last = static_cast<int>(i);
    count++;
  }
  if (!count) return false;
  const int before = last - first + 1 == count ? first : 0;
  if (!puts && !self->batched) {  // the batch is one more dimension of the indices
    c.give(0, self->tensor.index(indices), before);
    return true;
  }
  if (!self->batched) return false;
  // All samples: the batch's own index in front makes the dimensions of the indices the first ones.
  const Tensor own =
      lamella::arange(c.size(), TensorOptions(kLong).device(self->tensor.device())).reshape(Sizes{c.size()}).view([&] {
        Sizes s(static_cast<size_t>(most) + 1, 1);
        s[0] = c.size();
        return s;
      }());
  std::vector<Tensor> all{own};
  all.insert(all.end(), indices.begin(), indices.end());
  const auto moved = [&](const Tensor& t, bool back) {  // [B, indices, before, after] from [B, before, indices, after]
    if (!before || !most) return t;
    Sizes from, to;
    for (int i = 0; i < before; i++) {
      from.push_back(1 + i);
      to.push_back(1 + most + i);
    }
    return back ? t.movedim(to, from) : t.movedim(from, to);
  };
  if (!puts) {
    if (batched || before == 0)
      c.give(0, moved(self->tensor.index(all), true));
    else {
      all[0] = Tensor();
      c.give(0, self->tensor.index(all));
    }
    return true;
  }
  // The values, broadcast to the elements that a sample's indices name.
  const Operand* values = c.operand(2);
  Sizes shape = self->tensor.index(all).sizes().vec();
  Sizes sample(shape.begin() + 1, shape.end());
  std::rotate(sample.begin(), sample.begin() + most, sample.begin() + most + before);
  sample.insert(sample.begin(), c.size());
  const Tensor v = moved(with_batch(*values, c.size(), static_cast<int>(sample.size()) - 1).expand(sample), false);
  self->tensor.index_put_(TensorList(all), v, c.argument(3).as.i != 0);
  c.give_written();
  return true;
}

}  // namespace lamella::transforms
