// The gradient of a convolution's weight: sums over places, in tiles of taps by output channels.
#include <algorithm>
#include <cstring>

#include "backends/cpu/convolution.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {
namespace {

class WeightGradient {
 public:
  WeightGradient(const lamella_tensor* gradient, const lamella_tensor* input, IntArrayRef stride, IntArrayRef padding,
                 IntArrayRef dilation, int64_t groups, const lamella_tensor* out)
      : grad_(gradient, gradient->dtype, true) {
    read_convolution(input, out, nullptr, gradient, stride, padding, dilation, groups, &c_);
    const int64_t vector = windows_of(c_.dtype).vector, columns = c_.places[2];
    width_ = rounded_up(c_.outs, vector);
    // Estimates the cost of each kind of tiles. Tiles of channels round the channels up to whole vectors and transpose
    // the gradient; tiles of places round columns up, and their loads cost more than their products, as measured.
    const int64_t by_places = c_.outs * c_.depth() * rounded_up(columns, vector) * 5 / 3;
    by_places_ = by_places < width_ * (c_.depth() + 6) * columns;
    // Tiles of taps round taps and channels up to whole vectors, and transpose the image.
    const int64_t by_taps = c_.outs * (rounded_up(c_.depth(), vector) + 2 * vector) * columns;
    by_taps_ = by_taps < std::min(by_places, width_ * (c_.depth() + 6) * columns) &&
               c_.groups * c_.outs * c_.depth() <= most_chunked;
    if (by_taps_) {
      by_places_ = false;
      width_ = c_.outs;
      flat_ = c_;
      std::fill(flat_.stride, flat_.stride + 3, 1);
      pad_sizes(&flat_);
    }
    per_channel_ = by_places_ ? c_.outs * c_.taps * vector : c_.taps * width_;
    step_ = std::max<int64_t>(block_places / std::max<int64_t>(c_.places[2], 1), 1);
  }

  lamella_status run() {
    result_ = Result(c_.weight, c_.dtype);
    if (by_places_ || grad_->dtype != c_.dtype || !lies_channels_last(grad_.get()))
      grad_ = Operand(grad_.get(), c_.dtype);
    last_ = !is_contiguous(grad_.get());
    // The threads share the images if the weight is small, in a number of chunks that depends on the sizes alone; else
    // they share the channels.
    const int64_t all = c_.groups * c_.in * per_channel_;
    const int64_t chunks = all <= most_chunked ? std::min<int64_t>(c_.images, 8) : 1;
    if (lamella_status st = table_.take((by_taps_ ? c_.taps + c_.count : c_.taps + c_.rows()) * 8)) return st;
    auto* tap = reinterpret_cast<int64_t*>(table_.data());
    by_taps_ ? locate_taps(tap) : locate(c_, tap, tap + c_.taps);
    Space sums;
    if (lamella_status st = sums.take(std::max<int64_t>(chunks, 1) * all * c_.size)) return st;
    std::memset(sums.data(), 0, std::max<int64_t>(chunks, 1) * all * c_.size);
    const double work = c_.work() * static_cast<double>(c_.images * c_.groups);
    lamella_status st;
    if (chunks > 1 || by_taps_) {
      const auto least = static_cast<int64_t>(4e6 * static_cast<double>(chunks) / std::max(work, 1.0)) + 1;
      st = parallel_for(0, chunks, least, [&](int64_t begin, int64_t end) -> lamella_status {
        for (int64_t k = begin; k < end; k++)
          if (lamella_status bad =
                  add_chunk(k * c_.images / chunks, (k + 1) * c_.images / chunks, sums.data() + k * all * c_.size))
            return bad;
        return LAMELLA_OK;
      });
      if (!st) join(sums.data(), chunks, all);
    } else {
      const int64_t channels = c_.groups * c_.in;
      const auto least = static_cast<int64_t>(4e6 * static_cast<double>(channels) / std::max(work, 1.0)) + 1;
      st = parallel_for(0, channels, std::max(least, channels / 4),
                        [&](int64_t begin, int64_t end) { return add(0, c_.images, begin, end, sums.data()); });
    }
    if (st) return st;
    if (by_places_)
      with_type([&](auto* to) { gather(to, sums.data()); }, result_.data());
    else if (by_taps_)
      turn_taps(sums.data());
    else
      turn(sums.data());
    return result_.finish();
  }

 private:
  static constexpr int64_t block_places = 256, most_chunked = 32768;

  lamella_status add_chunk(int64_t first, int64_t last, char* sums) const {
    return by_taps_ ? add_taps(first, last, sums) : add(first, last, 0, c_.groups * c_.in, sums);
  }

