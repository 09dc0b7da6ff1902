// Convolutions as products: an image is padded once, its windows are packed panel by panel and never stored whole.
#include "backends/cpu/convolution.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "backends/cpu/gemm.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {
namespace {

// Returns the dtype of the computation. Complex numbers are computed as twice as many channels of real numbers; narrow
// types are widened.
int computes_in(int dtype) {
  switch (dtype) {
    case LAMELLA_FLOAT64:
    case LAMELLA_COMPLEX128:
      return LAMELLA_FLOAT64;
    case LAMELLA_INT64:
    case LAMELLA_UINT64:
      return LAMELLA_INT64;
    case LAMELLA_FLOAT16:
    case LAMELLA_BFLOAT16:
    case LAMELLA_FLOAT32:
    case LAMELLA_COMPLEX64:
      return LAMELLA_FLOAT32;
    default:
      return LAMELLA_INT32;
  }
}

int64_t at_least_one(int64_t n) { return std::max<int64_t>(n, 1); }

const WindowLoops& window_kernels() {
  static const WindowLoops& chosen = LAMELLA_BY_ISA(window_loops)();
  return chosen;
}

template <class All>
const auto& of_dtype(const All& all, int dtype) {
  return dtype == LAMELLA_FLOAT32   ? all.f32
         : dtype == LAMELLA_FLOAT64 ? all.f64
         : dtype == LAMELLA_INT32   ? all.u32
                                    : all.u64;
}

}  // namespace

const GemmKernels& gemm_of(int dtype) { return of_dtype(gemms(), dtype); }
const WindowKernels& windows_of(int dtype) { return of_dtype(window_kernels(), dtype); }

lamella_status take_padded(Space* space, const Convolution& c, int64_t channels) {
  const int64_t image = channels * c.plane * c.size, behind = slack * c.size;
  if (lamella_status st = space->take(image + behind)) return st;
  std::memset(space->data() + image, 0, behind);
  return LAMELLA_OK;
}

void pad_sizes(Convolution* c) {
  c->phase = (c->image[2] + 2 * c->padding[2] + c->stride[2] - 1) / c->stride[2];
  c->row = c->phase * c->stride[2];
  c->plane = c->row * (c->image[1] + 2 * c->padding[1]) * (c->image[0] + 2 * c->padding[0]);
}

void read_convolution(const lamella_tensor* input, const lamella_tensor* weight, const lamella_tensor* bias,
                      const lamella_tensor* out, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                      int64_t groups, Convolution* c) {
  c->input = input;
  c->weight = weight;
  c->bias = bias;
  c->out = out;
  const int given = c->out->dtype, dims = c->input->dl.ndim - 2;
  c->dtype = computes_in(given);
  c->parts = is_complex(given) ? 2 : 1;
  c->source = c->parts == 2 ? c->dtype : given;
  c->size = c->dtype == LAMELLA_FLOAT32 || c->dtype == LAMELLA_INT32 ? 4 : 8;
  c->images = c->input->dl.shape[0];
  c->groups = groups;
  c->in = c->weight->dl.shape[1] * c->parts;
  c->outs = c->out->dl.shape[1] / c->groups * c->parts;
  const IntArrayRef kernel(weight->dl.shape + 2, static_cast<size_t>(dims));
  static_cast<Window<3>&>(*c) =
      window_of<3>(dims, input->dl.shape + 2, out->dl.shape + 2, kernel, stride, padding, dilation);
  c->taps = c->count = 1;
  for (int i = 0; i < 3; i++) {
    const int d = i - (3 - dims);
    c->step[i] = d >= 0 ? input->dl.strides[2 + d] * itemsize(input) : 0;
    c->taps *= c->kernel[i];
    c->count *= c->places[i];
  }
  pad_sizes(c);
}

// Returns whether a tap reads the lines at `at` of dimension d of a padded image: steps of the stride leave some out.
static bool is_read(const Convolution& c, int d, int64_t at) {
  if (c.stride[d] == 1) return true;
  for (int64_t t = 0; t < c.kernel[d]; t++)
    if ((at - t * c.dilation[d]) % c.stride[d] == 0) return true;
  return false;
}

