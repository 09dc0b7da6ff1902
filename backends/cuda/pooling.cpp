// Pools of lines and images and their gradients: kernels/pooling.cu.
#include "kernels/divisor.h"
#include "kernels/pooling.h"

#include "operands.h"

namespace cuda {
namespace {

int64_t number(IntList list, int i) { return list[list.size() == 1 ? 0 : static_cast<size_t>(i)]; }

// `image` and `result` end with the spatial dimensions.
Window window_of(const lamella_tensor* image, const lamella_tensor* result, int spatial) {
  Window w;
  const int n = image->dl.ndim - spatial;
  w.planes = count_of(image, 0, n);
  for (int i = 0; i < spatial; i++) {
    const int d = 2 - spatial + i;
    w.size[d] = image->dl.shape[n + i];
    w.places[d] = result->dl.shape[n + i];
  }
  return w;
}
Window window_of(const lamella_tensor* image, const lamella_tensor* result, int spatial, IntList kernel, IntList stride,
                 IntList padding, IntList dilation) {
  Window w = window_of(image, result, spatial);
  for (int i = 0; i < spatial; i++) {
    const int d = 2 - spatial + i;
    w.kernel[d] = number(kernel, i);
    w.stride[d] = stride.empty() ? w.kernel[d] : number(stride, i);
    w.padding[d] = number(padding, i);
    w.dilation[d] = number(dilation, i);
  }
  return w;
}

// The dtype's lowest number, as an element.
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

// Whether numbers of 32 bits suffice for elements and for the places of windows, also those beside the image.
bool is_small(const Window& w) {
  int64_t elements[2] = {w.planes, w.planes};
  for (int d = 0; d < 2; d++) {
    elements[0] *= w.size[d];
    elements[1] *= w.places[d];
    const int64_t limits[] = {w.kernel[d], w.dilation[d], w.stride[d], w.padding[d]};
    if (*std::max_element(std::begin(limits), std::end(limits)) >> 31) return false;
    if (((w.places[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d]) >> 31) return false;
  }
  return !(elements[0] >> 31) && !(elements[1] >> 31);
}

lamella_status max_pool(const Tensor& self, Window w, const Tensor& values, const Tensor& indices) {
  static Kernels kernels("pooling.cu");
  if (!values.numel()) return LAMELLA_OK;
  const Tensor x = plain(self);
  const PlainOutput v(values);
  std::optional<PlainOutput> i;
  if (indices.defined()) i.emplace(indices);
  const int t = x.get()->dtype;
  const bool small = is_small(w), dense = w.dilation[0] == 1 && w.dilation[1] == 1 && w.kernel[0] == w.kernel[1];
  const int side = small && dense && (w.kernel[0] == 2 || w.kernel[0] == 3) ? static_cast<int>(w.kernel[0]) : 0;
  Kernel& kernel = kernels.get(
      {t, side, small}, [&] { return text("max_pool<", type_name(t), small ? ", i32, " : ", i64, ", side, ">"); });
  Lowest least(t);
  Divisor across = divisor_of(w.places[1]), down = divisor_of(w.places[0]);
  void *from = x.data_ptr(), *to = v.data(), *at = i ? i->data() : nullptr;
  void* arguments[] = {&from, &w, least.bytes, &to, &at, &across, &down};
  if (lamella_status st = launch(kernel, x.get(), grid_for(x.get(), values.numel()), {256}, 0, arguments)) return st;
  if (i)
    if (lamella_status st = i->close()) return st;
  return v.close();
}

template <int Spatial>
Status max_pool_plain(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation, bool,
                      const Tensor& out) {
  return max_pool(self, window_of(self.get(), out.get(), Spatial, kernel_size, stride, padding, dilation), out,
                  Tensor());
}
Status max_pool_indices(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, IntList dilation,
                        bool, const Tensor& values, const Tensor& indices) {
  return max_pool(self, window_of(self.get(), values.get(), 2, kernel_size, stride, padding, dilation), values,
                  indices);
}

// One of the kernels that read one tensor and write another one.
lamella_status run(Kernels& kernels, const char* name, const Tensor& from, const Window& w, const Tensor& out) {
  if (!out.numel()) return LAMELLA_OK;
  const Tensor x = plain(from);
  const PlainOutput to(out);
  const int t = x.get()->dtype;
  Kernel& kernel = kernels.get({t}, [&] { return text(name, "<", type_name(t), ">"); });
  if (lamella_status st = launch(kernel, x.get(), grid_for(x.get(), out.numel()), {256}, 0, x.data_ptr(), w, to.data()))
    return st;
  return to.close();
}

Status max_pool_backward(const Tensor& grad_output, const Tensor& self, IntList kernel_size, IntList stride,
                         IntList padding, IntList dilation, bool, const Tensor& indices, const Tensor& out) {
  static Kernels kernels("pooling.cu"), strays("pooling.cu");
  if (!out.numel()) return LAMELLA_OK;
  const Window w = window_of(self.get(), grad_output.get(), 2, kernel_size, stride, padding, dilation);
  const Tensor g = plain(grad_output), i = plain(indices);
  const PlainOutput to(out);
  const int t = g.get()->dtype;
  Kernel& kernel = kernels.get({t}, [&] { return text("max_pool_backward<", type_name(t), ">"); });
  if (lamella_status st =
          launch(kernel, g.get(), grid_for(g.get(), out.numel()), {256}, 0, g.data_ptr(), i.data_ptr(), w, to.data()))
    return st;
  Kernel& others = strays.get({t}, [&] { return text("max_pool_strays<", type_name(t), ">"); });
  const int64_t most = int64_t{1} << 30;
  if (lamella_status st = launch(others, g.get(), {static_cast<unsigned>(std::min(w.planes, most))}, {256}, 0,
                                 g.data_ptr(), i.data_ptr(), w, to.data()))
    return st;
  return to.close();
}

Kernels averages("pooling.cu"), averages_backward("pooling.cu");

template <int Spatial>
lamella_status average(const Tensor& self, IntList kernel_size, IntList stride, IntList padding, bool count_padding,
                       int64_t divisor, const Tensor& out) {
  Window w = window_of(self.get(), out.get(), Spatial, kernel_size, stride, padding, IntList(1));
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
  Window w = window_of(self.get(), grad_output.get(), 2, kernel_size, stride, padding, IntList(1));
  w.count_padding = count_include_pad;
  w.divisor = divisor_override.value_or(0);
  return run(averages_backward, "average_pool_backward", grad_output, w, out);
}

template <int Spatial>
Status adaptive_avg_pool(const Tensor& self, IntList, const Tensor& out) {
  Window w = window_of(self.get(), out.get(), Spatial);
  w.adaptive = true;
  return run(averages, "average_pool", self, w, out);
}
Status adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& out) {
  Window w = window_of(self.get(), grad_output.get(), 2);
  w.adaptive = true;
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
