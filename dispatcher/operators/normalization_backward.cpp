// Gradients of softmax and the norms, from what these used. Composites follow the formulas; half precision is computed
// in float32.
//
// Note [Output masks]  A norm has up to three gradients, and `output_mask` says which are wanted: of the input, the
//   weight and the bias. The others are no tensors, but none; so is that of a weight or bias that is absent.
#include "dispatcher/operators/normalization.h"

namespace lamella::dispatcher {
namespace {

lamella_status check_gradient(lamella_frame* f, const Value* a, int arg, const Tensor* of) {
  if (lamella_status st = check_floating_dtype(f, arg, tensor_arg(a[arg])->dtype)) return st;
  return check_shape(f, a, arg, of->ndim(), of->sizes());
}

bool asked(const Value& mask, uint32_t i) { return i < mask.length && mask.as.bools[i]; }

void none(Meta* m) { m->kind = LAMELLA_META_NONE; }

void like_parameter(Meta* m, bool wanted, const Tensor* parameter) {
  if (!wanted || !parameter) return none(m);
  fresh(m, parameter->ndim(), parameter->sizes(), parameter->dtype);
}

// ---- softmax --------------------------------------------------------------------------------------------------------

// _softmax_backward_data(grad_output, output, dim, input_dtype)
lamella_status infer_softmax_backward(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* y = tensor_arg(a[1]);
  int d;
  if (lamella_status st = wrap_dim(f, 2, a[2].as.i, y->ndim(), &d)) return st;
  if (lamella_status st = check_floating_dtype(f, 1, y->dtype)) return st;
  if (lamella_status st = check_gradient(f, a, 0, y)) return st;
  const DType dtype = static_cast<DType>(a[3].as.i);
  if (lamella_status st = check_floating_dtype(f, 3, dtype)) return st;
  fresh(m, y->ndim(), y->sizes(), dtype);
  return LAMELLA_OK;
}

template <bool Log>
lamella_status softmax_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var y = c.arg(a[1]);
  const DType t = wide_of(y.dtype());
  y = as(c, y, t);
  Var g = as(c, c.arg(a[0]), t);
  const Ints dim = {a[2].as.i};
  Var x = Log ? g - c.op<"exp">(y) * c.op<"sum.dim_IntList">(g, dim, true)
              : y * (g - c.op<"sum.dim_IntList">(g * y, dim, true));
  return c.give(r, as(c, x, static_cast<DType>(a[3].as.i)));
}

// ---- what the norms share -------------------------------------------------------------------------------------------

// Where a norm's output depends on its input by way of the mean and the variance over `dims`, too.
Var through_statistics(Compose& c, const Var& g, const Var& normalized, const Var& scale, const Ints& dims,
                       bool centered) {
  Var x = g - normalized * c.op<"mean.dim">(g * normalized, dims, true);
  if (centered) x = x - c.op<"mean.dim">(g, dims, true);
  return x * scale;
}

Var summed(Compose& c, const Var& v, const Ints& dims) {
  return dims.count ? c.op<"sum.dim_IntList">(v, dims) : v;  // the sum over no dimension would be that over all
}

// The gradients of weight and bias, in their dtypes.
Var of_parameter(Compose& c, bool wanted, const Var& g, const Ints& dims, DType dtype) {
  return wanted ? as(c, summed(c, g, dims), dtype) : c.nothing();
}

// ---- layer and root-mean-square norms -------------------------------------------------------------------------------

// The statistics, one for each row.
lamella_status check_rows(lamella_frame* f, const Value* a, int arg, const Tensor* input, int n) {
  int64_t sizes[LAMELLA_MAX_DIMS];
  std::copy(input->sizes(), input->sizes() + input->ndim(), sizes);
  std::fill(sizes + input->ndim() - n, sizes + input->ndim(), 1);
  if (lamella_status st = check_floating_dtype(f, arg, tensor_arg(a[arg])->dtype)) return st;
  return check_shape(f, a, arg, input->ndim(), sizes);
}

Ints first_dims(int n) {
  Ints dims;
  for (int d = 0; d < n; d++) dims.add(d);
  return dims;
}

// native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight?, bias?, output_mask)
lamella_status infer_layer_norm_backward(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* x = tensor_arg(a[1]);
  const int n = static_cast<int>(a[2].length);
  if (lamella_status st = check_normalized(f, a, 1)) return st;
  if (lamella_status st = check_gradient(f, a, 0, x)) return st;
  for (int arg : {3, 4})
    if (lamella_status st = check_rows(f, a, arg, x, n)) return st;
  for (int arg : {5, 6})
    if (lamella_status st = check_parameter(f, a, arg, x, n, a[2].as.ints)) return st;
  fresh(m, x->ndim(), x->sizes(), x->dtype);
  if (!asked(a[7], 0)) none(m);
  for (int k : {1, 2}) like_parameter(m + k, asked(a[7], k), tensor_arg(a[4 + k]));
  return LAMELLA_OK;
}

lamella_status native_layer_norm_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var input = c.arg(a[1]), weight = c.arg(a[5]), bias = c.arg(a[6]);
  const DType t = wide_of(input.dtype());
  Var x = as(c, input, t), g = as(c, c.arg(a[0]), t), scale = as(c, c.arg(a[4]), t);
  Var normalized = (x - as(c, c.arg(a[3]), t)) * scale;
  const Ints rows = first_dims(x.dim() - static_cast<int>(a[2].length));
  auto wanted = [&](int k) { return asked(a[7], k); };
  Var dx = c.nothing();
  if (wanted(0)) {
    Var weighted = weight.present() ? g * as(c, weight, t) : g;
    dx = as(c, through_statistics(c, weighted, normalized, scale, last_dims(a[2].length), true), input.dtype());
  }
  Var dw = of_parameter(c, wanted(1) && weight.present(), g * normalized, rows, weight.dtype());
  return c.give(r, std::array<Var, 3>{dx, dw, of_parameter(c, wanted(2) && bias.present(), g, rows, bias.dtype())});
}