void pad_channel(const Convolution& c, int64_t image, int64_t channel, char* to) {
  const int64_t* strides = c.input->dl.strides;
  const char* from = static_cast<const char*>(c.input->dl.data) +
                     (image * strides[0] + channel / c.parts * strides[1]) * itemsize(c.input) +
                     channel % c.parts * c.size;
  const CastLoop convert = loops().cast[c.source][c.dtype];
  const int64_t s = c.stride[2], before = c.padding[2];
  if (c.padding[0] || c.padding[1] || before || c.row != c.image[2]) std::memset(to, c.filler, c.plane * c.size);
  for (int64_t d = 0; d < c.image[0]; d++)
    for (int64_t h = 0; h < c.image[1]; h++) {
      if (!is_read(c, 1, h + c.padding[1])) continue;
      char* row = to + ((d + c.padding[0]) * (c.image[1] + 2 * c.padding[1]) + h + c.padding[1]) * c.row * c.size;
      const char* line = from + d * c.step[0] + h * c.step[1];
      for (int64_t p = 0; p < s; p++) {
        if (!is_read(c, 2, p)) continue;
        // Copies the columns k * s + p - before that lie in the image, from k = `first` on.
        const int64_t first = p >= before ? 0 : (before - p + s - 1) / s, column = first * s + p - before;
        const int64_t n = column < c.image[2] ? (c.image[2] - column + s - 1) / s : 0;
        if (n > 0) convert(n, row + (p * c.phase + first) * c.size, c.size, line + column * c.step[2], s * c.step[2]);
      }
    }
}

void locate(const Convolution& c, int64_t* tap, int64_t* row) {
  const int64_t slice = (c.image[1] + 2 * c.padding[1]) * c.row;
  for (int64_t d = 0; d < c.kernel[0]; d++)
    for (int64_t h = 0; h < c.kernel[1]; h++)
      for (int64_t w = 0; w < c.kernel[2]; w++) {
        const int64_t column = w * c.dilation[2];
        *tap++ = d * c.dilation[0] * slice + h * c.dilation[1] * c.row + column % c.stride[2] * c.phase +
                 column / c.stride[2];
      }
  for (int64_t d = 0; d < c.places[0]; d++)
    for (int64_t h = 0; h < c.places[1]; h++) *row++ = d * c.stride[0] * slice + h * c.stride[1] * c.row;
}

