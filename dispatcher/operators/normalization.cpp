// Softmax and the norms of neural networks. Composites stand on sums, extrema and arithmetic; half precision is
// computed in float32.
//
// Note [Running statistics]  Torch's batch_norm changes running_mean and running_var without saying so in its schema.
//   Here batch_norm is a composite, and what it calls in training, _batch_norm_with_update, declares both as written.
#include "dispatcher/operators/normalization.h"

namespace lamella::dispatcher {

lamella_status check_floating_dtype(lamella_frame* f, int arg, DType t) {
  if (core::dtype_class(t) == LAMELLA_CLASS_FLOATING) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, arg) + ": expected a floating dtype, got " + core::dtype_info(t).name +
                                          "; convert it with .to(lamella.float32)");
}

lamella_status check_shape(lamella_frame* f, const Value* a, int arg, int ndim, const int64_t* sizes) {
  const Tensor* t = tensor_arg(a[arg]);
  if (!t || (t->ndim() == ndim && std::equal(sizes, sizes + ndim, t->sizes()))) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, arg) + ": expected shape " + core::shape_string(ndim, sizes) + ", got " +
                                          core::shape_string(t));
}

lamella_status check_parameter(lamella_frame* f, const Value* a, int arg, const Tensor* input, int ndim,
                               const int64_t* sizes) {
  const Tensor* t = tensor_arg(a[arg]);
  if (!t) return LAMELLA_OK;
  if (lamella_status st = check_shape(f, a, arg, ndim, sizes)) return st;
  if (t->dtype == input->dtype || t->dtype == wide_of(input->dtype)) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, arg) + ": its dtype " + core::dtype_info(t->dtype).name +
                                          " is not that of the input, " + core::dtype_info(input->dtype).name +
                                          "; convert one with .to(...)");
}

lamella_status check_normalized(lamella_frame* f, const Value* a, int input) {
  const Tensor* t = tensor_arg(a[input]);
  const Value& shape = a[input + 1];
  const int n = static_cast<int>(shape.length);
  if (lamella_status st = check_floating_dtype(f, input, t->dtype)) return st;
  if (n == 0) return raise(LAMELLA_RUNTIME_ERROR, where(f, input + 1) + ": expected at least one dimension, got none");
  if (n > t->ndim() || !std::equal(shape.as.ints, shape.as.ints + n, t->sizes() + t->ndim() - n))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, input + 1) + ": " + core::shape_string(n, shape.as.ints) +
                                            " is not how the shape of the input ends, " + core::shape_string(t));
  return LAMELLA_OK;
}

lamella_status check_groups(lamella_frame* f, int arg, int64_t groups, int64_t channels) {
  if (groups >= 1 && channels % groups == 0) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, format("%s: %lld groups do not divide %lld channels", where(f, arg).c_str(),
                                             (long long)groups, (long long)channels));
}

lamella_status check_volume(lamella_frame* f, int arg, std::array<int64_t, 3> sizes, const Tensor* input) {
  if (sizes[0] >= 0 && sizes[1] >= 0 && sizes[2] >= 0 && sizes[0] * sizes[1] * sizes[2] == input->numel)
    return LAMELLA_OK;
  return raise(
      LAMELLA_RUNTIME_ERROR,
      where(f, arg) + ": N * C * HxW is not the number of elements of the input, shape " + core::shape_string(input));
}

Ints last_dims(uint32_t n) {
  Ints dims;
  for (uint32_t i = 0; i < n; i++) dims.add(static_cast<int64_t>(i) - n);
  return dims;
}

Ints all_but_channels(int ndim) {
  Ints dims = {0};
  for (int d = 2; d < ndim; d++) dims.add(d);
  return dims;
}

Var by_channel(Compose& c, const Var& v, int ndim) {
  if (!v.present()) return v;
  Ints sizes = {1, v.size(0)};
  for (int d = 2; d < ndim; d++) sizes.add(1);
  return c.op<"reshape">(v, sizes);
}

