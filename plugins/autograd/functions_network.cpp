// What the gradients of norms, linear and dropout are made of.
#include "functions.h"

namespace lamella::autograd {
namespace {

// Of linear(input, weight): the rows of the gradient against the rows of the input, whatever the leading dimensions.
lamella_status linear_weight_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const Tensor grad = c.arg(a[0]), input = c.arg(a[1]);
  const auto rows = [&](const Tensor& t) {
    return t.dim() == 2 ? t : c.op<"reshape">(t, Ints{t.numel() / std::max<int64_t>(t.size(-1), 1), t.size(-1)});
  };
  Tensor x = rows(input);
  if (x && x.dtype() >= LAMELLA_COMPLEX64) x = c.op<"conj">(x);
  return c.give(r, c.op<"mm">(c.op<"t">(rows(grad)), x));
}

// ---- norms ----------------------------------------------------------------------------------------------------------

bool asked(const lamella_value& mask, int i) { return mask.as.bools[i] != 0; }

// What comes back through the statistics that a norm also returns, to what it looked at: the mean (absent: none was
// taken) and 1 / sqrt(var + eps), each over `count` elements.
Tensor through_statistics(Compose& c, const Tensor& grad_mean, const Tensor& grad_rstd, const Tensor& x,
                          const Tensor& mean, const Tensor& rstd, int64_t count) {
  Tensor sum;
  if (grad_rstd) {
    const Tensor cube = c.op<"mul.Tensor">(c.op<"square">(rstd), rstd);
    const Tensor slope = c.op<"div.Scalar">(c.op<"mul.Tensor">(grad_rstd, cube), -count);
    sum = c.op<"mul.Tensor">(mean ? c.op<"sub.Tensor">(x, mean) : x, slope);
  }
  if (!grad_mean) return sum;
  const Tensor each = c.op<"div.Scalar">(grad_mean, count);
  return sum ? c.op<"add.Tensor">(sum, each) : c.op<"expand">(each, c.shape(x));
}

Tensor both(Compose& c, const Tensor& a, const Tensor& b) { return a && b ? c.op<"add.Tensor">(a, b) : a ? a : b; }

// (grad?, grad_mean?, grad_rstd?, input, normalized_shape, mean, rstd, weight?, bias?, mask)
lamella_status layer_norm_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  std::array<Tensor, 3> out;
  if (c.arg(a[0])) out = c.ops<"native_layer_norm_backward", 3>(a[0], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
  const Tensor x = c.arg(a[3]), rstd = c.arg(a[6]);
  if (asked(a[9], 0) && (c.arg(a[1]) || c.arg(a[2])))
    out[0] = both(c, out[0],
                  through_statistics(c, c.arg(a[1]), c.arg(a[2]), x, c.arg(a[5]), rstd,
                                     x.numel() / std::max<int64_t>(rstd.numel(), 1)));
  return c.give(r, std::move(out));
}

// (grad?, grad_rstd?, input, normalized_shape, rstd, weight?, mask)
lamella_status rms_norm_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  std::array<Tensor, 2> out;
  if (c.arg(a[0])) out = c.ops<"_fused_rms_norm_backward", 2>(a[0], a[2], a[3], a[4], a[5], a[6]);
  const Tensor x = c.arg(a[2]), rstd = c.arg(a[4]);
  if (asked(a[6], 0) && c.arg(a[1]))
    out[0] = both(c, out[0],
                  through_statistics(c, Tensor(), c.arg(a[1]), x, Tensor(), rstd,
                                     x.numel() / std::max<int64_t>(rstd.numel(), 1)));
  return c.give(r, std::move(out));
}