namespace {

// Writes a weight (out, in, taps) of complex numbers as one (2 out, 2 in, taps) of real ones: each number becomes the
// rows (re, -im) and (im, re).
template <class T>
void split_weight(const char* from, int64_t outs, int64_t in, int64_t taps, T* to) {
  auto* w = reinterpret_cast<const std::complex<T>*>(from);
  for (int64_t o = 0; o < outs; o++)
    for (int64_t c = 0; c < in; c++)
      for (int64_t t = 0; t < taps; t++) {
        const std::complex<T> x = w[(o * in + c) * taps + t];
        T* re = to + ((2 * o) * 2 * in + 2 * c) * taps + t;
        T* im = re + 2 * in * taps;
        re[0] = im[taps] = x.real();
        re[taps] = -x.imag();
        im[0] = x.imag();
      }
}

// Returns whether the loops that read and write channels last can compute the convolution: with one channel a group, or
// without groups and with one tap, stride 1 and no padding; nothing may be converted.
bool by_pixels(const Convolution& c) {
  if (!c.channels_last() || c.parts != 1 || c.in == 0 || c.out->dtype != c.dtype || !lies_channels_last(c.input))
    return false;
  if (c.groups > 1) return c.in == 1 && c.outs == 1;
  return c.taps == 1 && c.stride[1] * c.stride[2] == 1 && c.padding[1] + c.padding[2] == 0;
}

// Makes the operands in plain layout and the memory for the results.
void prepare(Convolution* c) {
  const int kept = c->parts == 2 ? c->out->dtype : c->dtype;
  c->operands[0] = Operand(c->weight, kept);
  if (c->parts == 2) {
    const int64_t outs = c->weight->dl.shape[0], in = c->weight->dl.shape[1];
    const Tensor split = allocate({2 * outs, 2 * in, c->taps}, c->dtype, device_of(c->input));
    if (c->size == 4)
      split_weight(c->operands[0].data(), outs, in, c->taps, split.data_ptr<float>());
    else
      split_weight(c->operands[0].data(), outs, in, c->taps, split.data_ptr<double>());
    c->operands[0] = Operand::made(split);
    c->pairs = allocate({c->images, c->groups * c->outs, c->count}, c->dtype, device_of(c->input));
    c->results = static_cast<char*>(c->pairs.data_ptr());
  } else {
    c->result = Result(c->out, c->dtype, is_contiguous(c->out) || by_pixels(*c));
    c->results = c->result.data();
  }
  c->operands[1] = Operand(c->bias, kept);  // a complex bias already is one real number per real channel
  c->weights = c->operands[0].data();
  c->biases = c->operands[1].data();
}

// Copies the results to the output, unless they were computed there.
lamella_status finish(const Convolution& c) {
  if (c.parts == 1) return c.result.finish();
  // Moves (…, 2, places) to (…, places, 2), the order of a complex tensor's memory.
  const Tensor joined = allocate_like(c.out, c.out->dtype);
  const int64_t pairs = c.images * c.groups * c.outs / 2;
  const CastLoop move = loops().cast[c.dtype][c.dtype];
  auto* to = static_cast<char*>(joined.data_ptr());
  for (int64_t i = 0; i < pairs; i++)
    for (int64_t p = 0; p < 2; p++)
      move(c.count, to + (2 * i * c.count + p) * c.size, 2 * c.size, c.results + (2 * i + p) * c.count * c.size,
           c.size);
  return copy_into(c.out, joined.get());
}

// Computes channels [m0, m1) of the output at places [n0, n1), for one image and group.
lamella_status product(const Convolution& c, const Windows& w, int64_t item, int64_t m0, int64_t m1, int64_t n0,
                       int64_t n1) {
  const int64_t group = item % c.groups, channel = group * c.outs + m0, depth = c.depth();
  const char* bias = c.biases ? c.biases + channel * c.size : nullptr;
  char* out = c.results + ((item * c.outs + m0) * c.count + n0) * c.size;
  const Gemm g{
      m1 - m0, n1 - n0, depth,      c.weights + channel * depth * c.size, depth, 1, nullptr, 0, 0, out, c.count,
      bias,    nullptr, interrupted};
  const GemmKernels& k = gemm_of(c.dtype);
  Space space;
  if (lamella_status st = space.take(k.space(g.m, g.n, g.k))) return st;
  return static_cast<lamella_status>(k.convolve(g, w, n0, space.data()));
}

// Serves many images or groups: one thread computes each.
lamella_status by_items(const Convolution& c, const Windows& w) {
  const auto grain = static_cast<int64_t>(4e6 / std::max(c.work(), 1.0)) + 1;
  return parallel_for(0, c.images * c.groups, grain, [&](int64_t begin, int64_t end) -> lamella_status {
    Space padded;
    if (lamella_status st = take_padded(&padded, c, c.in)) return st;
    Windows own = w;
    own.image = padded.data();
    for (int64_t i = begin; i < end; i++) {
      for (int64_t k = 0; k < c.in; k++)
        pad_channel(c, i / c.groups, i % c.groups * c.in + k, padded.data() + k * c.plane * c.size);
      if (lamella_status st = product(c, own, i, 0, c.outs, 0, c.count)) return st;
    }
    return LAMELLA_OK;
  });
}

// Serves few images and groups: the threads share the places of each, or its channels if the places are few.
lamella_status by_parts(const Convolution& c, Windows w) {
  Space padded;
  if (lamella_status st = take_padded(&padded, c, c.in)) return st;
  w.image = padded.data();
  const bool channels = c.count < 512 && c.outs >= 32;
  const int64_t step = channels ? 8 : 32, n = channels ? c.outs : c.count, units = (n + step - 1) / step;
  const auto least = static_cast<int64_t>(4e6 / std::max(c.work() / static_cast<double>(units), 1.0)) + 1;
  const int64_t planes = grain / at_least_one(c.plane * (c.stride[2] > 1 ? 4 : 1)) + 1;  // strides make short lines
  for (int64_t i = 0; i < c.images * c.groups; i++) {
    lamella_status st = parallel_for(0, c.in, planes, [&](int64_t b, int64_t e) -> lamella_status {
      for (int64_t k = b; k < e; k++)
        pad_channel(c, i / c.groups, i % c.groups * c.in + k, padded.data() + k * c.plane * c.size);
      return LAMELLA_OK;
    });
    if (st) return st;
    st = parallel_for(0, units, std::max(least, units / 8), [&](int64_t b, int64_t e) {
      const int64_t from = b * step, to = std::min(e * step, n);
      return channels ? product(c, w, i, from, to, 0, c.count) : product(c, w, i, 0, c.outs, from, to);
    });
    if (st) return st;
  }
  return LAMELLA_OK;
}

// Serves one input channel a group, by sums over the taps instead of a product of matrices.
lamella_status depthwise(const Convolution& c, const Windows& w) {
  const auto least = static_cast<int64_t>(3e5 / std::max(c.work(), 1.0)) + 1;
  return parallel_for(0, c.images * c.groups, least, [&](int64_t begin, int64_t end) -> lamella_status {
    Space padded;
    if (lamella_status st = take_padded(&padded, c, 1)) return st;
    Windows own = w;
    own.image = padded.data();
    for (int64_t i = begin; i < end; i++) {
      pad_channel(c, i / c.groups, i % c.groups, padded.data());
      for (int64_t o = 0; o < c.outs; o++) {
        const int64_t channel = i % c.groups * c.outs + o;
        windows_of(c.dtype).depthwise(own, c.weights + channel * c.taps * c.size,
                                      c.biases ? c.biases + channel * c.size : nullptr,
                                      c.results + (i * c.outs + o) * c.count * c.size);
      }
    }
    return LAMELLA_OK;
  });
}

// Returns whether images in plain layout can be multiplied as they are: one tap, stride 1, no padding, no gaps.
bool is_pointwise(const Convolution& c) {
  if (c.taps != 1 || c.parts != 1 || c.input->dtype != c.dtype) return false;
  int64_t step = c.size;
  for (int i = 2; i >= 0; i--) {
    if (c.stride[i] != 1 || c.padding[i] != 0 || (c.image[i] > 1 && c.step[i] != step)) return false;
    step *= c.image[i];
  }
  return true;
}

lamella_status pointwise(const Convolution& c) {
  const int64_t *strides = c.input->dl.strides, items = c.images * c.groups;
  const int64_t step = 32, units = (c.count + step - 1) / step;
  const double work = c.work() / static_cast<double>(units);
  // A unit is a few places of one image.
  const auto least = std::max(static_cast<int64_t>(4e6 / std::max(work, 1.0)) + 1, items * units / 8);
  return parallel_for(0, items * units, least, [&](int64_t begin, int64_t end) -> lamella_status {
    const GemmKernels& k = gemm_of(c.dtype);
    Space space;
    if (lamella_status st = space.take(k.space(c.outs, c.count, c.in))) return st;
    while (begin < end) {
      const int64_t item = begin / units, image = item / c.groups, group = item % c.groups;
      const int64_t from = begin % units * step, to = std::min((end - item * units) * step, c.count);
      const char* b =
          static_cast<const char*>(c.input->dl.data) + (image * strides[0] + group * c.in * strides[1] + from) * c.size;
      const Gemm g{c.outs,  to - from,
                   c.in,    c.weights + group * c.outs * c.in * c.size,
                   c.in,    1,
                   b,       strides[1],
                   1,       c.results + (item * c.outs * c.count + from) * c.size,
                   c.count, c.biases ? c.biases + group * c.outs * c.size : nullptr,
                   nullptr, interrupted};
      if (int st = k.multiply(g, space.data())) return static_cast<lamella_status>(st);
      begin = (item + 1) * units;
    }
    return LAMELLA_OK;
  });
}

// Serves channels last and one tap: the pixels of all images are the rows of one matrix.
lamella_status pointwise_pixels(const Convolution& c) {
  const int64_t step = 24, rows = c.images * c.count, units = (rows + step - 1) / step;
  const double work = static_cast<double>(step * c.outs) * static_cast<double>(c.in);
  const auto least = std::max(static_cast<int64_t>(4e6 / work) + 1, units / 8);
  return parallel_for(0, units, least, [&](int64_t begin, int64_t end) -> lamella_status {
    const int64_t first = begin * step, m = std::min(end * step, rows) - first;
    const Gemm g{m,         c.outs,
                 c.in,      static_cast<const char*>(c.input->dl.data) + first * c.in * c.size,
                 c.in,      1,
                 c.weights, 1,
                 c.in,      c.results + first * c.outs * c.size,
                 c.outs,    nullptr,
                 c.biases,  interrupted};
    const GemmKernels& k = gemm_of(c.dtype);
    Space space;
    if (lamella_status st = space.take(k.space(g.m, g.n, g.k))) return st;
    return static_cast<lamella_status>(k.multiply(g, space.data()));
  });
}

// Serves channels last and one channel a group; the threads share rows of outputs.
lamella_status depthwise_pixels(const Convolution& c) {
  const int64_t rows = c.places[1], row = c.places[2] * c.groups;
  Space weights;  // (taps, channels), transposed from (channels, taps)
  if (lamella_status st = weights.take(c.groups * c.taps * c.size)) return st;
  pack_of(c.size)(c.taps, c.groups, weights.data(), c.groups * c.size, c.weights, c.size, c.taps * c.size);
  const auto least = static_cast<int64_t>(3e5 / static_cast<double>(at_least_one(row * c.taps))) + 1;
  return parallel_for(0, c.images * rows, least, [&](int64_t begin, int64_t end) -> lamella_status {
    Pixels p{nullptr,
             c.image[1],
             c.image[2],
             c.groups,
             {c.kernel[1], c.kernel[2]},
             {c.stride[1], c.stride[2]},
             {c.padding[1], c.padding[2]},
             {c.dilation[1], c.dilation[2]},
             weights.data(),
             c.biases,
             nullptr,
             0,
             0,
             c.places[2]};
    for (; begin < end; begin += p.end - p.begin) {
      const int64_t image = begin / rows;
      p.image = static_cast<const char*>(c.input->dl.data) + image * c.image[1] * c.image[2] * c.groups * c.size;
      p.out = c.results + image * rows * row * c.size;
      p.begin = begin % rows;
      p.end = std::min(rows, p.begin + end - begin);
      windows_of(c.dtype).depthwise_pixels(p);
    }
    return LAMELLA_OK;
  });
}

lamella_status run(const Convolution& c) {
  if (by_pixels(c)) return c.groups == 1 ? pointwise_pixels(c) : depthwise_pixels(c);
  if (c.in == 0) {  // without input channels the result is the bias
    for (int64_t i = 0; i < c.images * c.groups * c.outs; i++)
      for (int64_t p = 0; p < c.count; p++) {
        char* to = c.results + (i * c.count + p) * c.size;
        if (c.biases)
          std::memcpy(to, c.biases + i % (c.groups * c.outs) * c.size, c.size);
        else
          std::memset(to, 0, c.size);
      }
    return LAMELLA_OK;
  }
  if (is_pointwise(c)) return pointwise(c);
  Space table;
  if (lamella_status st = table.take((c.taps + c.rows()) * 8)) return st;
  auto* tap = reinterpret_cast<int64_t*>(table.data());
  locate(c, tap, tap + c.taps);
  const Windows w{nullptr, c.in, c.plane, c.taps, tap, c.rows(), c.places[2], tap + c.taps};
  if (c.in == 1 && c.groups > 1) return depthwise(c, w);
  return c.images * c.groups >= 8 ? by_items(c, w) : by_parts(c, w);
}

Status convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, int64_t groups, const Tensor& out) {
  Convolution c;
  if (out.numel() == 0) return LAMELLA_OK;
  read_convolution(input.get(), weight.get(), bias.get(), out.get(), stride, padding, dilation, groups, &c);
  bool done = false;
  if (lamella_status st = onednn_convolution(c, &done)) return st;
  if (done) return LAMELLA_OK;
  prepare(&c);
  if (lamella_status st = run(c)) return st;
  return finish(c);
}