Ints sizes_of(const Var& v) {
  Ints sizes;
  for (int d = 0; d < v.dim(); d++) sizes.add(v.size(d));
  return sizes;
}

namespace {

// ---- softmax --------------------------------------------------------------------------------------------------------

lamella_status infer_softmax(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  int d;
  if (lamella_status st = wrap_dim(f, 1, a[1].as.i, t->ndim(), &d)) return st;
  const DType dtype = dtype_or(a[2], t->dtype);
  if (lamella_status st = check_floating_dtype(f, given(a[2]) ? 2 : 0, dtype)) return st;
  fresh(m, t->ndim(), t->sizes(), dtype);
  f->compute_dtype = dtype;
  return LAMELLA_OK;
}

template <bool Log>
lamella_status softmax(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  const DType t = dtype_or(a[2], x.dtype());
  x = as(c, as(c, x, t), wide_of(t));
  if (x.numel() == 0) return c.give(r, c.op<"clone">(as(c, x, t)));
  const Ints dim = {a[1].as.i};
  Var d = x - c.op<"amax">(x, dim, true), e = c.op<"exp">(d), sum = c.op<"sum.dim_IntList">(e, dim, true);
  return c.give(r, as(c, Log ? d - c.op<"log">(sum) : e / sum, t));
}

// ---- layer, group and root-mean-square norms ------------------------------------------------------------------------

lamella_status infer_layer_norm(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  const int n = static_cast<int>(a[1].length);
  if (lamella_status st = check_normalized(f, a, 0)) return st;
  for (int arg : {2, 3})
    if (lamella_status st = check_parameter(f, a, arg, t, n, a[1].as.ints)) return st;
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  for (int k : {1, 2}) {
    fresh(m + k, t->ndim(), t->sizes(), wide_of(t->dtype));
    std::fill(m[k].sizes + t->ndim() - n, m[k].sizes + t->ndim(), 1);
  }
  return LAMELLA_OK;
}

// One result, without what it used.
lamella_status infer_plain_layer_norm(lamella_frame* f, const Value* a, Meta* m) {
  Meta all[3];
  if (lamella_status st = infer_layer_norm(f, a, all)) return st;
  fresh(m, all[0].ndim, all[0].sizes, static_cast<DType>(all[0].dtype));
  return LAMELLA_OK;
}

// rms_norm, and _fused_rms_norm with the scale that it used
template <bool WithScale>
lamella_status infer_rms_norm(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  const int n = static_cast<int>(a[1].length);
  if (lamella_status st = check_normalized(f, a, 0)) return st;
  if (lamella_status st = check_parameter(f, a, 2, t, n, a[1].as.ints)) return st;
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  if (!WithScale) return LAMELLA_OK;
  fresh(m + 1, t->ndim(), t->sizes(), wide_of(t->dtype));
  std::fill(m[1].sizes + t->ndim() - n, m[1].sizes + t->ndim(), 1);
  return LAMELLA_OK;
}

struct Normalized {
  Var centered, scale, mean;
};
Normalized normalize(Compose& c, const Var& x, const Ints& dims, double eps) {
  Var mean = c.op<"mean.dim">(x, dims, true), d = x - mean;
  return {d, 1 / c.op<"sqrt">(c.op<"mean.dim">(d * d, dims, true) + eps), mean};
}

Var scaled(Compose& c, Var y, const Var& weight, const Var& bias) {
  if (weight.present()) y = y * as(c, weight, y.dtype());
  if (bias.present()) y = y + as(c, bias, y.dtype());
  return y;
}

lamella_status native_layer_norm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var input = c.arg(a[0]), x = as(c, input, wide_of(input.dtype()));
  Normalized n = normalize(c, x, last_dims(a[1].length), as_double(a[4]));
  Var y = scaled(c, n.centered * n.scale, c.arg(a[2]), c.arg(a[3]));
  return c.give(r, std::array<Var, 3>{as(c, y, input.dtype()), n.mean, n.scale});
}

lamella_status layer_norm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.ops<"native_layer_norm", 3>(a[0], a[1], a[2], a[3], a[4])[0]);
}