  // Computes the offsets of the places in an image whose channels are neighbours, and those of the lines of a window:
  // its rows, or single taps if the dilation leaves columns out.
  void locate_taps(int64_t* at) const {
    const int64_t row = flat_.row * c_.in, slice = row * (c_.image[1] + 2 * c_.padding[1]);
    for (int64_t d = 0; d < c_.places[0]; d++)
      for (int64_t h = 0; h < c_.places[1]; h++)
        for (int64_t w = 0; w < c_.places[2]; w++)
          *at++ = d * c_.stride[0] * slice + h * c_.stride[1] * row + w * c_.stride[2] * c_.in;
    for (int64_t d = 0; d < c_.kernel[0]; d++)
      for (int64_t h = 0; h < c_.kernel[1]; h++)
        for (int64_t w = 0; w < c_.kernel[2]; w += whole_rows() ? c_.kernel[2] : 1)
          *at++ = d * c_.dilation[0] * slice + h * c_.dilation[1] * row + w * c_.dilation[2] * c_.in;
  }
  bool whole_rows() const { return c_.dilation[2] == 1; }

  // Adds to the sums (outs, taps, in) of each group the share of images [first, last): the gradient times the
  // transposed windows.
  lamella_status add_taps(int64_t first, int64_t last, char* sums) const {
    const int64_t depth = c_.depth(), columns = whole_rows() ? c_.kernel[2] * c_.in : c_.in;
    const GemmKernels& k = gemm_of(c_.dtype);
    Space padded, turned, space;
    if (lamella_status st = take_padded(&padded, flat_, c_.in)) return st;
    if (lamella_status st = take_padded(&turned, flat_, c_.in)) return st;
    if (lamella_status st = space.take(k.space(c_.outs, depth, c_.count))) return st;
    const auto* place = reinterpret_cast<const int64_t*>(table_.data());
    const char* image = c_.in > 1 ? turned.data() : padded.data();
    const Windows w{image, 1, 0, c_.count, place, depth / columns, columns, place + c_.count};
    const int64_t row = last_ ? 1 : c_.count, column = last_ ? c_.groups * c_.outs : 1;
    for (int64_t i = first; i < last; i++)
      for (int64_t group = 0; group < c_.groups; group++) {
        for (int64_t n = 0; n < c_.in; n++)
          pad_channel(flat_, i, group * c_.in + n, padded.data() + n * flat_.plane * c_.size);
        if (c_.in > 1)
          pack_of(c_.size)(flat_.plane, c_.in, turned.data(), c_.in * c_.size, padded.data(), c_.size,
                           flat_.plane * c_.size);
        const Gemm g{c_.outs,  depth,
                     c_.count, gradient(i, group),
                     row,      column,
                     nullptr,  0,
                     0,        sums + group * c_.outs * depth * c_.size,
                     depth,    nullptr,
                     nullptr,  interrupted,
                     true};
        if (int st = k.convolve(g, w, 0, space.data())) return static_cast<lamella_status>(st);
      }
    return LAMELLA_OK;
  }

  // Adds to the sums of channels [begin, end), counted over the groups, the share of images [first, last).
  lamella_status add(int64_t first, int64_t last, int64_t begin, int64_t end, char* sums) const {
    Space padded, packed;
    if (lamella_status st = take_padded(&padded, c_, std::min(end - begin, c_.in))) return st;
    if (lamella_status st = packed.take(step_ * c_.places[2] * width_ * c_.size)) return st;
    std::memset(packed.data(), 0, step_ * c_.places[2] * width_ * c_.size);
    const auto* tap = reinterpret_cast<const int64_t*>(table_.data());
    while (begin < end) {
      const int64_t group = begin / c_.in, channel = begin % c_.in, n = std::min(end - begin, c_.in - channel);
      for (int64_t i = first; i < last; i++) {
        for (int64_t k = 0; k < n; k++) pad_channel(c_, i, begin + k, padded.data() + k * c_.plane * c_.size);
        char* to = sums + begin * per_channel_ * c_.size;
        for (int64_t r = 0; r < c_.rows() && !by_places_; r += step_) {
          const int64_t rows = std::min(step_, c_.rows() - r);
          const Windows w{padded.data(), n, c_.plane, c_.taps, tap, rows, c_.places[2], tap + c_.taps + r};
          const char* grad = pack(i, group, r, rows, packed.data());
          windows_of(c_.dtype).weight_gradient(w, grad, width_, to);
        }
        if (by_places_) {
          const Windows w{padded.data(), n, c_.plane, c_.taps, tap, c_.rows(), c_.places[2], tap + c_.taps};
          windows_of(c_.dtype).weight_gradient_by_places(w, gradient(i, group), c_.outs, c_.count, to);
        }
        if (int st = interrupted()) return static_cast<lamella_status>(st);
      }
      begin += n;
    }
    return LAMELLA_OK;
  }

