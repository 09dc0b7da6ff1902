// Pools of lines and images and their gradients: kernels/pooling.cu.
#include "kernels/pooling.h"

#include "operands.h"

namespace cuda {
namespace {

// Describes a pool. `image` and `result` end with the spatial dimensions. If `kernel` is empty, the pool is adaptive.
Pool pool_of(const lamella_tensor* image, const lamella_tensor* result, int spatial, IntList kernel = {},
             IntList stride = {}, IntList padding = {}, IntList dilation = {}) {
  const int n = image->dl.ndim - spatial;
  Pool w{lamella::window_of<2>(spatial, image->dl.shape + n, result->dl.shape + n, kernel, stride, padding, dilation),
         count_of(image, 0, n)};
  w.adaptive = kernel.empty();
  return w;
}

// The lowest number of a dtype, -infinity for floats, as an element.
struct Lowest {
  alignas(8) unsigned char bytes[8] = {};
  explicit Lowest(int dtype) {
    const uint16_t half = dtype == LAMELLA_FLOAT16 ? 0xfc00 : 0xff80;
    const float single = -std::numeric_limits<float>::infinity();
    const double wide = -std::numeric_limits<double>::infinity();
    if (is_half(dtype))
      std::memcpy(bytes, &half, 2);
    else if (dtype == LAMELLA_FLOAT32)
      std::memcpy(bytes, &single, 4);
    else if (dtype == LAMELLA_FLOAT64)
      std::memcpy(bytes, &wide, 8);
    else if (lamella::is_signed(lamella::ScalarType(dtype)))
      bytes[item_of(dtype) - 1] = 0x80;
  }
};

// Returns whether 32 bits hold the numbers of elements and the places of windows, also those outside of the image.
bool is_small(const Pool& w) {
  int64_t elements[2] = {w.planes, w.planes};
  for (int d = 0; d < 2; d++) {
    elements[0] *= w.image[d];
    elements[1] *= w.places[d];
    const int64_t limits[] = {w.kernel[d], w.dilation[d], w.stride[d], w.padding[d]};
    if (*std::max_element(std::begin(limits), std::end(limits)) >> 31) return false;
    if (((w.places[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d]) >> 31) return false;
  }
  return !(elements[0] >> 31) && !(elements[1] >> 31);
}

lamella_status max_pool(const Tensor& self, Pool w, const Tensor& values, const Tensor& indices) {
  static Kernels kernels("pooling.cu");
  if (!values.numel()) return LAMELLA_OK;
  const Operand x(self);
  const Result v(values);
  std::optional<Result> i;
  if (indices.defined()) i.emplace(indices);
  const int t = x.get()->dtype;
  const bool small = is_small(w), dense = w.dilation[0] == 1 && w.dilation[1] == 1 && w.kernel[0] == w.kernel[1];
  const int side = small && dense && (w.kernel[0] == 2 || w.kernel[0] == 3) ? static_cast<int>(w.kernel[0]) : 0;
  Kernel& kernel = kernels.get(
      {t, side, small}, [&] { return text("max_pool<", type_name(t), small ? ", i32, " : ", i64, ", side, ">"); });
  Lowest least(t);
  const lamella::Quotient across = lamella::quotient_by(w.places[1]), down = lamella::quotient_by(w.places[0]);
  const void* from = x.data();
  void *to = v.data(), *at = i ? i->data() : nullptr;
  const void* arguments[] = {&from, &w, least.bytes, &to, &at, &across, &down};
  if (lamella_status st =
          launch(kernel, x.get(), grid_for(x.get(), values.numel()), {256}, 0, const_cast<void**>(arguments)))
    return st;
  if (i)
    if (lamella_status st = i->finish()) return st;
  return v.finish();
}

template <int Spatial>
Status max_pool_plain(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation, bool,
                      const Tensor& out) {
  return max_pool(self, pool_of(self.get(), out.get(), Spatial, kernel_size, stride, padding, dilation), out, Tensor());
}
Status max_pool_indices(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation,
                        bool, const Tensor& values, const Tensor& indices) {
  return max_pool(self, pool_of(self.get(), values.get(), 2, kernel_size, stride, padding, dilation), values, indices);
}

// Launches a kernel that reads one tensor and writes another.
lamella_status run(Kernels& kernels, const char* name, const Tensor& from, const Pool& w, const Tensor& out) {
  if (!out.numel()) return LAMELLA_OK;
  const Operand x(from);
  const Result to(out);
  const int t = x.get()->dtype;
  Kernel& kernel = kernels.get({t}, [&] { return text(name, "<", type_name(t), ">"); });
  if (lamella_status st = launch(kernel, x.get(), grid_for(x.get(), out.numel()), {256}, 0, x.data(), w, to.data()))
    return st;
  return to.finish();
}

Status max_pool_backward(const Tensor& grad_output, const Tensor& self, IntList kernel_size, IntList stride,
                         IntList padding, IntList dilation, bool, const Tensor& indices, const Tensor& out) {
  static Kernels kernels("pooling.cu"), strays("pooling.cu");
  if (!out.numel()) return LAMELLA_OK;
  const Pool w = pool_of(self.get(), grad_output.get(), 2, kernel_size, stride, padding, dilation);
  const Operand g(grad_output), i(indices);
  const Result to(out);
  const int t = g.get()->dtype;
  Kernel& kernel = kernels.get({t}, [&] { return text("max_pool_backward<", type_name(t), ">"); });
  if (lamella_status st =
          launch(kernel, g.get(), grid_for(g.get(), out.numel()), {256}, 0, g.data(), i.data(), w, to.data()))
    return st;
  Kernel& others = strays.get({t}, [&] { return text("max_pool_strays<", type_name(t), ">"); });
  const int64_t most = int64_t{1} << 30;
  if (lamella_status st = launch(others, g.get(), {static_cast<unsigned>(std::min(w.planes, most))}, {256}, 0, g.data(),
                                 i.data(), w, to.data()))
    return st;
  return to.finish();
}

Kernels averages("pooling.cu"), averages_backward("pooling.cu");

template <int Spatial>
lamella_status average(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool count_padding,
                       int64_t divisor, const Tensor& out) {
  Pool w = pool_of(self.get(), out.get(), Spatial, kernel_size, stride, padding);
  w.count_padding = count_padding;
  w.divisor = divisor;
  return run(averages, "average_pool", self, w, out);
}
Status avg_pool1d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool,
                  bool count_include_pad, const Tensor& out) {
  return average<1>(self, kernel_size, stride, padding, count_include_pad, 0, out);
}
Status avg_pool2d(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool,
                  bool count_include_pad, std::optional<int64_t> divisor_override, const Tensor& out) {
  return average<2>(self, kernel_size, stride, padding, count_include_pad, divisor_override.value_or(0), out);
}
Status avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, IntList kernel_size, IntList stride,
                           IntList padding, bool, bool count_include_pad, std::optional<int64_t> divisor_override,
                           const Tensor& out) {
  Pool w = pool_of(self.get(), grad_output.get(), 2, kernel_size, stride, padding);
  w.count_padding = count_include_pad;
  w.divisor = divisor_override.value_or(0);
  return run(averages_backward, "average_pool_backward", grad_output, w, out);
}

template <int Spatial>
Status adaptive_avg_pool(const Tensor& self, IntList, const Tensor& out) {
  const Pool w = pool_of(self.get(), out.get(), Spatial);
  return run(averages, "average_pool", self, w, out);
}
Status adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& out) {
  const Pool w = pool_of(self.get(), grad_output.get(), 2);
  return run(averages_backward, "average_pool_backward", grad_output, w, out);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<max_pool_plain<1>>(m, "max_pool1d");
  add<max_pool_plain<2>>(m, "max_pool2d");
  add<max_pool_indices>(m, "max_pool2d_with_indices");
  add<max_pool_backward>(m, "max_pool2d_with_indices_backward");
  add<avg_pool1d>(m, "avg_pool1d");
  add<avg_pool2d>(m, "avg_pool2d");
  add<avg_pool2d_backward>(m, "avg_pool2d_backward");
  add<adaptive_avg_pool<1>>(m, "adaptive_avg_pool1d");
  add<adaptive_avg_pool<2>>(m, "adaptive_avg_pool2d");
  add<adaptive_avg_pool2d_backward>(m, "_adaptive_avg_pool2d_backward");
}

}  // namespace cuda