// _fused_rms_norm_backward(grad_out, input, normalized_shape, rstd, weight?, output_mask)
lamella_status infer_rms_norm_backward(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* x = tensor_arg(a[1]);
  const int n = static_cast<int>(a[2].length);
  if (lamella_status st = check_normalized(f, a, 1)) return st;
  if (lamella_status st = check_gradient(f, a, 0, x)) return st;
  if (lamella_status st = check_rows(f, a, 3, x, n)) return st;
  if (lamella_status st = check_parameter(f, a, 4, x, n, a[2].as.ints)) return st;
  fresh(m, x->ndim(), x->sizes(), x->dtype);
  if (!asked(a[5], 0)) none(m);
  like_parameter(m + 1, asked(a[5], 1), tensor_arg(a[4]));
  return LAMELLA_OK;
}

lamella_status fused_rms_norm_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var input = c.arg(a[1]), weight = c.arg(a[4]);
  const DType t = wide_of(input.dtype());
  Var g = as(c, c.arg(a[0]), t), scale = as(c, c.arg(a[3]), t), normalized = as(c, input, t) * scale;
  Var dx = c.nothing();
  if (asked(a[5], 0)) {
    Var weighted = weight.present() ? g * as(c, weight, t) : g;
    dx = as(c, through_statistics(c, weighted, normalized, scale, last_dims(a[2].length), false), input.dtype());
  }
  const Ints rows = first_dims(input.dim() - static_cast<int>(a[2].length));
  return c.give(r, dx, of_parameter(c, asked(a[5], 1) && weight.present(), g * normalized, rows, weight.dtype()));
}

// ---- group and batch norm: a weight and a bias for each channel -----------------------------------------------------

// Without the bias at hand, its gradient has the weight's dtype.
DType bias_dtype(const Tensor* weight, const Tensor* input) { return weight ? weight->dtype : input->dtype; }

void infer_by_channel(Meta* m, const Value& mask, const Tensor* input, const Tensor* weight, int64_t channels) {
  if (!asked(mask, 0)) none(m);
  like_parameter(m + 1, asked(mask, 1), weight);
  if (asked(mask, 2))
    fresh(m + 2, 1, &channels, bias_dtype(weight, input));
  else
    none(m + 2);
}

// native_group_norm_backward(grad_out, input, mean, rstd, weight?, N, C, HxW, group, output_mask)
lamella_status infer_group_norm_backward(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* x = tensor_arg(a[1]);
  const int64_t samples = a[5].as.i, channels = a[6].as.i, area = a[7].as.i, groups = a[8].as.i;
  if (lamella_status st = check_floating_dtype(f, 1, x->dtype)) return st;
  if (lamella_status st = check_gradient(f, a, 0, x)) return st;
  if (lamella_status st = check_groups(f, 8, groups, channels)) return st;
  if (lamella_status st = check_volume(f, 5, {samples, channels, area}, x)) return st;
  const int64_t sizes[2] = {samples, groups};
  for (int arg : {2, 3}) {
    if (lamella_status st = check_floating_dtype(f, arg, tensor_arg(a[arg])->dtype)) return st;
    if (lamella_status st = check_shape(f, a, arg, 2, sizes)) return st;
  }
  if (lamella_status st = check_parameter(f, a, 4, x, 1, &channels)) return st;
  fresh(m, x->ndim(), x->sizes(), x->dtype);
  infer_by_channel(m, a[9], x, tensor_arg(a[4]), channels);
  return LAMELLA_OK;
}

