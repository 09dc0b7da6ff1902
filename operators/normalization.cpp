// Softmax and the norms of neural networks. Composites call sums, extrema and arithmetic; half precision is computed in
// float32.
//
// Note [Running statistics]  Torch's batch_norm changes running_mean and running_var, but its schema does not declare
//   it. Here batch_norm is a composite, and the operator that it calls in training, _batch_norm_with_update, declares
//   both as written.
#include "operators/normalization.h"

namespace lamella::operators {

void check_shape(const char* name, const Tensor& t, IntArrayRef sizes) {
  LAMELLA_CHECK(!t.defined() || t.sizes() == sizes, argument(name), ": expected shape ", shape_text(sizes), ", got ",
                shape_text(t));
}

void check_parameter(const char* name, const Tensor& t, const Tensor& input, IntArrayRef sizes) {
  if (!t.defined()) return;
  check_shape(name, t, sizes);
  LAMELLA_CHECK(t.dtype() == input.dtype() || t.dtype() == wide_of(input.dtype()), argument(name), ": its dtype ",
                t.dtype(), " is not that of the input, ", input.dtype(), "; convert one with .to(...)");
}

void check_normalized(const Tensor& input, IntArrayRef normalized_shape) {
  const size_t n = normalized_shape.size();
  check_floating("input", input.dtype());
  LAMELLA_CHECK(n != 0, argument("normalized_shape"), ": expected at least one dimension, got none");
  LAMELLA_CHECK(n <= input.sizes().size() &&
                    std::equal(normalized_shape.begin(), normalized_shape.end(), input.sizes().end() - n),
                argument("normalized_shape"), ": ", shape_text(normalized_shape),
                " is not how the shape of the input ends, ", shape_text(input));
}

void check_channels(const Tensor& input) {
  LAMELLA_CHECK(input.dim() >= 2, argument("input"), ": expected (batch, channels, ...), got shape ",
                shape_text(input));
}

void check_groups(const char* name, int64_t groups, int64_t channels) {
  LAMELLA_CHECK(groups >= 1 && channels % groups == 0, argument(name), ": ", groups, " groups do not divide ", channels,
                " channels");
}

void check_volume(std::array<int64_t, 3> sizes, const Tensor& input) {
  LAMELLA_CHECK(sizes[0] >= 0 && sizes[1] >= 0 && sizes[2] >= 0 && sizes[0] * sizes[1] * sizes[2] == input.numel(),
                argument("N"), ": N * C * HxW, ", sizes[0], " * ", sizes[1], " * ", sizes[2],
                ", is not the number of elements of the input, shape ", shape_text(input));
}

DimVector row_sizes(const Tensor& input, size_t n) {
  DimVector sizes(input.sizes());
  std::fill(sizes.end() - n, sizes.end(), 1);
  return sizes;
}

DimVector last_dims(size_t n) {
  DimVector dims;
  for (auto d = -static_cast<int64_t>(n); d < 0; d++) dims.push_back(d);
  return dims;
}

DimVector all_but_channels(int64_t ndim) {
  DimVector dims = {0};
  for (int64_t d = 2; d < ndim; d++) dims.push_back(d);
  return dims;
}

Tensor by_channel(const Tensor& v, int64_t ndim) {
  if (!v.defined()) return v;
  DimVector sizes = {1, v.size(0)};
  for (int64_t d = 2; d < ndim; d++) sizes.push_back(1);
  return v.reshape(sizes);
}

namespace {

// ---- softmax --------------------------------------------------------------------------------------------------------

void infer_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Output out) {
  wrap_dim("dim", dim, self.dim());
  const ScalarType t = dtype.value_or(self.dtype());
  check_floating(dtype ? "dtype" : "self", t);
  out.set(self.sizes(), t);
}

template <bool Log>
Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  const ScalarType t = dtype.value_or(self.dtype());
  const Tensor x = as(as(self, t), wide_of(t));
  if (x.numel() == 0) return as(x, t).clone();
  const Tensor d = x - x.amax(dim, true), e = d.exp(), sum = e.sum(dim, true);
  return as(Log ? d - sum.log() : e / sum, t);
}

// ---- layer, group and root-mean-square norms ------------------------------------------------------------------------

void check_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias) {
  check_normalized(input, normalized_shape);
  check_parameter("weight", weight, input, normalized_shape);
  check_parameter("bias", bias, input, normalized_shape);
}

void infer_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias,
                      double /*eps*/, Output out, Output mean, Output scale) {
  check_layer_norm(input, normalized_shape, weight, bias);
  out.set(input.sizes(), input.dtype());
  const DimVector rows = row_sizes(input, normalized_shape.size());
  mean.set(rows, wide_of(input.dtype()));
  scale.set(rows, wide_of(input.dtype()));
}