// (grad?, grad_mean?, grad_rstd?, input, mean, rstd, weight?, N, C, HxW, group, mask)
lamella_status group_norm_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  std::array<Tensor, 3> out;
  if (c.arg(a[0]))
    out = c.ops<"native_group_norm_backward", 3>(a[0], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  if (asked(a[11], 0) && (c.arg(a[1]) || c.arg(a[2]))) {
    const auto column = [&](int i) { return c.arg(a[i]) ? c.op<"unsqueeze">(c.arg(a[i]), -1) : Tensor(); };
    const Tensor x = c.arg(a[3]);
    const int64_t count = x.numel() / std::max<int64_t>(c.arg(a[4]).numel(), 1);
    const Tensor rows = c.op<"reshape">(x, Ints{a[7].as.i, a[10].as.i, count});
    const Tensor more = through_statistics(c, column(1), column(2), rows, column(4), column(5), count);
    out[0] = both(c, out[0], c.op<"reshape">(more, c.shape(x)));
  }
  return c.give(r, std::move(out));
}

// (grad?, grad_mean?, grad_rstd?, input, weight?, mean, rstd, eps, mask)
lamella_status batch_norm_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  std::array<Tensor, 3> out;
  if (c.arg(a[0]))
    out = c.ops<"native_batch_norm_backward", 3>(a[0], a[3], a[4], none(), none(), a[5], a[6], true, a[7], a[8]);
  if (asked(a[8], 0) && (c.arg(a[1]) || c.arg(a[2]))) {
    const Tensor x = c.arg(a[3]);
    Ints channels(static_cast<size_t>(x.dim() - 1), 1);
    channels[0] = x.size(1);
    const auto beside = [&](int i) { return c.arg(a[i]) ? c.op<"reshape">(c.arg(a[i]), channels) : Tensor(); };
    const int64_t count = x.numel() / std::max<int64_t>(x.size(1), 1);
    out[0] = both(c, out[0], through_statistics(c, beside(1), beside(2), x, beside(5), beside(6), count));
  }
  return c.give(r, std::move(out));
}

// (grad, indices, num_weights, padding_idx, scale_grad_by_freq)
lamella_status embedding_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const auto rows = [&](const Tensor& grad) { return c.op<"embedding_dense_backward">(grad, a[1], a[2], a[3], a[4]); };
  const Tensor grad = c.arg(a[0]);
  if (grad.dtype() < LAMELLA_COMPLEX64) return c.give(r, rows(grad));
  return c.give(r, c.op<"complex">(rows(c.op<"real">(grad)), rows(c.op<"imag">(grad))));
}

// (grad, mask, p, train?)
lamella_status dropout_backward(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  Compose c(f);
  const double p = a[3].tag != LAMELLA_NONE && !a[3].as.i ? 0 : a[2].as.d;
  return c.give(r, c.op<"native_dropout_backward">(c.arg(a[0]), c.arg(a[1]), p == 1 ? 0 : 1 / (1 - p)));
}

}  // namespace

void define_network_functions(Library& m) {
  composite(m,
            "_layer_norm_backward(Tensor? grad, Tensor? grad_mean, Tensor? grad_rstd, Tensor input, int[] "
            "normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] mask) -> (Tensor, "
            "Tensor, Tensor)",
            layer_norm_backward);
  composite(m,
            "_rms_norm_backward(Tensor? grad, Tensor? grad_rstd, Tensor input, int[] normalized_shape, Tensor rstd, "
            "Tensor? weight, bool[2] mask) -> (Tensor, Tensor)",
            rms_norm_backward);
  composite(m,
            "_group_norm_backward(Tensor? grad, Tensor? grad_mean, Tensor? grad_rstd, Tensor input, Tensor mean, "
            "Tensor rstd, Tensor? weight, int N, int C, int HxW, int group, bool[3] mask) -> (Tensor, Tensor, Tensor)",
            group_norm_backward);
  composite(m,
            "_batch_norm_backward(Tensor? grad, Tensor? grad_mean, Tensor? grad_rstd, Tensor input, Tensor? weight, "
            "Tensor mean, Tensor rstd, float eps, bool[3] mask) -> (Tensor, Tensor, Tensor)",
            batch_norm_backward);
  composite(m,
            "_embedding_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, bool "
            "scale_grad_by_freq) -> Tensor",
            embedding_backward);
  composite(m, "_dropout_backward(Tensor grad, Tensor mask, float p, bool? train) -> Tensor", dropout_backward);
  composite(m, "_linear_weight_backward(Tensor grad, Tensor input) -> Tensor", linear_weight_backward);
}

}  // namespace lamella::autograd
