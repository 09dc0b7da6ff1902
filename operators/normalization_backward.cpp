// Gradients of softmax and the norms, computed from saved results. Composites follow the formulas; half precision is
// computed in float32.
//
// Note [Output masks]  A norm has up to three gradients, and `output_mask` says which are wanted: of the input, the
//   weight and the bias. The others are none, and so is that of an absent weight, or of an absent bias where
//   backward gets the bias.
#include "operators/normalization.h"

namespace lamella::operators {
namespace {

void check_gradient(const char* name, const Tensor& gradient, const Tensor& of) {
  check_floating(name, gradient.dtype());
  check_shape(name, gradient, of.sizes());
}

bool asked(ArrayRef<bool> mask, size_t i) { return i < mask.size() && mask[i]; }

void like_input(Output& out, bool wanted, const Tensor& input) {
  out.set(input.sizes(), input.dtype());
  if (!wanted) out.absent();
}

void like_parameter(Output& out, bool wanted, const Tensor& parameter) {
  if (!wanted || !parameter.defined()) return out.absent();
  out.set(parameter.sizes(), parameter.dtype());
}

// ---- softmax --------------------------------------------------------------------------------------------------------

void infer_softmax_backward(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype,
                            Output out) {
  wrap_dim("dim", dim, output.dim());
  check_floating("output", output.dtype());
  check_gradient("grad_output", grad_output, output);
  check_floating("input_dtype", input_dtype);
  out.set(output.sizes(), input_dtype);
}

template <bool Log>
Tensor softmax_backward(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  const ScalarType t = wide_of(output.dtype());
  const Tensor y = as(output, t), g = as(grad_output, t);
  const Tensor x = Log ? g - y.exp() * g.sum(dim, true) : y * (g - (g * y).sum(dim, true));
  return as(x, input_dtype);
}

// ---- shared by the norms --------------------------------------------------------------------------------------------

// Returns the gradient of a norm's input, including its effect on the mean and the variance over `dims`.
Tensor through_statistics(const Tensor& g, const Tensor& normalized, const Tensor& scale, IntArrayRef dims,
                          bool centered) {
  Tensor x = g - normalized * (g * normalized).mean(dims, true);
  if (centered) x = x - g.mean(dims, true);
  return x * scale;
}

// Sums `g` over `dims` to the gradient of a weight or a bias, in its dtype.
Tensor of_parameter(const Tensor& g, IntArrayRef dims, ScalarType dtype) {
  return as(dims.empty() ? g : g.sum(dims), dtype);  // sum over an empty list would sum over all dimensions
}
Tensor of_parameter(bool wanted, const Tensor& parameter, const Tensor& g, IntArrayRef dims) {
  return wanted && parameter.defined() ? of_parameter(g, dims, parameter.dtype()) : Tensor();
}

// ---- layer and root-mean-square norms -------------------------------------------------------------------------------

// Checks statistics, one for each row.
void check_rows(const char* name, const Tensor& statistics, IntArrayRef rows) {
  check_floating(name, statistics.dtype());
  check_shape(name, statistics, rows);
}

DimVector first_dims(int64_t n) {
  DimVector dims;
  for (int64_t d = 0; d < n; d++) dims.push_back(d);
  return dims;
}

void infer_layer_norm_backward(const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape,
                               const Tensor& mean, const Tensor& rstd, const Tensor& weight, const Tensor& bias,
                               ArrayRef<bool> output_mask, Output dx, Output dw, Output db) {
  check_normalized(input, normalized_shape);
  check_gradient("grad_out", grad_out, input);
  const DimVector rows = row_sizes(input, normalized_shape.size());
  check_rows("mean", mean, rows);
  check_rows("rstd", rstd, rows);
  check_parameter("weight", weight, input, normalized_shape);
  check_parameter("bias", bias, input, normalized_shape);
  like_input(dx, asked(output_mask, 0), input);
  like_parameter(dw, asked(output_mask, 1), weight);
  like_parameter(db, asked(output_mask, 2), bias);
}

std::tuple<Tensor, Tensor, Tensor> native_layer_norm_backward(const Tensor& grad_out, const Tensor& input,
                                                              IntArrayRef normalized_shape, const Tensor& mean,
                                                              const Tensor& rstd, const Tensor& weight,
                                                              const Tensor& bias, ArrayRef<bool> output_mask) {
  const ScalarType t = wide_of(input.dtype());
  const Tensor x = as(input, t), g = as(grad_out, t), scale = as(rstd, t);
  const Tensor normalized = (x - as(mean, t)) * scale;
  const size_t n = normalized_shape.size();
  const DimVector rows = first_dims(x.dim() - static_cast<int64_t>(n));
  Tensor dx;
  if (asked(output_mask, 0)) {
    const Tensor weighted = weight.defined() ? g * as(weight, t) : g;
    dx = as(through_statistics(weighted, normalized, scale, last_dims(n), true), input.dtype());
  }
  const Tensor dw = of_parameter(asked(output_mask, 1), weight, g * normalized, rows);
  return {dx, dw, of_parameter(asked(output_mask, 2), bias, g, rows)};
}

void infer_rms_norm_backward(const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape,
                             const Tensor& rstd, const Tensor& weight, ArrayRef<bool> output_mask, Output dx,
                             Output dw) {
  check_normalized(input, normalized_shape);
  check_gradient("grad_out", grad_out, input);
  check_rows("rstd", rstd, row_sizes(input, normalized_shape.size()));
  check_parameter("weight", weight, input, normalized_shape);
  like_input(dx, asked(output_mask, 0), input);
  like_parameter(dw, asked(output_mask, 1), weight);
}

std::tuple<Tensor, Tensor> fused_rms_norm_backward(const Tensor& grad_out, const Tensor& input,
                                                   IntArrayRef normalized_shape, const Tensor& rstd,
                                                   const Tensor& weight, ArrayRef<bool> output_mask) {
  const ScalarType t = wide_of(input.dtype());
  const Tensor g = as(grad_out, t), scale = as(rstd, t), normalized = as(input, t) * scale;
  const size_t n = normalized_shape.size();
  Tensor dx;
  if (asked(output_mask, 0)) {
    const Tensor weighted = weight.defined() ? g * as(weight, t) : g;
    dx = as(through_statistics(weighted, normalized, scale, last_dims(n), false), input.dtype());
  }
  const DimVector rows = first_dims(input.dim() - static_cast<int64_t>(n));
  return {std::move(dx), of_parameter(asked(output_mask, 1), weight, g * normalized, rows)};
}

// ---- group and batch norm: a weight and a bias for each channel -----------------------------------------------------

// Returns the dtype of the bias's gradient, since backward does not get the bias: the weight's or, without one, the
// input's.
ScalarType bias_dtype(const Tensor& weight, const Tensor& input) {
  return weight.defined() ? weight.dtype() : input.dtype();
}

void infer_by_channel(Output& dw, Output& db, ArrayRef<bool> mask, const Tensor& input, const Tensor& weight,
                      int64_t channels) {
  like_parameter(dw, asked(mask, 1), weight);
  if (asked(mask, 2))
    db.set(channels, bias_dtype(weight, input));
  else
    db.absent();
}

void infer_group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                               const Tensor& weight, int64_t N, int64_t C, int64_t HxW, int64_t group,
                               ArrayRef<bool> output_mask, Output dx, Output dw, Output db) {
  check_floating("input", input.dtype());
  check_gradient("grad_out", grad_out, input);
  check_groups("group", group, C);
  check_volume({N, C, HxW}, input);
  check_rows("mean", mean, {N, group});
  check_rows("rstd", rstd, {N, group});
  check_parameter("weight", weight, input, C);
  like_input(dx, asked(output_mask, 0), input);
  infer_by_channel(dw, db, output_mask, input, weight, C);
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm_backward(const Tensor& grad_out, const Tensor& input,
                                                              const Tensor& mean, const Tensor& rstd,
                                                              const Tensor& weight, int64_t N, int64_t C, int64_t HxW,
                                                              int64_t group, ArrayRef<bool> output_mask) {
  const ScalarType t = wide_of(input.dtype());
  const DimVector by_group = {N, group, C / group * HxW}, by_place = {N, C, HxW};
  const Tensor x = as(input, t).reshape(by_group), g = as(grad_out, t).reshape(by_place);
  const Tensor center = as(mean, t).unsqueeze(-1), scale = as(rstd, t).unsqueeze(-1);
  const Tensor normalized = (x - center) * scale;
  Tensor dx, db;
  if (asked(output_mask, 0)) {
    const Tensor weighted = weight.defined() ? g * by_channel(as(weight, t), 3) : g;
    dx = through_statistics(weighted.reshape(by_group), normalized, scale, {-1}, true);
    dx = as(dx.reshape(input.sizes()), input.dtype());
  }
  const Tensor dw = of_parameter(asked(output_mask, 1), weight, g * normalized.reshape(by_place), {0, 2});
  if (asked(output_mask, 2)) db = of_parameter(g, {0, 2}, bias_dtype(weight, input));
  return {dx, dw, db};
}

void infer_batch_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& weight,
                               const Tensor& running_mean, const Tensor& running_var, const Tensor& save_mean,
                               const Tensor& save_invstd, bool train, double /*eps*/, ArrayRef<bool> output_mask,
                               Output dx, Output dw, Output db) {
  check_channels(input);
  check_floating("input", input.dtype());
  check_gradient("grad_out", grad_out, input);
  const int64_t channels = input.size(1);
  check_parameter("weight", weight, input, channels);
  check_parameter("running_mean", running_mean, input, channels);
  check_parameter("running_var", running_var, input, channels);
  check_parameter("save_mean", save_mean, input, channels);
  check_parameter("save_invstd", save_invstd, input, channels);
  if (train) {
    LAMELLA_CHECK(save_mean.defined(), argument("save_mean"), ": needed when train=True");
    LAMELLA_CHECK(save_invstd.defined(), argument("save_invstd"), ": needed when train=True");
  } else {
    LAMELLA_CHECK(running_mean.defined(), argument("running_mean"), ": needed when train=False");
    LAMELLA_CHECK(running_var.defined(), argument("running_var"), ": needed when train=False");
  }
  dx.like(input);
  if (!asked(output_mask, 0)) dx.absent();
  infer_by_channel(dw, db, output_mask, input, weight, channels);
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm_backward(const Tensor& grad_out, const Tensor& input,
                                                              const Tensor& weight, const Tensor& running_mean,
                                                              const Tensor& running_var, const Tensor& save_mean,
                                                              const Tensor& save_invstd, bool train, double eps,
                                                              ArrayRef<bool> output_mask) {
  const ScalarType t = wide_of(input.dtype());
  const DimVector dims = all_but_channels(input.dim());
  auto beside = [&](const Tensor& v) { return by_channel(as(v, t), input.dim()); };
  const Tensor x = as(input, t), g = as(grad_out, t);
  const Tensor scale = train ? beside(save_invstd) : lamella::div(1, (beside(running_var) + eps).sqrt());
  const Tensor normalized = (x - beside(train ? save_mean : running_mean)) * scale;
  Tensor dx, db;
  if (asked(output_mask, 0)) {
    dx = train ? through_statistics(g, normalized, scale, dims, true) : g * scale;
    if (weight.defined()) dx = dx * beside(weight);
    dx = as(dx, input.dtype());
  }
  const Tensor dw = of_parameter(asked(output_mask, 1), weight, g * normalized, dims);
  if (asked(output_mask, 2)) db = of_parameter(g, dims, bias_dtype(weight, input));
  return {dx, dw, db};
}

}  // namespace

LAMELLA_FAMILY(normalization_backward, .category = "normalization", .forms = hidden | function) {
  return {
      {.schema = "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
       .dims = "keep",
       .infer = shape<infer_softmax_backward>,
       .composite = composite<softmax_backward<false>>,
       .doc = "The gradient of softmax, of its output."},
      {.schema =
           "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
       .dims = "keep",
       .infer = shape<infer_softmax_backward>,
       .composite = composite<softmax_backward<true>>,
       .doc = "The gradient of log_softmax, of its output."},
      {.schema = "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, "
                 "Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       .infer = shape<infer_layer_norm_backward>,
       .composite = composite<native_layer_norm_backward>,
       .doc = "The gradients of native_layer_norm: of its input, weight and bias, those that `output_mask` asks for."},
      {.schema = "_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? "
                 "weight, bool[2] output_mask) -> (Tensor, Tensor)",
       .infer = shape<infer_rms_norm_backward>,
       .composite = composite<fused_rms_norm_backward>,
       .doc = "The gradients of _fused_rms_norm: of its input and weight, those that `output_mask` asks for."},
      {.schema = "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, "
                 "SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       .dims = "n~ c~ ...~, n~ c~ ...~, m~ g~, m~ g~, c~ -> n~ c~ ...~, c~, c~",
       .infer = shape<infer_group_norm_backward>,
       .composite = composite<native_group_norm_backward>,
       .doc = "The gradients of native_group_norm: of its input, weight and bias, those that `output_mask` asks for."},
      {.schema = "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, "
                 "Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] "
                 "output_mask) -> (Tensor, Tensor, Tensor)",
       .dims = "n~ c ...~, n~ c ...~, c, c, c, c, c -> n~ c ...~, c, c",
       .infer = shape<infer_batch_norm_backward>,
       .composite = composite<native_batch_norm_backward>,
       .doc = "The gradients of batch_norm: of its input, weight and bias, those that `output_mask` asks for. In "
              "training by the saved statistics, else by the running ones."},
  };
}

}  // namespace lamella::operators