// Fills the whole result, then copies the input into its middle; a negative padding cuts the input.
Status constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value, const Tensor& out) {
  lamella_tensor *in = self.get(), *result = out.get();
  const int n = in->dl.ndim;
  int64_t sizes[LAMELLA_MAX_DIMS], from = in->storage_offset, to = result->storage_offset;
  bool empty = result->numel == 0;
  for (int d = 0; d < n; d++) {
    const int64_t at = 2 * (n - 1 - d);
    const bool padded = at < static_cast<int64_t>(pad.size());
    const int64_t before = padded ? pad[at] : 0, after = padded ? pad[at + 1] : 0;
    sizes[d] = in->dl.shape[d] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    empty |= sizes[d] <= 0;
    from += std::max<int64_t>(-before, 0) * in->dl.strides[d];
    to += std::max<int64_t>(before, 0) * result->dl.strides[d];
  }
  if (lamella_status st = fill_with(value, result)) return st;
  if (empty) return LAMELLA_OK;
  lamella_tensor *source, *middle;
  if (lamella_status st = api().tensor_view(in, n, sizes, in->dl.strides, from, &source)) return st;
  const TensorRef first = TensorRef::steal(source);
  if (lamella_status st = api().tensor_view(result, n, sizes, result->dl.strides, to, &middle)) return st;
  const TensorRef second = TensorRef::steal(middle);
  return copy_into(middle, source);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<convolution>(m, "convolution");
  add<constant_pad_nd>(m, "constant_pad_nd");
}

}  // namespace lamella::cpu