// The shape rule for the result alone, without the statistics.
void infer_plain_layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias,
                            double /*eps*/, bool /*cudnn_enable*/, Output out) {
  check_layer_norm(input, normalized_shape, weight, bias);
  out.set(input.sizes(), input.dtype());
}

void infer_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                    std::optional<double> /*eps*/, Output out) {
  check_normalized(input, normalized_shape);
  check_parameter("weight", weight, input, normalized_shape);
  out.set(input.sizes(), input.dtype());
}

void infer_fused_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                          std::optional<double> eps, Output out, Output scale) {
  infer_rms_norm(input, normalized_shape, weight, eps, out);
  scale.set(row_sizes(input, normalized_shape.size()), wide_of(input.dtype()));
}

struct Normalized {
  Tensor centered, scale, mean;
};
Normalized normalize(const Tensor& x, IntArrayRef dims, double eps) {
  const Tensor mean = x.mean(dims, true), d = x - mean;
  return {d, lamella::div(1, ((d * d).mean(dims, true) + eps).sqrt()), mean};
}

Tensor scaled(Tensor y, const Tensor& weight, const Tensor& bias) {
  if (weight.defined()) y = y * as(weight, y.dtype());
  if (bias.defined()) y = y + as(bias, y.dtype());
  return y;
}

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                                                     const Tensor& weight, const Tensor& bias, double eps) {
  const Tensor x = as(input, wide_of(input.dtype()));
  const Normalized n = normalize(x, last_dims(normalized_shape.size()), eps);
  const Tensor y = scaled(n.centered * n.scale, weight, bias);
  return {as(y, input.dtype()), n.mean, n.scale};
}

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps, bool /*cudnn_enable*/) {
  return std::get<0>(lamella::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

std::tuple<Tensor, Tensor> fused_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                                          std::optional<double> eps) {
  const Tensor x = as(input, wide_of(input.dtype()));
  const double least = eps.value_or(x.dtype() == kDouble ? 0x1p-52 : 0x1p-23);
  const Tensor mean = (x * x).mean(last_dims(normalized_shape.size()), true);
  const Tensor scale = lamella::div(1, (mean + least).sqrt());
  return {as(scaled(x * scale, weight, Tensor()), input.dtype()), scale};
}

Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, std::optional<double> eps) {
  return std::get<0>(lamella::_fused_rms_norm(input, normalized_shape, weight, eps));
}

void infer_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t N, int64_t C, int64_t HxW,
                      int64_t group, double /*eps*/, Output out, Output mean, Output scale) {
  check_floating("input", input.dtype());
  check_groups("group", group, C);
  check_volume({N, C, HxW}, input);
  check_parameter("weight", weight, input, C);
  check_parameter("bias", bias, input, C);
  out.set(input.sizes(), input.dtype());
  mean.set({N, group}, wide_of(input.dtype()));
  scale.set({N, group}, wide_of(input.dtype()));
}

std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                     int64_t N, int64_t C, int64_t HxW, int64_t group, double eps) {
  const Tensor x = as(input, wide_of(input.dtype()));
  const int64_t length = group ? C / group * HxW : 0;
  const Normalized n = normalize(x.reshape({N, group, length}), {-1}, eps);
  Tensor y = (n.centered * n.scale).reshape(x.sizes());
  y = scaled(y, by_channel(weight, x.dim()), by_channel(bias, x.dim()));
  return {as(y, input.dtype()), n.mean.squeeze(-1), n.scale.squeeze(-1)};
}

void infer_plain_group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                            double /*eps*/, bool /*cudnn_enabled*/, Output out) {
  check_channels(input);
  const int64_t channels = input.size(1);
  check_groups("num_groups", num_groups, channels);
  check_floating("input", input.dtype());
  check_parameter("weight", weight, input, channels);
  check_parameter("bias", bias, input, channels);
  out.set(input.sizes(), input.dtype());
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps,
                  bool /*cudnn_enabled*/) {
  int64_t area = 1;
  for (int64_t d = 2; d < input.dim(); d++) area *= input.size(d);
  return std::get<0>(
      lamella::native_group_norm(input, weight, bias, input.size(0), input.size(1), area, num_groups, eps));
}

// ---- batch norm -----------------------------------------------------------------------------------------------------

void check_batch(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_channels(input);
  check_floating("input", input.dtype());
  check_parameter("weight", weight, input, input.size(1));
  check_parameter("bias", bias, input, input.size(1));
}

