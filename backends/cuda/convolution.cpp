// Convolutions of one to three spatial dimensions and their gradients: by cuDNN for floats where it is there, else by
// kernels/convolution.cu.
#include <algorithm>

#include "dnn.h"
#include "elementwise.h"

namespace cuda {
namespace {

constexpr int side = 64;

int64_t number(IntList list, int i, int64_t otherwise) {
  return list.empty() ? otherwise : list[list.size() == 1 ? 0 : static_cast<size_t>(i)];
}

// Sizes of an image (images, channels, ...) and of a weight, and how one goes over the other.
Images images_of(IntList x, IntList w, IntList stride, IntList padding, IntList dilation, int64_t groups) {
  Images s{};
  const int spatial = static_cast<int>(x.size()) - 2;
  s.images = x[0];
  s.groups = groups;
  s.in = w[1];
  s.out = w[0] / groups;
  s.positions = s.spots = s.taps = 1;
  for (int d = 0; d < 3; d++) {
    const int i = d - (3 - spatial);  // absent dimensions come first
    const int64_t size = i < 0 ? 1 : x[2 + i], kernel = i < 0 ? 1 : w[2 + i];
    const int64_t step = i < 0 ? 1 : number(stride, i, 1), pad = i < 0 ? 0 : number(padding, i, 0),
                  gap = i < 0 ? 1 : number(dilation, i, 1);
    const int64_t places = (size + 2 * pad - gap * (kernel - 1) - 1) / step + 1;
    LAMELLA_CHECK_NOT_IMPLEMENTED((size + 2 * pad) >> 30 == 0 && (gap * kernel) >> 30 == 0,
                                  "cuda: an image of 2^30 pixels along one dimension");
    s.size[d] = static_cast<int32_t>(size);
    s.kernel[d] = static_cast<int32_t>(kernel);
    s.stride[d] = static_cast<int32_t>(step);
    s.padding[d] = static_cast<int32_t>(pad);
    s.dilation[d] = static_cast<int32_t>(gap);
    s.places[d] = static_cast<int32_t>(places);
    s.by_kernel[d] = divisor_of(kernel);
    s.by_places[d] = divisor_of(places);
    s.by_size[d] = divisor_of(size);
    s.by_stride[d] = divisor_of(step);
    s.positions *= size;
    s.spots *= places;
    s.taps *= kernel;
  }
  s.by_taps = divisor_of(s.taps);
  LAMELLA_CHECK_NOT_IMPLEMENTED(
      s.positions >> 31 == 0 && s.spots >> 31 == 0 && (s.in * s.taps) >> 31 == 0 && (s.out * s.taps) >> 31 == 0,
      "cuda: a convolution over more than 2^31 positions or terms");
  return s;
}

Dim tiles(int64_t batches, int64_t rows, int64_t columns, int64_t parts = 1) {
  const int64_t count = batches * ((rows + side - 1) / side) * ((columns + side - 1) / side);
  LAMELLA_CHECK_NOT_IMPLEMENTED(count >> 31 == 0, "cuda: a convolution of more than 2^31 tiles");
  return {static_cast<unsigned>(count), static_cast<unsigned>(parts)};
}

// out += bias, a number for each channel.
lamella_status add_bias(const Tensor& out, const Tensor& bias) {
  if (!bias.defined()) return LAMELLA_OK;
  const lamella_tensor *y = out.get(), *b = bias.get();
  int64_t sizes[5] = {1, b->dl.shape[0], 1, 1, 1}, strides[5] = {0, b->dl.strides[0]};
  const Tensor spread = view_of(b, y->dl.ndim, sizes, strides);
  Element e{};
  e.text = "x + y";
  e.compute = y->dtype;
  std::fill(e.dtypes, e.dtypes + 3, y->dtype);
  const lamella_tensor* inputs[] = {y, spread.get()};
  return run_elementwise(e, y, inputs, 2, Numbers());
}

Status convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,
                   IntList dilation, int64_t groups, const Tensor& out) {
  static Kernels kernels("convolution.cu", "-fmad=true");
  if (!out.numel()) return LAMELLA_OK;
  const Images s = images_of(input.sizes(), weight.sizes(), stride, padding, dilation, groups);
  bool done;
  if (lamella_status st = dnn_convolve(Pass::output, s, input, weight, out, &done)) return st;
  if (done) return add_bias(out, bias);
  const Tensor x = plain(input), w = plain(weight), b = plain(bias);
  const PlainOutput to(out);
  const int t = x.get()->dtype;
  Kernel& kernel = kernels.get({t}, [&] { return text("convolve<", type_name(t), ", ", side, ">"); });
  if (lamella_status st = launch(kernel, x.get(), tiles(groups, s.out, s.images * s.spots), {256}, 0, x.data_ptr(),
                                 w.data_ptr(), data_of<void>(b), to.data(), s))
    return st;
  return to.close();
}

Status backward_input(const Tensor& grad_output, const Tensor& weight, IntList input_size, IntList stride,
                      IntList padding, IntList dilation, int64_t groups, const Tensor& out) {
  static Kernels kernels("convolution.cu", "-fmad=true");
  if (!out.numel()) return LAMELLA_OK;
  const Images s = images_of(input_size, weight.sizes(), stride, padding, dilation, groups);
  bool done;
  if (lamella_status st = dnn_convolve(Pass::image, s, out, weight, grad_output, &done); st || done) return st;
  const Tensor g = plain(grad_output), w = plain(weight);
  const PlainOutput to(out);
  const int t = g.get()->dtype;
  Kernel& kernel = kernels.get({t}, [&] { return text("convolve_backward_input<", type_name(t), ", ", side, ">"); });
  if (lamella_status st = launch(kernel, g.get(), tiles(groups, s.in, s.images * s.positions), {256}, 0, g.data_ptr(),
                                 w.data_ptr(), to.data(), s))
    return st;
  return to.close();
}

// The type of sums of a dtype: integers wrap.
const char* sum_name(int dtype) {
  if (is_half(dtype)) return "float";
  if (lamella::dtype_class(lamella::ScalarType(dtype)) == LAMELLA_CLASS_INTEGRAL)
    return item_of(dtype) == 8 ? "uint64_t" : "uint32_t";
  return type_name(dtype);
}

Status backward_weight(const Tensor& grad_output, const Tensor& input, IntList weight_size, IntList stride,
                       IntList padding, IntList dilation, int64_t groups, const Tensor& out) {
  static Kernels kernels("convolution.cu", "-fmad=true");
  static Kernels sums("convolution.cu");
  if (!out.numel()) return LAMELLA_OK;
  const Images s = images_of(input.sizes(), weight_size, stride, padding, dilation, groups);
  bool done;
  if (lamella_status st = dnn_convolve(Pass::weight, s, input, out, grad_output, &done); st || done) return st;
  const Tensor g = plain(grad_output), x = plain(input);
  const PlainOutput to(out);
  const int t = g.get()->dtype, item = item_of(t) < 4 ? 4 : item_of(t);
  // A weight has few tiles and long sums: parts of these keep the device busy, and are added up in order.
  const int64_t depth = s.images * s.spots, columns = s.in * s.taps;
  const Dim grid = tiles(groups, s.out, columns);
  const int64_t busy = 528 / grid.x + 1, long_enough = (depth + 1023) / 1024,
                parts = std::max<int64_t>(1, std::min(busy, long_enough));
  const int64_t part = (depth + parts - 1) / parts;
  const char* r = parts == 1 ? type_name(t) : sum_name(t);
  Kernel& kernel = kernels.get(
      {t, parts > 1}, [&] { return text("convolve_backward_weight<", type_name(t), ", ", r, ", ", side, ">"); });
  const int64_t numel = out.numel();
  Tensor space;
  if (parts > 1) space = space_on(g.get(), parts * numel * item);
  void* into = parts > 1 ? space.data_ptr() : static_cast<void*>(to.data());
  if (lamella_status st = launch(kernel, g.get(), {grid.x, static_cast<unsigned>(parts)}, {256}, 0, g.data_ptr(),
                                 x.data_ptr(), into, part, s))
    return st;
  if (parts > 1) {
    Kernel& adds = sums.get({t}, [&] { return text("add_parts<", r, ", ", type_name(t), ">"); });
    if (lamella_status st = launch(adds, g.get(), grid_for(g.get(), numel, 32), {32, 16}, 0, into, parts, numel,
                                   to.data(), static_cast<void*>(nullptr)))
      return st;
  }
  return to.close();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<convolution>(m, "convolution");
  add<backward_input>(m, "_convolution_backward_input");
  add<backward_weight>(m, "_convolution_backward_weight");
}

}  // namespace cuda