lamella_status fused_rms_norm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var input = c.arg(a[0]), x = as(c, input, wide_of(input.dtype()));
  const double eps = given(a[3]) ? as_double(a[3]) : x.dtype() == LAMELLA_FLOAT64 ? 0x1p-52 : 0x1p-23;
  Var scale = 1 / c.op<"sqrt">(c.op<"mean.dim">(x * x, last_dims(a[1].length), true) + eps);
  return c.give(r, as(c, scaled(c, x * scale, c.arg(a[2]), c.nothing()), input.dtype()), scale);
}

lamella_status rms_norm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, c.ops<"_fused_rms_norm", 2>(a[0], a[1], a[2], a[3])[0]);
}

// native_group_norm(input, weight?, bias?, N, C, HxW, group, eps)
lamella_status infer_group_norm(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  const int64_t channels = a[4].as.i, groups = a[6].as.i;
  if (lamella_status st = check_floating_dtype(f, 0, t->dtype)) return st;
  if (lamella_status st = check_groups(f, 6, groups, channels)) return st;
  if (lamella_status st = check_volume(f, 3, {a[3].as.i, channels, a[5].as.i}, t)) return st;
  for (int arg : {1, 2})
    if (lamella_status st = check_parameter(f, a, arg, t, 1, &channels)) return st;
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  const int64_t sizes[2] = {a[3].as.i, groups};
  for (int k : {1, 2}) fresh(m + k, 2, sizes, wide_of(t->dtype));
  return LAMELLA_OK;
}

lamella_status native_group_norm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var input = c.arg(a[0]), x = as(c, input, wide_of(input.dtype()));
  const int64_t groups = a[6].as.i, length = groups ? a[4].as.i / groups * a[5].as.i : 0;
  Normalized n = normalize(c, c.op<"reshape">(x, Ints{a[3].as.i, groups, length}), {-1}, as_double(a[7]));
  Var y = c.op<"reshape">(n.centered * n.scale, sizes_of(x));
  y = scaled(c, y, by_channel(c, c.arg(a[1]), x.dim()), by_channel(c, c.arg(a[2]), x.dim()));
  return c.give(r, std::array<Var, 3>{as(c, y, input.dtype()), c.op<"squeeze.dim">(n.mean, -1),
                                      c.op<"squeeze.dim">(n.scale, -1)});
}

// group_norm(input, num_groups, weight?, bias?, eps, cudnn_enabled)
lamella_status infer_plain_group_norm(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() < 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected (batch, channels, ...), got shape " + core::shape_string(t));
  const int64_t channels = t->sizes()[1], groups = a[1].as.i;
  if (lamella_status st = check_groups(f, 1, groups, channels)) return st;
  if (lamella_status st = check_floating_dtype(f, 0, t->dtype)) return st;
  for (int arg : {2, 3})
    if (lamella_status st = check_parameter(f, a, arg, t, 1, &channels)) return st;
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  return LAMELLA_OK;
}

lamella_status group_norm(lamella_frame* f, const Value* a, Value* r) {
  const Tensor* t = tensor_arg(a[0]);
  int64_t area = 1;
  for (int d = 2; d < t->ndim(); d++) area *= t->sizes()[d];
  Compose c(f);
  auto made = c.ops<"native_group_norm", 3>(a[0], a[2], a[3], t->sizes()[0], t->sizes()[1], area, a[1], a[4]);
  return c.give(r, made[0]);
}

// ---- batch norm -----------------------------------------------------------------------------------------------------

lamella_status check_batch(lamella_frame* f, const Value* a, std::initializer_list<int> parameters, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->ndim() < 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 0) + ": expected (batch, channels, ...), got shape " + core::shape_string(t));
  if (lamella_status st = check_floating_dtype(f, 0, t->dtype)) return st;
  for (int arg : parameters)
    if (lamella_status st = check_parameter(f, a, arg, t, 1, t->sizes() + 1)) return st;
  fresh_like(m, t, t->dtype);
  return LAMELLA_OK;
}