void check_running(const Tensor& input, const Tensor& running_mean, const Tensor& running_var) {
  check_parameter("running_mean", running_mean, input, input.size(1));
  check_parameter("running_var", running_var, input, input.size(1));
}

void infer_batch_eval(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                      const Tensor& running_var, double /*eps*/, Output out) {
  check_batch(input, weight, bias);
  check_running(input, running_mean, running_var);
  out.like(input);
}

void set_with_statistics(const Tensor& input, Output& out, Output& mean, Output& scale) {
  out.like(input);
  mean.set(input.size(1), wide_of(input.dtype()));
  scale.set(input.size(1), wide_of(input.dtype()));
}

void infer_batch_train(const Tensor& input, const Tensor& weight, const Tensor& bias, double /*eps*/, Output out,
                       Output mean, Output scale) {
  check_batch(input, weight, bias);
  set_with_statistics(input, out, mean, scale);
}

void infer_batch_update(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                        const Tensor& running_var, double /*momentum*/, double /*eps*/, Output out, Output mean,
                        Output scale) {
  check_batch(input, weight, bias);
  check_running(input, running_mean, running_var);
  set_with_statistics(input, out, mean, scale);
}

Tensor batch_eval(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                  const Tensor& running_var, double eps) {
  const Tensor x = as(input, wide_of(input.dtype()));
  auto beside = [&](const Tensor& v) { return by_channel(as(v, x.dtype()), x.dim()); };
  const Tensor y = (x - beside(running_mean)) * lamella::div(1, (beside(running_var) + eps).sqrt());
  return as(scaled(y, by_channel(weight, x.dim()), by_channel(bias, x.dim())), input.dtype());
}

std::tuple<Tensor, Tensor, Tensor> batch_train(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                               double eps) {
  const Tensor x = as(input, wide_of(input.dtype()));
  const Normalized n = normalize(x, all_but_channels(x.dim()), eps);
  const Tensor y = scaled(n.centered * n.scale, by_channel(weight, x.dim()), by_channel(bias, x.dim()));
  return {as(y, input.dtype()), n.mean.reshape({-1}), n.scale.reshape({-1})};
}

std::tuple<Tensor, Tensor, Tensor> batch_update(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                const Tensor& running_mean, const Tensor& running_var, double momentum,
                                                double eps) {
  const Tensor x = as(input, wide_of(input.dtype()));
  auto made = batch_train(input, weight, bias, eps);
  if (x.numel() == 0) return made;  // an empty batch changes no statistics
  const auto [var, mean] = lamella::var_mean(x, all_but_channels(x.dim()), Scalar(1));
  auto move = [&](const Tensor& running, const Tensor& seen) {
    running.copy_(as(running, x.dtype()) * (1 - momentum) + seen * momentum);
  };
  move(running_mean, mean);
  move(running_var, var);
  return made;
}

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                  const Tensor& running_var, bool training, double momentum, double eps, bool /*cudnn_enabled*/) {
  const bool running = running_mean.defined();
  LAMELLA_CHECK(running == running_var.defined(), argument(running ? "running_var" : "running_mean"),
                ": missing; pass both running_mean and running_var, or neither");
  if (!training) {
    LAMELLA_CHECK(running, argument("running_mean"), ": needed when training=False");
    return lamella::_batch_norm_eval(input, weight, bias, running_mean, running_var, eps);
  }
  if (!running) return std::get<0>(lamella::_batch_norm_train(input, weight, bias, eps));
  return std::get<0>(lamella::_batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps));
}

}  // namespace