lamella_status native_group_norm_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var input = c.arg(a[1]), weight = c.arg(a[4]);
  const DType t = wide_of(input.dtype());
  const int64_t samples = a[5].as.i, channels = a[6].as.i, area = a[7].as.i, groups = a[8].as.i;
  const Ints by_group = {samples, groups, channels / groups * area}, by_place = {samples, channels, area};
  Var x = c.op<"reshape">(as(c, input, t), by_group), g = c.op<"reshape">(as(c, c.arg(a[0]), t), by_place);
  Var mean = c.op<"unsqueeze">(as(c, c.arg(a[2]), t), -1), scale = c.op<"unsqueeze">(as(c, c.arg(a[3]), t), -1);
  Var normalized = (x - mean) * scale, dx = c.nothing();
  if (asked(a[9], 0)) {
    Var weighted = weight.present() ? g * by_channel(c, as(c, weight, t), 3) : g;
    dx = through_statistics(c, c.op<"reshape">(weighted, by_group), normalized, scale, {-1}, true);
    dx = as(c, c.op<"reshape">(dx, sizes_of(input)), input.dtype());
  }
  Var dw = of_parameter(c, asked(a[9], 1) && weight.present(), g * c.op<"reshape">(normalized, by_place), {0, 2},
                        weight.dtype());
  return c.give(
      r, std::array<Var, 3>{dx, dw,
                            of_parameter(c, asked(a[9], 2), g, {0, 2}, bias_dtype(weight.tensor(), input.tensor()))});
}

// native_batch_norm_backward(grad_out, input, weight?, running_mean?, running_var?, save_mean?, save_invstd?, train,
// eps, output_mask)
lamella_status infer_batch_norm_backward(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* x = tensor_arg(a[1]);
  if (x->ndim() < 2)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 1) + ": expected (batch, channels, ...), got shape " + core::shape_string(x));
  if (lamella_status st = check_floating_dtype(f, 1, x->dtype)) return st;
  if (lamella_status st = check_gradient(f, a, 0, x)) return st;
  for (int arg : {2, 3, 4, 5, 6})
    if (lamella_status st = check_parameter(f, a, arg, x, 1, x->sizes() + 1)) return st;
  const bool train = a[7].as.i != 0;
  for (int arg : {train ? 5 : 3, train ? 6 : 4})
    if (!given(a[arg]))
      return raise(LAMELLA_RUNTIME_ERROR,
                   where(f, arg) + (train ? ": needed when train=True" : ": needed when train=False"));
  fresh_like(m, x, x->dtype);
  infer_by_channel(m, a[9], x, tensor_arg(a[2]), x->sizes()[1]);
  return LAMELLA_OK;
}

lamella_status native_batch_norm_backward(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var input = c.arg(a[1]), weight = c.arg(a[2]);
  const DType t = wide_of(input.dtype());
  const bool train = a[7].as.i != 0;
  const Ints dims = all_but_channels(input.dim());
  auto beside = [&](int arg) { return by_channel(c, as(c, c.arg(a[arg]), t), input.dim()); };
  Var x = as(c, input, t), g = as(c, c.arg(a[0]), t);
  Var scale = train ? beside(6) : 1 / c.op<"sqrt">(beside(4) + as_double(a[8]));
  Var normalized = (x - beside(train ? 5 : 3)) * scale, dx = c.nothing();
  if (asked(a[9], 0)) {
    dx = train ? through_statistics(c, g, normalized, scale, dims, true) : g * scale;
    if (weight.present()) dx = dx * beside(2);
    dx = as(c, dx, input.dtype());
  }
  Var dw = of_parameter(c, asked(a[9], 1) && weight.present(), g * normalized, dims, weight.dtype());
  return c.give(r, std::array<Var, 3>{
                       dx, dw, of_parameter(c, asked(a[9], 2), g, dims, bias_dtype(weight.tensor(), input.tensor()))});
}

}  // namespace

const std::vector<Declaration>& normalization_backward_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
       "normalization", hidden | function, infer_softmax_backward, softmax_backward<false>,
       "The gradient of softmax, of its output."},
      {"_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
       "normalization", hidden | function, infer_softmax_backward, softmax_backward<true>,
       "The gradient of log_softmax, of its output."},
      {"native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, "
       "Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       "normalization", hidden | function, infer_layer_norm_backward, native_layer_norm_backward,
       "The gradients of native_layer_norm: of its input, weight and bias, those that `output_mask` asks for."},
      {"_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? weight, "
       "bool[2] output_mask) -> (Tensor, Tensor)",
       "normalization", hidden | function, infer_rms_norm_backward, fused_rms_norm_backward,
       "The gradients of _fused_rms_norm: of its input and weight, those that `output_mask` asks for."},
      {"native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, "
       "SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
       "normalization", hidden | function, infer_group_norm_backward, native_group_norm_backward,
       "The gradients of native_group_norm: of its input, weight and bias, those that `output_mask` asks for."},
      {"native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? "
       "running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, "
       "Tensor, Tensor)",
       "normalization", hidden | function, infer_batch_norm_backward, native_batch_norm_backward,
       "The gradients of batch_norm: of its input, weight and bias, those that `output_mask` asks for. In training by "
       "the saved statistics, else by the running ones."},
  };
  return *table;
}

}  // namespace lamella::dispatcher