lamella_status infer_batch_eval(lamella_frame* f, const Value* a, Meta* m) {
  return check_batch(f, a, {1, 2, 3, 4}, m);
}

void per_channel(const Value* a, Meta* m) {
  const Tensor* t = tensor_arg(a[0]);
  for (int k : {1, 2}) fresh(m + k, 1, t->sizes() + 1, wide_of(t->dtype));
}
lamella_status infer_batch_train(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = check_batch(f, a, {1, 2}, m)) return st;
  per_channel(a, m);
  return LAMELLA_OK;
}
lamella_status infer_batch_update(lamella_frame* f, const Value* a, Meta* m) {
  if (lamella_status st = check_batch(f, a, {1, 2, 3, 4}, m)) return st;
  per_channel(a, m);
  return LAMELLA_OK;
}

lamella_status batch_eval(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var input = c.arg(a[0]), x = as(c, input, wide_of(input.dtype()));
  auto beside = [&](int i) { return by_channel(c, as(c, c.arg(a[i]), x.dtype()), x.dim()); };
  Var y = (x - beside(3)) * (1 / c.op<"sqrt">(beside(4) + as_double(a[5])));
  y = scaled(c, y, by_channel(c, c.arg(a[1]), x.dim()), by_channel(c, c.arg(a[2]), x.dim()));
  return c.give(r, as(c, y, input.dtype()));
}

std::array<Var, 3> from_batch(Compose& c, const Value* a, double eps) {
  Var input = c.arg(a[0]), x = as(c, input, wide_of(input.dtype()));
  const Ints dims = all_but_channels(x.dim());
  Normalized n = normalize(c, x, dims, eps);
  Var y = scaled(c, n.centered * n.scale, by_channel(c, c.arg(a[1]), x.dim()), by_channel(c, c.arg(a[2]), x.dim()));
  auto flat = [&](const Var& v) { return c.op<"reshape">(v, Ints{-1}); };
  return {as(c, y, input.dtype()), flat(n.mean), flat(n.scale)};
}

lamella_status batch_train(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, from_batch(c, a, as_double(a[3])));
}

lamella_status batch_update(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var x = c.arg(a[0]);
  x = as(c, x, wide_of(x.dtype()));
  std::array<Var, 3> made = from_batch(c, a, as_double(a[6]));
  if (x.numel() == 0) return c.give(r, std::move(made));  // a batch of nothing moves no statistics
  auto seen = c.ops<"var_mean.correction", 2>(x, all_but_channels(x.dim()), 1);
  const double momentum = as_double(a[5]);
  for (int k : {0, 1}) {
    Var running = c.arg(a[3 + k]);
    c.op<"copy_">(running, as(c, running, x.dtype()) * (1 - momentum) + seen[1 - k] * momentum);
  }
  return c.give(r, std::move(made));
}

// batch_norm(input, weight?, bias?, running_mean?, running_var?, training, momentum, eps, cudnn_enabled)
lamella_status batch_norm(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const bool mean = a[3].tag == LAMELLA_TENSOR, var = a[4].tag == LAMELLA_TENSOR;
  if (mean != var)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, mean ? 4 : 3) + ": running_mean and running_var come together");
  if (!a[5].as.i) {
    if (!mean) return raise(LAMELLA_RUNTIME_ERROR, where(f, 3) + ": needed when training=False");
    return c.give(r, c.op<"_batch_norm_eval">(a[0], a[1], a[2], a[3], a[4], a[7]));
  }
  if (!mean) return c.give(r, c.ops<"_batch_norm_train", 3>(a[0], a[1], a[2], a[7])[0]);
  return c.give(r, c.ops<"_batch_norm_with_update", 3>(a[0], a[1], a[2], a[3], a[4], a[6], a[7])[0]);
}

}  // namespace

