// Non-maximum suppression, as packages for detection write it: accessors, a dispatch by dtype, a vector of kept boxes.
#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <torch/library.h>

#include <algorithm>

namespace boxes {

template <typename scalar_t>
at::Tensor suppress_kernel(const at::Tensor& corners, const at::Tensor& scores, double threshold) {
  const auto order_t = std::get<1>(scores.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true));
  const at::Tensor areas =
      (corners.select(1, 2) - corners.select(1, 0)) * (corners.select(1, 3) - corners.select(1, 1));
  at::Tensor gone_t = at::zeros({corners.size(0)}, corners.options().dtype(at::kByte));
  at::Tensor kept_t = at::zeros({corners.size(0)}, corners.options().dtype(at::kLong));
  auto gone = gone_t.data_ptr<uint8_t>();
  auto kept = kept_t.data_ptr<int64_t>();
  const auto order = order_t.data_ptr<int64_t>();
  const auto box = corners.accessor<scalar_t, 2>();
  const at::Tensor dense = areas.contiguous();
  const auto area = dense.accessor<scalar_t, 1>();
  int64_t count = 0;
  for (const auto i_ : c10::irange(corners.size(0))) {
    const int64_t i = order[i_];
    if (gone[i] == 1) continue;
    kept[count++] = i;
    for (int64_t j_ = i_ + 1; j_ < corners.size(0); j_++) {
      const int64_t j = order[j_];
      const auto width = std::max<scalar_t>(0, std::min(box[i][2], box[j][2]) - std::max(box[i][0], box[j][0]));
      const auto height = std::max<scalar_t>(0, std::min(box[i][3], box[j][3]) - std::max(box[i][1], box[j][1]));
      const auto shared = width * height;
      if (shared / (area[i] + area[j] - shared) > threshold) gone[j] = 1;
    }
  }
  return kept_t.narrow(/*dim=*/0, /*start=*/0, /*length=*/count);
}

at::Tensor suppress(const at::Tensor& corners, const at::Tensor& scores, double threshold) {
  TORCH_CHECK(corners.dim() == 2 && corners.size(1) == 4, "boxes should be a 2d tensor of four columns, got ",
              corners.sizes());
  TORCH_CHECK_VALUE(corners.scalar_type() == scores.scalar_type(), "corners are ", c10::toString(corners.scalar_type()),
                    ", scores ", c10::toString(scores.scalar_type()));
  if (corners.numel() == 0) return at::empty({0}, corners.options().dtype(at::kLong));
  auto result = at::empty({0}, corners.options());
  AT_DISPATCH_FLOATING_TYPES(corners.scalar_type(), "suppress",
                             [&] { result = suppress_kernel<scalar_t>(corners.contiguous(), scores, threshold); });
  return result;
}

}  // namespace boxes

TORCH_LIBRARY(boxes, m) { m.def("suppress(Tensor corners, Tensor scores, float threshold) -> Tensor"); }
TORCH_LIBRARY_IMPL(boxes, CPU, m) { m.impl(TORCH_SELECTIVE_NAME("boxes::suppress"), TORCH_FN(boxes::suppress)); }
