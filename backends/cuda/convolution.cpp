// Convolutions of one to three spatial dimensions and their gradients. cuDNN computes floats if it was opened, is
// enabled and supports the problem; kernels/convolution.cu computes all others.
#include <algorithm>

#include "dnn.h"
#include "elementwise.h"

namespace cuda {
namespace {

constexpr int side = 64;

// Describes a convolution by the sizes of an image (images, channels, ...), a weight and a result, and by the stride,
// the padding, the dilation and the groups.
Images images_of(IntList x, IntList w, IntList y, IntList stride, IntList padding, IntList dilation, int64_t groups) {
  Images s{};
  const size_t spatial = x.size() - 2;
  const lamella::Window<3> all = lamella::window_of<3>(static_cast<int>(spatial), x.data() + 2, y.data() + 2,
                                                       IntList(w.data() + 2, spatial), stride, padding, dilation);
  s.images = x[0];
  s.groups = groups;
  s.in = w[1];
  s.out = w[0] / groups;
  s.positions = s.spots = s.taps = 1;
  for (int d = 0; d < 3; d++) {
    LAMELLA_CHECK_NOT_IMPLEMENTED(
        (all.image[d] + 2 * all.padding[d]) >> 30 == 0 && (all.dilation[d] * all.kernel[d]) >> 30 == 0,
        "cuda: 2^30 or more pixels along one dimension are not supported, got ", all.image[d] + 2 * all.padding[d],
        " for the padded image and ", all.dilation[d] * all.kernel[d], " for the dilated kernel");
    s.size[d] = static_cast<int32_t>(all.image[d]);
    s.kernel[d] = static_cast<int32_t>(all.kernel[d]);
    s.stride[d] = static_cast<int32_t>(all.stride[d]);
    s.padding[d] = static_cast<int32_t>(all.padding[d]);
    s.dilation[d] = static_cast<int32_t>(all.dilation[d]);
    s.places[d] = static_cast<int32_t>(all.places[d]);
    s.by_kernel[d] = lamella::quotient_by(all.kernel[d]);
    s.by_places[d] = lamella::quotient_by(all.places[d]);
    s.by_size[d] = lamella::quotient_by(all.image[d]);
    s.by_stride[d] = lamella::quotient_by(all.stride[d]);
    s.positions *= all.image[d];
    s.spots *= all.places[d];
    s.taps *= all.kernel[d];
  }
  s.by_taps = lamella::quotient_by(s.taps);
  LAMELLA_CHECK_NOT_IMPLEMENTED(
      s.positions >> 31 == 0 && s.spots >> 31 == 0 && (s.in * s.taps) >> 31 == 0 && (s.out * s.taps) >> 31 == 0,
      "cuda: 2^31 or more positions of an image, or terms of a sum, are not supported, got ", s.positions,
      " positions of the input, ", s.spots, " of the output, and ", s.in * s.taps, " and ", s.out * s.taps, " terms");
  return s;
}

Dim tiles(int64_t batches, int64_t rows, int64_t columns, int64_t parts = 1) {
  const int64_t count = batches * ((rows + side - 1) / side) * ((columns + side - 1) / side);
  LAMELLA_CHECK_NOT_IMPLEMENTED(count >> 31 == 0, "cuda: a result of 2^31 or more tiles is not supported, got ", count,
                                "; split the batch");
  return {static_cast<unsigned>(count), static_cast<unsigned>(parts)};
}

// Adds the bias, one number for each channel, to out; an undefined bias adds nothing.
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
  const Images s = images_of(input.sizes(), weight.sizes(), out.sizes(), stride, padding, dilation, groups);
  bool done;
  if (lamella_status st = dnn_convolve(Pass::output, s, input, weight, out, &done)) return st;
  if (done) return add_bias(out, bias);
  const Operand x(input), w(weight), b(bias);
  const Result to(out);
  const int t = x.get()->dtype;
  Kernel& kernel = kernels.get({t}, [&] { return text("convolve<", type_name(t), ", ", side, ">"); });
  if (lamella_status st = launch(kernel, x.get(), tiles(groups, s.out, s.images * s.spots), {256}, 0, x.data(),
                                 w.data(), b.data(), to.data(), s))
    return st;
  return to.finish();
}

Status backward_input(const Tensor& grad_output, const Tensor& weight, IntList input_size, IntList stride,
                      IntList padding, IntList dilation, int64_t groups, const Tensor& out) {
  static Kernels kernels("convolution.cu", "-fmad=true");
  if (!out.numel()) return LAMELLA_OK;
  const Images s = images_of(input_size, weight.sizes(), grad_output.sizes(), stride, padding, dilation, groups);
  bool done;
  if (lamella_status st = dnn_convolve(Pass::image, s, out, weight, grad_output, &done); st || done) return st;
  const Operand g(grad_output), w(weight);
  const Result to(out);
  const int t = g.get()->dtype;
  Kernel& kernel = kernels.get({t}, [&] { return text("convolve_backward_input<", type_name(t), ", ", side, ">"); });
  if (lamella_status st = launch(kernel, g.get(), tiles(groups, s.in, s.images * s.positions), {256}, 0, g.data(),
                                 w.data(), to.data(), s))
    return st;
  return to.finish();
}

// Returns the type in which sums of a dtype are kept. Integers are unsigned there, so that their sums wrap.
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
  const Images s = images_of(input.sizes(), weight_size, grad_output.sizes(), stride, padding, dilation, groups);
  bool done;
  if (lamella_status st = dnn_convolve(Pass::weight, s, input, out, grad_output, &done); st || done) return st;
  const Operand g(grad_output), x(input);
  const Result to(out);
  const int t = g.get()->dtype, item = item_of(t) < 4 ? 4 : item_of(t);
  // The weight's gradient has few tiles and long sums. So the sums are cut into parts, which keep the device busy and
  // are added up in a fixed order.
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
  if (lamella_status st =
          launch(kernel, g.get(), {grid.x, static_cast<unsigned>(parts)}, {256}, 0, g.data(), x.data(), into, part, s))
    return st;
  if (parts > 1) {
    Kernel& adds = sums.get({t}, [&] { return text("add_parts<", r, ", ", type_name(t), ">"); });
    if (lamella_status st = launch(adds, g.get(), grid_for(g.get(), numel, 32), {32, 16}, 0, into, parts, numel,
                                   to.data(), static_cast<void*>(nullptr)))
      return st;
  }
  return to.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<convolution>(m, "convolution");
  add<backward_input>(m, "_convolution_backward_input");
  add<backward_weight>(m, "_convolution_backward_weight");
}

}  // namespace cuda
