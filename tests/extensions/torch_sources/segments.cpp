// Sums over segments with a Function, an optional output and a pair of results, as packages for graphs write them.
#include <torch/torch.h>

#include <tuple>

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

#define CHECK_CPU(x) AT_ASSERTM(x.device().is_cpu(), #x " must be a CPU tensor")

static torch::Tensor sum_rows(torch::Tensor src, torch::Tensor pointers, torch::optional<torch::Tensor> optional_out) {
  CHECK_CPU(src);
  CHECK_CPU(pointers);
  auto sizes = src.sizes().vec();
  sizes[0] = std::max<int64_t>(pointers.numel() - 1, 0);
  torch::Tensor out = optional_out.has_value() ? optional_out.value() : torch::zeros(sizes, src.options());
  src = src.contiguous();
  const int64_t width = src.numel() / std::max<int64_t>(src.size(0), 1);
  AT_DISPATCH_ALL_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, src.scalar_type(), "sum_rows", [&] {
    using opmath_t = at::opmath_type<scalar_t>;
    const scalar_t* from = src.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    AT_DISPATCH_INDEX_TYPES(pointers.scalar_type(), "sum_rows", [&] {
      const auto at = pointers.accessor<index_t, 1>();
      for (int64_t s = 0; s < out.size(0); s++)
        for (int64_t k = 0; k < width; k++) {
          opmath_t sum = 0;
          for (index_t r = at[s]; r < at[s + 1]; r++) sum += static_cast<opmath_t>(from[r * width + k]);
          to[s * width + k] = static_cast<scalar_t>(sum);
        }
    });
  });
  return out;
}

class SumRows : public torch::autograd::Function<SumRows> {
 public:
  static variable_list forward(AutogradContext* ctx, Variable src, Variable pointers,
                               torch::optional<Variable> optional_out) {
    ctx->saved_data["src_shape"] = src.sizes();
    auto out = sum_rows(src, pointers, optional_out);
    ctx->save_for_backward({pointers});
    if (optional_out.has_value()) ctx->mark_dirty({optional_out.value()});
    return {out};
  }

  static variable_list backward(AutogradContext* ctx, variable_list grad_outs) {
    const auto pointers = ctx->get_saved_variables()[0].to(torch::kLong);
    const auto shape = ctx->saved_data["src_shape"].toIntVector();
    const auto counts = pointers.slice(0, 1) - pointers.slice(0, 0, -1);
    const auto rows = torch::arange(counts.numel(), counts.options()).repeat_interleave(counts);
    return {grad_outs[0].index_select(0, rows).reshape(shape), Variable(), Variable()};
  }
};

torch::Tensor segment_sum(torch::Tensor src, torch::Tensor pointers, torch::optional<torch::Tensor> optional_out) {
  return SumRows::apply(src, pointers, optional_out)[0];
}

std::tuple<torch::Tensor, torch::Tensor> segment_mean_and_count(torch::Tensor src, torch::Tensor pointers) {
  auto counts = pointers.slice(0, 1) - pointers.slice(0, 0, -1);
  auto mean = segment_sum(src, pointers, torch::nullopt) / counts.clamp_min(1).to(src.scalar_type()).unsqueeze(-1);
  return std::make_tuple(mean, counts);
}

TORCH_LIBRARY(segments, m) {
  m.def("segment_sum(Tensor src, Tensor pointers, Tensor? out=None) -> Tensor", segment_sum);
  m.def("segment_mean_and_count", segment_mean_and_count);
}