LAMELLA_FAMILY(normalization, .category = "normalization", .forms = function) {
  return {
      {.schema = "softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
       .dims = "keep",
       .forms = everywhere | out,
       .infer = shape<infer_softmax>,
       .composite = composite<softmax<false>>,
       .doc = R"(exp(self) divided by its sum along a dimension, without overflow.

Args:
    dtype: the input is converted to it first

Raises:
    RuntimeError: the dtype is not floating

>>> lamella.softmax(lamella.tensor([1., 1.]), 0)
tensor([0.5000, 0.5000])
)"},
      {.schema = "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
       .dims = "keep",
       .forms = everywhere | out,
       .infer = shape<infer_softmax>,
       .composite = composite<softmax<true>>,
       .doc = R"(The logarithm of softmax, computed without it.

>>> lamella.log_softmax(lamella.tensor([1., 1.]), 0)
tensor([-0.6931, -0.6931])
)"},
      {.schema = "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "
                 "eps=1e-05, bool cudnn_enable=True) -> Tensor",
       .dims = "...~, ...~, ...~ -> ...~",
       .infer = shape<infer_plain_layer_norm>,
       .composite = composite<layer_norm>,
       .doc = R"((input - mean) / sqrt(var + eps) * weight + bias, with the mean and the variance over the last
dimensions, whose shape is `normalized_shape`.

>>> lamella.layer_norm(lamella.tensor([[1., 3.]]), [2], eps=0.0)
tensor([[-1.,  1.]])
)"},
      {.schema = "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> "
                 "(Tensor, Tensor, Tensor)",
       .dims = "...~, ...~, ...~ -> ...~, ...~, ...~",
       .infer = shape<infer_layer_norm>,
       .composite = composite<native_layer_norm>,
       .doc = R"(layer_norm with what it used: the result, the means, and 1 / sqrt(var + eps).

>>> lamella.native_layer_norm(lamella.tensor([[1., 3.]]), [2], None, None, 0.0)[1]
tensor([[2.]])
)"},
      {.schema = "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
       .dims = "...~, ...~ -> ...~",
       .infer = shape<infer_rms_norm>,
       .composite = composite<rms_norm>,
       .doc = R"(input / sqrt(mean(input^2) + eps) * weight over the last dimensions; eps is the epsilon of the
dtype if not given, for float16 and bfloat16 that of float32.

>>> lamella.rms_norm(lamella.tensor([[2., 2.]]), [2])
tensor([[1., 1.]])
)"},
      {.schema =
           "_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
       .dims = "...~, ...~ -> ...~, ...~",
       .forms = hidden | function,
       .infer = shape<infer_fused_rms_norm>,
       .composite = composite<fused_rms_norm>,
       .doc = R"(rms_norm with what it used: the result, and 1 / sqrt(mean(input^2) + eps).

>>> lamella.ops.aten._fused_rms_norm(lamella.tensor([[2., 2.]]), [2], None, 0.0)[1]
tensor([[0.5000]])
)"},
      {.schema = "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
                 "bool cudnn_enabled=True) -> Tensor",
       .dims = "n c~ ...~, c~, c~ -> n c~ ...~",
       .infer = shape<infer_plain_group_norm>,
       .composite = composite<group_norm>,
       .doc = R"((input - mean) / sqrt(var + eps) * weight + bias, with the mean and the variance over each group of
channels.

>>> lamella.group_norm(lamella.tensor([[1., 3.]]), 1, eps=0.0)
tensor([[-1.,  1.]])
)"},
      {.schema = "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, "
                 "float eps) -> (Tensor, Tensor, Tensor)",
       .dims = "n~ c~ ...~, c~, c~ -> n~ c~ ...~, m g, m g",
       .infer = shape<infer_group_norm>,
       .composite = composite<native_group_norm>,
       .doc = R"(group_norm with what it used: the result, the means, and 1 / sqrt(var + eps).

>>> lamella.native_group_norm(lamella.tensor([[1., 3.]]), None, None, 1, 2, 1, 1, 0.0)[1]
tensor([[2.]])
)"},
      {.schema = "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
                 "bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
       .dims = "n~ c ...~, c, c, c, c -> n~ c ...~",
       .composite = composite<batch_norm>,
       .doc = R"((input - mean) / sqrt(var + eps) * weight + bias for each channel, dimension 1.

In training the mean and the variance are the batch's, and the running ones, if given, move towards
them by `momentum`; else they are the running ones.

>>> x = lamella.tensor([[1.], [3.]])
>>> lamella.batch_norm(x, None, None, None, None, True, 0.1, 0.0, False)
tensor([[-1.],
        [ 1.]])
)"},
      {.schema = "_batch_norm_train(Tensor input, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
       .dims = "n~ c ...~, c, c -> n~ c ...~, c, c",
       .forms = hidden | function,
       .infer = shape<infer_batch_train>,
       .composite = composite<batch_train>,
       .doc = "batch_norm by the batch's own statistics: the result, the means, and 1 / sqrt(var + eps)."},
      {.schema = "_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
                 "Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
       .dims = "n~ c ...~, c, c, c, c -> n~ c ...~, c, c",
       .forms = hidden | function,
       .infer = shape<infer_batch_update>,
       .composite = composite<batch_update>,
       .doc = "_batch_norm_train, and the running statistics move towards the batch's."},
      {.schema = "_batch_norm_eval(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor "
                 "running_var, float eps) -> Tensor",
       .dims = "n c ..., c, c, c, c -> n c ...",
       .forms = hidden | function,
       .infer = shape<infer_batch_eval>,
       .composite = composite<batch_eval>,
       .doc = "batch_norm by given statistics."},
  };
}

}  // namespace lamella::operators