const std::vector<Declaration>& normalization_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "normalization", everywhere | out,
       infer_softmax, softmax<false>,
       "exp(self) divided by its sum along a dimension, without overflow.\n\nArgs:\n    dtype: the input is converted "
       "to it first\n\nRaises:\n    RuntimeError: the dtype is not floating\n\n>>> "
       "lamella.softmax(lamella.tensor([1., 1.]), 0)\ntensor([0.5000, 0.5000])\n"},
      {"log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "normalization", everywhere | out,
       infer_softmax, softmax<true>,
       "The logarithm of softmax, computed without it.\n\n>>> lamella.log_softmax(lamella.tensor([1., 1.]), "
       "0)\ntensor([-0.6931, -0.6931])\n"},
      {"layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
       "cudnn_enable=True) -> Tensor",
       "normalization", function, infer_plain_layer_norm, layer_norm,
       "(input - mean) / sqrt(var + eps) * weight + bias, with the mean and the variance over the last dimensions, "
       "whose shape is `normalized_shape`.\n\n>>> lamella.layer_norm(lamella.tensor([[1., 3.]]), [2], eps=0.0)\n"
       "tensor([[-1.,  1.]])\n"},
      {"native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, "
       "Tensor, Tensor)",
       "normalization", function, infer_layer_norm, native_layer_norm,
       "layer_norm with what it used: the result, the means, and 1 / sqrt(var + eps).\n\n>>> "
       "lamella.native_layer_norm(lamella.tensor([[1., 3.]]), [2], None, None, 0.0)[1]\ntensor([[2.]])\n"},
      {"rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
       "normalization", function, infer_rms_norm<false>, rms_norm,
       "input / sqrt(mean(input^2) + eps) * weight over the last dimensions; eps is the dtype's epsilon if not "
       "given.\n\n>>> lamella.rms_norm(lamella.tensor([[2., 2.]]), [2])\ntensor([[1., 1.]])\n"},
      {"_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
       "normalization", hidden | function, infer_rms_norm<true>, fused_rms_norm,
       "rms_norm with what it used: the result, and 1 / sqrt(mean(input^2) + eps).\n\n>>> "
       "lamella.ops.aten._fused_rms_norm(lamella.tensor([[2., 2.]]), [2], None, 0.0)[1]\ntensor([[0.5000]])\n"},
      {"group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
       "cudnn_enabled=True) -> Tensor",
       "normalization", function, infer_plain_group_norm, group_norm,
       "(input - mean) / sqrt(var + eps) * weight + bias, with the mean and the variance over each group of "
       "channels.\n\n>>> lamella.group_norm(lamella.tensor([[1., 3.]]), 1, eps=0.0)\ntensor([[-1.,  1.]])\n"},
      {"native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) -> "
       "(Tensor, Tensor, Tensor)",
       "normalization", function, infer_group_norm, native_group_norm,
       "group_norm with what it used: the result, the means, and 1 / sqrt(var + eps).\n\n>>> "
       "lamella.native_group_norm(lamella.tensor([[1., 3.]]), None, None, 1, 2, 1, 1, 0.0)[1]\ntensor([[2.]])\n"},
      {"batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
       "training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
       "normalization", function, nullptr, batch_norm,
       "(input - mean) / sqrt(var + eps) * weight + bias for each channel, dimension 1.\n\nIn training the mean and "
       "the "
       "variance are the batch's, and the running ones, if given, move towards them by `momentum`; else they are the "
       "running ones.\n\n>>> x = lamella.tensor([[1.], [3.]])\n>>> lamella.batch_norm(x, None, None, None, None, True, "
       "0.1, 0.0, False)\ntensor([[-1.],\n        [ 1.]])\n"},
      {"_batch_norm_train(Tensor input, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
       "normalization", hidden | function, infer_batch_train, batch_train,
       "batch_norm by the batch's own statistics: the result, the means, and 1 / sqrt(var + eps)."},
      {"_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) "
       "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
       "normalization", hidden | function, infer_batch_update, batch_update,
       "_batch_norm_train, and the running statistics move towards the batch's."},
      {"_batch_norm_eval(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float "
       "eps) -> Tensor",
       "normalization", hidden | function, infer_batch_eval, batch_eval, "batch_norm by given statistics."},
  };
  return *table;
}

}  // namespace lamella::dispatcher
