// The nearest neighbours of points: at::parallel_for over rows, GRAIN_SIZE, a reduction, an operator found by type.
#include <ATen/Parallel.h>
#include <torch/extension.h>

#include <limits>

at::Tensor nearest(const at::Tensor& queries, const at::Tensor& points) {
  TORCH_CHECK(queries.size(1) == points.size(1), "nearest: ", queries.size(1), " and ", points.size(1), " coordinates");
  TORCH_CHECK_EQ(queries.scalar_type(), points.scalar_type());
  const auto n = queries.size(0), m = points.size(0), d = points.size(1);
  auto found = at::full({n}, -1, queries.options().dtype(at::kLong));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(
      queries.scalar_type(), "nearest", ([&] {
        using acc_t = at::acc_type<scalar_t, false>;
        auto q = queries.accessor<scalar_t, 2>();
        auto p = points.accessor<scalar_t, 2>();
        auto f = found.accessor<int64_t, 1>();
        at::parallel_for(0, n, at::internal::GRAIN_SIZE / std::max<int64_t>(m * d, 1), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            acc_t best = std::numeric_limits<acc_t>::infinity();
            for (int64_t j = 0; j < m; ++j) {
              acc_t distance = 0;
              for (int64_t k = 0; k < d; ++k) {
                const acc_t step = static_cast<acc_t>(q[i][k]) - static_cast<acc_t>(p[j][k]);
                distance += step * step;
              }
              if (distance < best) best = distance, f[i] = j;
            }
          }
        });
      }));
  return found;
}

double farthest(const at::Tensor& x) {
  const auto a = x.contiguous();
  const auto* values = a.data_ptr<float>();
  return at::parallel_reduce(
      int64_t{0}, a.numel(), int64_t{100}, 0.0,
      [&](int64_t begin, int64_t end, double most) {
        for (int64_t i = begin; i < end; i++) most = std::max(most, std::abs(static_cast<double>(values[i])));
        return most;
      },
      [](double a, double b) { return std::max(a, b); });
}

TORCH_LIBRARY(nearest, m) {
  m.def("nearest(Tensor queries, Tensor points) -> Tensor");
  m.def("farthest(Tensor x) -> float", farthest);
  m.def("through_the_dispatcher", [](const at::Tensor& queries, const at::Tensor& points) {
    static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("nearest::nearest", "").typed<decltype(nearest)>();
    return op.call(queries, points);
  });
}
TORCH_LIBRARY_IMPL(nearest, CPU, m) { m.impl("nearest", nearest); }
TORCH_LIBRARY_IMPL(nearest, Meta, m) {
  m.impl("nearest", [](const at::Tensor& queries, const at::Tensor&) {
    return at::empty({queries.size(0)}, queries.options().dtype(at::kLong));
  });
}
