// arange.start_step, in float64 if one of its numbers is a float, else in int64.
#include "operands.h"

namespace cuda {
namespace {

template <class Made>
lamella_status run(const lamella_tensor* out, Made start, Made step) {
  static Kernels kernels("arange.cu");
  Kernel& kernel = kernels.get({out->dtype, std::is_same_v<Made, double>}, [&] {
    return text("arange<", std::is_same_v<Made, double> ? "double" : "int64_t", ", ", type_name(out->dtype), ">");
  });
  const void* data = out->dl.data;
  const int64_t n = out->numel;
  return launch(kernel, out, blocks_for(out, n, 256), {256}, 0, data, n, start, step);
}

Status arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<lamella::ScalarType>,
              std::optional<lamella::Layout>, const std::optional<lamella::Device>&, std::optional<bool>,
              const Tensor& out) {
  const Result to(out);
  const bool real = start.isFloatingPoint() || end.isFloatingPoint() || step.isFloatingPoint();
  if (lamella_status st =
          real ? run(to.get(), start.toDouble(), step.toDouble()) : run(to.get(), start.toLong(), step.toLong()))
    return st;
  return to.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) { add<arange>(m, "arange.start_step"); }

}  // namespace cuda
