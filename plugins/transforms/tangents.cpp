// The operators whose tangents do not come from their derivatives, or come faster by another way.
#include <algorithm>
#include <map>
#include <sstream>

#include "call.h"
#include "tangent.h"

namespace lamella::transforms {
namespace {

struct Line {
  const char* operators;  // of namespace aten
  const char* text;
};

// A text is a way of enum By and its arguments:
//   linear [x y] [- z] [; n=0]   linear in the tensors x and y together, or in all; the values of z do not matter, and
//                                the number n is 0 in the tangent
//   each x y [+ z]               linear in x and in y; z is added
//   primal, constant             see enum By
//   softmax, ...                 a function below
constexpr Line lines[] = {
    // copies and sums
    {"clone, contiguous, to.dtype, to.device, flip, roll, tril, triu, cat, stack, neg, conj_physical", "linear"},
    {"add.Tensor, sub.Tensor, rsub.Tensor, sum, sum.dim_IntList, mean, mean.dim, cumsum, mul.Scalar, div.Scalar",
     "linear"},
    {"to.other", "linear self - other"},
    {"copy_", "linear self src"},
    {"add.Scalar, sub.Scalar, rsub.Scalar", "linear self; other=0"},
    {"fill.Tensor, fill_.Tensor", "linear self value"},

    // indices and masks
    {"where.self", "linear self other"},
    {"gather, index_select, index.Tensor", "linear self"},
    {"scatter.src, scatter_.src, scatter_add, scatter_add_", "linear self src"},
    {"index_add, index_add_", "linear self source"},
    {"index_put, index_put_", "linear self values"},
    {"masked_fill.Scalar, masked_fill_.Scalar", "linear self; value=0"},
    {"masked_fill.Tensor, masked_fill_.Tensor", "linear self value"},
    {"constant_pad_nd", "linear self; value=0"},
    {"embedding", "linear weight"},

    // products
    {"mul.Tensor", "each self other"},
    {"mm", "each self mat2"},
    {"bmm", "each self mat2"},
    {"mv", "each self vec"},
    {"dot", "each self tensor"},
    {"addmm", "each mat1 mat2 + self"},
    {"linear", "each input weight + bias"},
    {"convolution", "each input weight + bias"},
    {"_convolution_backward_input", "each grad_output weight"},
    {"_convolution_backward_weight", "each grad_output input"},

    // images, transforms of Fourier
    {"im2col, col2im, avg_pool2d, adaptive_avg_pool2d, _fft_c2c, _fft_r2c, _fft_c2r", "linear"},
    {"upsample_nearest1d, upsample_nearest2d, upsample_nearest3d, _upsample_nearest_exact1d, "
     "_upsample_nearest_exact2d, _upsample_nearest_exact3d, upsample_linear1d, upsample_bilinear2d, "
     "upsample_trilinear3d, upsample_bicubic2d",
     "linear"},
    {"max_pool2d_with_indices", "max_pool"},
    {"softmax.int", "softmax"},
    {"log_softmax.int", "log_softmax"},

    // tensors of sizes alone, and numbers of the program
    {"empty_like, zeros_like, ones_like, full_like, new_empty, new_zeros, new_ones, new_full, detach, item, equal, "
     "is_nonzero, view.dtype, _materialize",
     "primal"},
    {"zero_, fill_.Scalar", "constant"},
};

Tensor softmax_tangent(const lamella_value* args, const Tensor& t, const std::vector<Tensor>& results) {
  const Tensor weighed = results[0] * t;
  return weighed - results[0] * weighed.sum({args[1].as.i}, true);
}

Tensor log_softmax_tangent(const lamella_value* args, const Tensor& t, const std::vector<Tensor>& results) {
  return t - (results[0].exp() * t).sum({args[1].as.i}, true);
}

// Gathers the tangents of the elements that max_pool2d has chosen.
Tensor max_pool_tangent(const lamella_value*, const Tensor& t, const std::vector<Tensor>& results) {
  const Tensor& at = results[1];
  return t.flatten(-2).gather(-1, at.flatten(-2)).reshape(at.sizes());
}

using Texts = std::map<std::string, const char*, std::less<>>;

const Texts& texts() {
  static const auto* all = [] {
    auto* map = new Texts;
    for (const Line& line : lines) {
      std::istringstream names(line.operators);
      for (std::string name; std::getline(names >> std::ws, name, ',');) map->emplace("aten::" + name, line.text);
    }
    return map;
  }();
  return *all;
}

int argument_of(const lamella_operator* op, const std::string& name) {
  const int at = argument_named(op, name);
  LAMELLA_CHECK(at >= 0, "jvp: the tangent rule of ", title(op), " names an argument '", name, "' that it has not");
  return at;
}

std::vector<int> all_tensors(const lamella_operator* op) {
  std::vector<int> all;
  for (int i = 0; i < api().operator_num_args(op); i++)
    if (api().operator_argument(op, i)->kind == LAMELLA_KIND_TENSOR) all.push_back(i);
  return all;
}

// A derivative is linear in the gradient that it gets.
std::vector<int> gradients_of(const lamella_operator* op) {
  std::vector<int> found;
  if (std::string_view(api().operator_name(op)).find("_backward") == std::string_view::npos) return found;
  for (const int i : all_tensors(op)) {
    const std::string_view name = api().operator_argument(op, i)->name;
    if (name.substr(0, 4) == "grad") found.push_back(i);
  }
  return found;
}

}  // namespace

std::string tangent_text(const lamella_operator* op) {
  const auto found = texts().find(full_name(op));
  if (found != texts().end()) return found->second;
  return gradients_of(op).empty() ? "derivative" : "linear in the gradient";
}

Tangent tangent_rule(const lamella_operator* op) {
  Tangent rule;
  const auto found = texts().find(full_name(op));
  if (found == texts().end()) {
    rule.of = gradients_of(op);
    if (!rule.of.empty()) rule.by = By::linear;
    return rule;
  }
  std::istringstream text(found->second);
  std::string word;
  text >> word;
  rule.by = word == "linear"     ? By::linear
            : word == "each"     ? By::each
            : word == "primal"   ? By::primal
            : word == "constant" ? By::constant
                                 : By::function;
  if (rule.by == By::function)
    rule.function = word == "softmax"       ? softmax_tangent
                    : word == "log_softmax" ? log_softmax_tangent
                                            : max_pool_tangent;
  std::vector<int>* names = &rule.of;
  while (text >> word) {
    const bool last = word.back() == ';';
    if (last) word.pop_back();
    if (word == "+" || word == "-")
      names = &rule.others;
    else if (word.size() > 2 && word.substr(word.size() - 2) == "=0")
      rule.zero = argument_of(op, word.substr(0, word.size() - 2));
    else if (!word.empty())
      names->push_back(argument_of(op, word));
  }
  if (rule.by == By::linear && rule.of.empty()) rule.of = all_tensors(op);
  return rule;
}

}  // namespace lamella::transforms