  const char* gradient(int64_t image, int64_t group) const {
    const int64_t first = image * c_.groups * c_.outs * c_.count + group * c_.outs * (last_ ? 1 : c_.count);
    return static_cast<const char*>(grad_->dl.data) + first * c_.size;
  }

  // Returns rows [row, row + rows) of one image's gradient with the channels as neighbours, in place or packed to `to`.
  const char* pack(int64_t image, int64_t group, int64_t row, int64_t rows, char* to) const {
    const int64_t channels = c_.groups * c_.outs, place = last_ ? channels : 1, channel = last_ ? 1 : c_.count;
    const char* from = gradient(image, group) + row * c_.places[2] * place * c_.size;
    if (last_ && channels == width_) return from;
    pack_of(c_.size)(rows * c_.places[2], c_.outs, to, width_ * c_.size, from, place * c_.size, channel * c_.size);
    return to;
  }

  // Calls body with the memory as numbers of the dtype; integers are read as unsigned, so that sums wrap.
  template <class Body>
  void with_type(Body body, char* data) const {
    switch (c_.dtype) {
      case LAMELLA_FLOAT32:
        return body(reinterpret_cast<float*>(data));
      case LAMELLA_FLOAT64:
        return body(reinterpret_cast<double*>(data));
      case LAMELLA_INT32:
        return body(reinterpret_cast<uint32_t*>(data));
      default:
        return body(reinterpret_cast<uint64_t*>(data));
    }
  }

  // Adds the sums of the chunks, one after another, to those of the first.
  void join(char* sums, int64_t chunks, int64_t n) const {
    with_type(
        [&](auto* to) {
          for (int64_t k = 1; k < chunks; k++)
            for (int64_t i = 0; i < n; i++) to[i] += to[k * n + i];
        },
        sums);
  }

  // Writes the sums (in · taps, width) of each group to the result as (outs, in · taps).
  void turn(const char* sums) const {
    const int64_t depth = c_.depth(), size = c_.size;
    for (int64_t g = 0; g < c_.groups; g++)
      pack_of(size)(c_.outs, depth, result_.data() + g * c_.outs * depth * size, depth * size,
                    sums + g * depth * width_ * size, size, width_ * size);
  }

  // Writes the sums (outs, taps, in) to the result as (outs, in, taps).
  void turn_taps(const char* sums) const {
    const int64_t depth = c_.depth(), size = c_.size;
    for (int64_t o = 0; o < c_.groups * c_.outs; o++)
      pack_of(size)(c_.in, c_.taps, result_.data() + o * depth * size, c_.taps * size, sums + o * depth * size, size,
                    c_.in * size);
  }

  // Adds up the vectors of the sums (in, outs, taps, vector) of each group and writes them as (outs, in, taps).
  template <class T>
  void gather(T* to, const char* sums) const {
    const T* vectors = reinterpret_cast<const T*>(sums);
    const int64_t n = windows_of(c_.dtype).vector;
    for (int64_t g = 0; g < c_.groups; g++, vectors += c_.in * per_channel_)
      for (int64_t o = 0; o < c_.outs; o++)
        for (int64_t i = 0; i < c_.in; i++)
          for (int64_t t = 0; t < c_.taps; t++) {
            const T* vector = vectors + ((i * c_.outs + o) * c_.taps + t) * n;
            T sum = vector[0];
            for (int64_t k = 1; k < n; k++) sum += vector[k];
            *to++ = sum;
          }
  }

  Convolution c_{}, flat_{};  // flat_ has strides of 1: the offsets of the places contain the strides
  Operand grad_;
  int64_t width_, step_;  // the width of a packed row; the rows of places packed at a time
  int64_t per_channel_;   // sums of an input channel
  bool by_places_, by_taps_;
  bool last_;  // the gradient lies channels last
  Space table_;
  Result result_;
};

}  // namespace

Status convolution_backward_weight(const Tensor& grad_output, const Tensor& input, IntArrayRef, IntArrayRef stride,
                                   IntArrayRef padding, IntArrayRef dilation, int64_t groups, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  return WeightGradient(grad_output.get(), input.get(), stride, padding, dilation, groups, out.get()).run();
}

}  // namespace lamella::cpu
