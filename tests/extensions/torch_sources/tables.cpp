// Takes rows by indices from a table in this file, and uses small idioms that are frequent in torch's sources.
#include <c10/util/Exception.h>
#include <torch/extension.h>

#include <array>

static std::array<float, 6> table = {0, 1, 2, 3, 4, 5};

torch::Tensor look_up(const torch::Tensor& indices, c10::optional<at::ScalarType> dtype) {
  TORCH_CHECK_INDEX(indices.numel() == 0 || indices.max().item<int64_t>() < 3, "look_up: the table has 3 rows");
  TORCH_CHECK_TYPE(at::isIntegralType(indices.scalar_type(), /*includeBool=*/false),
                   "look_up: indices must be integers");
  auto all = torch::from_blob(table.data(), {3, 2}, torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCPU));
  auto rows = all.index_select(0, indices.flatten()).view({-1, 2});
  return dtype ? rows.to(*dtype) : rows.clone();
}

std::tuple<at::Tensor, int64_t, std::string> about(const at::Tensor& x, at::IntArrayRef shape, c10::string_view name) {
  int64_t numel = 1;
  for (auto n : shape) numel *= n;
  const auto dim = at::maybe_wrap_dim(-1, x.dim());
  auto one = torch::ones(shape, x.options().requires_grad(false)) * torch::tensor({2.0, 3.0}).sum();
  return {one, numel + dim, std::string(name) + ":" + x.device().str() + ":" + c10::toString(x.scalar_type())};
}

torch::Tensor clipped(torch::Tensor x, double low, double high) {
  if (C10_UNLIKELY(low > high)) AT_ERROR("clipped: ", low, " > ", high);
  torch::AutoGradMode off(false);
  auto mask = torch::logical_or(x<low, x> high);
  return torch::where(mask, torch::zeros_like(x), x).contiguous(at::MemoryFormat::Contiguous);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("look_up", &look_up, "rows of the table", pybind11::arg("indices"), pybind11::arg("dtype") = c10::nullopt);
  m.def("about",
        [](const at::Tensor& x, std::vector<int64_t> shape, std::string name) { return about(x, shape, name); });
  m.def("clipped", &clipped);
}
