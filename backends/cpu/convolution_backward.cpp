// Gradients of convolutions. Of the input: convolutions of the output's gradient, one for each phase of the stride,
// whose taps are those that read the phase. Of the weight: sums over places, in tiles of taps by output channels.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/convolution.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/space.h"

namespace lattis::cpu {
namespace {

int interrupted() { return api().check_interrupt(); }

int64_t rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Where a result is computed: in its own memory, or in new memory in plain layout and another dtype.
struct Result {
  const lattis_tensor* out;
  Tensor beside;
  char* data;

  lattis_status prepare(const lattis_tensor* result, int dtype) {
    out = result;
    data = static_cast<char*>(out->dl.data);
    if (out->dtype == dtype && is_contiguous(out)) return LATTIS_OK;
    lattis_tensor* raw;
    if (lattis_status st =
            api().tensor_empty(out->dl.ndim, out->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(out), &raw))
      return st;
    beside = Tensor::steal(raw);
    data = beside.data<char>();
    return LATTIS_OK;
  }
  lattis_status finish() const { return beside ? copy_into(out, beside.get()) : LATTIS_OK; }
};

// ---- of the input
// ----------------------------------------------------------------------------------------------------

// The places of the image that begin at `begin` and are `stride` apart, along one dimension: tap taps[k] reads place j
// of them at place j + shifts[k] of the gradient.
struct Phase {
  int64_t begin, count;
  std::vector<int64_t> taps, shifts;
};

std::vector<Phase> phases_of(const Convolution& c, int i) {
  std::vector<Phase> all;
  const int64_t s = c.stride[i];
  for (int64_t a = 0; a < std::min(s, c.image[i]); a++) {
    Phase p{a, (c.image[i] - a + s - 1) / s, {}, {}};
    for (int64_t t = 0; t < c.kernel[i]; t++) {
      const int64_t from = a + c.padding[i] - t * c.dilation[i];
      if (from % s) continue;
      p.taps.push_back(t);
      p.shifts.push_back(from / s);
    }
    all.push_back(std::move(p));
  }
  return all;
}

class InputGradient {
 public:
  explicit InputGradient(const lattis_value* args, const lattis_tensor* out) : weight_(args[1].as.tensor) {
    read_convolution(args, out, weight_, nullptr, args[0].as.tensor, &c_);
    grad_ = c_;  // as an image whose places are the convolution's
    grad_.input = c_.out;
    const int missing = 5 - out->dl.ndim;
    for (int i = 0; i < 3; i++) {
      phases_[i] = phases_of(c_, i);
      grad_.image[i] = c_.places[i];
      grad_.stride[i] = 1;
      grad_.step[i] = i < missing ? 0 : c_.out->dl.strides[2 + i - missing] * itemsize(c_.out);
      int64_t& around = grad_.padding[i] = 0;
      for (const Phase& p : phases_[i])
        for (int64_t shift : p.shifts) around = std::max({around, -shift, p.count + shift - c_.places[i]});
      pixels_ *= c_.image[i];
    }
    pad_sizes(&grad_);
    whole_ = c_.stride[0] * c_.stride[1] * c_.stride[2] == 1;
  }

  lattis_status run() {
    if (lattis_status st = result_.prepare(c_.input, c_.dtype)) return st;
    if (lattis_status st = plain(weight_, c_.dtype, &owned_)) return st;
    if (lattis_status st = turn_weight()) return st;
    const int64_t items = c_.images * c_.groups;
    if (lattis_status st = items >= 8 ? by_items(items) : by_channels(items)) return st;
    return result_.finish();
  }

 private:
  // Calls body for every phase with its three lines, and the first of its weights; the first error ends it.
  template <class Body>
  lattis_status each_phase(Body&& body) const {
    int64_t at = 0;
    for (const Phase& x : phases_[0])
      for (const Phase& y : phases_[1])
        for (const Phase& z : phases_[2]) {
          const int64_t taps = static_cast<int64_t>(x.taps.size() * y.taps.size() * z.taps.size());
          if (lattis_status st = body(x, y, z, taps, at)) return st;
          at += taps * c_.outs * c_.in * c_.groups;
        }
    return LATTIS_OK;
  }

  // (groups · outs, in, taps) becomes (groups · in, taps, outs), and that, for each phase, (groups · in, its taps,
  // outs).
  lattis_status turn_weight() {
    const int64_t bytes = weight_->numel * c_.size, line = c_.outs * c_.size;
    Space all;
    if (lattis_status st = turned_.take(bytes)) return st;
    if (lattis_status st = all.take(whole_ ? 0 : bytes)) return st;
    char* to = whole_ ? turned_.data() : all.data();
    const int64_t rows = c_.groups * c_.in, least = grain / std::max<int64_t>(c_.taps * c_.outs, 1) + 1;
    lattis_status st = parallel_for(0, rows, least, [&](int64_t begin, int64_t end) -> lattis_status {
      while (begin < end) {
        const int64_t group = begin / c_.in, channel = begin % c_.in, n = std::min(end - begin, c_.in - channel);
        const char* from =
            static_cast<const char*>(weight_->dl.data) + (group * c_.outs * c_.in + channel) * c_.taps * c_.size;
        pack_of(c_.size)(n * c_.taps, c_.outs, to + begin * c_.taps * line, line, from, c_.size, c_.depth() * c_.size);
        begin += n;
      }
      return LATTIS_OK;
    });
    if (st || whole_) return st;
    return each_phase([&](const Phase& x, const Phase& y, const Phase& z, int64_t, int64_t at) -> lattis_status {
      char* next = turned_.data() + at * c_.size;
      for (int64_t row = 0; row < rows; row++)
        for (int64_t d : x.taps)
          for (int64_t h : y.taps)
            for (int64_t w : z.taps) {
              const int64_t tap = (d * c_.kernel[1] + h) * c_.kernel[2] + w;
              std::memcpy(next, to + (row * c_.taps + tap) * line, line);
              next += line;
            }
      return LATTIS_OK;
    });
  }

  void pad(int64_t item, int64_t begin, int64_t end, char* to) const {
    for (int64_t k = begin; k < end; k++)
      pad_channel(grad_, item / c_.groups, item % c_.groups * c_.outs + k, to + k * grad_.plane * c_.size);
  }

  // Channels [begin, end) of one image and group, from its padded gradient.
  lattis_status channels(int64_t item, int64_t begin, int64_t end, const char* padded) const {
    char* to = result_.data + (item * c_.in + begin) * pixels_ * c_.size;
    return each_phase([&](const Phase& x, const Phase& y, const Phase& z, int64_t taps, int64_t at) -> lattis_status {
      const int64_t count = x.count * y.count * z.count, m = end - begin, depth = c_.outs * taps;
      Space table, space, apart;
      if (lattis_status st = table.take((depth + x.count * y.count) * 8)) return st;
      if (lattis_status st = space.take(gemm_of(c_.dtype).space(m, count, depth))) return st;
      if (lattis_status st = apart.take(whole_ ? 0 : m * count * c_.size)) return st;
      auto* tap = reinterpret_cast<int64_t*>(table.data());
      int64_t *next = tap, *row = tap + depth;
      const int64_t slice = grad_.row * (grad_.image[1] + 2 * grad_.padding[1]);
      for (int64_t d : x.shifts)
        for (int64_t h : y.shifts)
          for (int64_t w : z.shifts) {
            const int64_t from =
                (d + grad_.padding[0]) * slice + (h + grad_.padding[1]) * grad_.row + w + grad_.padding[2];
            for (int64_t o = 0; o < c_.outs; o++) *next++ = from + o * grad_.plane;
          }
      for (int64_t d = 0; d < x.count; d++)
        for (int64_t h = 0; h < y.count; h++) *next++ = d * slice + h * grad_.row;
      const Windows w{padded, 1, 0, depth, tap, x.count * y.count, z.count, row};  // a tap is one of one channel
      char* results = whole_ ? to : apart.data();
      const char* weights = turned_.data() + (at + (item % c_.groups * c_.in + begin) * depth) * c_.size;
      const Gemm g{m, count, depth, weights, depth, 1, nullptr, 0, 0, results, count, nullptr, nullptr, interrupted};
      if (depth == 0)
        std::memset(results, 0, m * count * c_.size);
      else if (int st = gemm_of(c_.dtype).convolve(g, w, 0, space.data()))
        return static_cast<lattis_status>(st);
      if (!whole_) put(x, y, z, m, results, to);
      return LATTIS_OK;
    });
  }

  // A phase's results to their places in the image.
  void put(const Phase& x, const Phase& y, const Phase& z, int64_t m, const char* from, char* to) const {
    const CastLoop move = loops().cast[c_.dtype][c_.dtype];
    for (int64_t k = 0; k < m; k++)
      for (int64_t d = 0; d < x.count; d++)
        for (int64_t h = 0; h < y.count; h++, from += z.count * c_.size) {
          const int64_t line = (x.begin + d * c_.stride[0]) * c_.image[1] + y.begin + h * c_.stride[1];
          move(z.count, to + (k * pixels_ + line * c_.image[2] + z.begin) * c_.size, c_.stride[2] * c_.size, from,
               c_.size);
        }
  }

  // Many images or groups: each is one thread's.
  lattis_status by_items(int64_t items) const {
    const auto least = static_cast<int64_t>(4e6 / std::max(c_.work(), 1.0)) + 1;
    return parallel_for(0, items, least, [&](int64_t begin, int64_t end) -> lattis_status {
      Space padded;
      if (lattis_status st = padded.take(padded_bytes(grad_, c_.outs))) return st;
      for (int64_t i = begin; i < end; i++) {
        pad(i, 0, c_.outs, padded.data());
        if (lattis_status st = channels(i, 0, c_.in, padded.data())) return st;
      }
      return LATTIS_OK;
    });
  }

  // Few: the threads share each one's channels.
  lattis_status by_channels(int64_t items) const {
    Space padded;
    if (lattis_status st = padded.take(padded_bytes(grad_, c_.outs))) return st;
    const int64_t step = 24, units = (c_.in + step - 1) / step, planes = grain / (grad_.plane + 1) + 1;
    const auto least = static_cast<int64_t>(4e6 * static_cast<double>(units) / std::max(c_.work(), 1.0)) + 1;
    for (int64_t i = 0; i < items; i++) {
      lattis_status st = parallel_for(0, c_.outs, planes, [&](int64_t begin, int64_t end) {
        pad(i, begin, end, padded.data());
        return LATTIS_OK;
      });
      if (st) return st;
      st = parallel_for(0, units, std::max(least, units / 4), [&](int64_t begin, int64_t end) {
        return channels(i, begin * step, std::min(end * step, c_.in), padded.data());
      });
      if (st) return st;
    }
    return LATTIS_OK;
  }

  Convolution c_{}, grad_{};
  const lattis_tensor* weight_;
  std::vector<Phase> phases_[3];
  int64_t pixels_ = 1;
  bool whole_;  // the stride is 1: one phase is the whole image
  Tensor owned_;
  Space turned_;
  Result result_;
};

// _convolution_backward_input(grad_output, weight, input_size, stride, padding, dilation, groups)
lattis_status input_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  return rets[0].as.tensor->numel ? InputGradient(args, rets[0].as.tensor).run() : LATTIS_OK;
}

// ---- of the weight
// ---------------------------------------------------------------------------------------------------

class WeightGradient {
 public:
  explicit WeightGradient(const lattis_value* args, const lattis_tensor* out) : grad_(args[0].as.tensor) {
    read_convolution(args, args[1].as.tensor, out, nullptr, grad_, &c_);
    const int64_t vector = windows_of(c_.dtype).vector, columns = c_.places[2];
    width_ = rounded(c_.outs, vector);
    // Tiles of channels fill up vectors of these and turn the gradient; tiles of places fill up vectors of columns and
    // load more than they multiply, as measured.
    const int64_t by_places = c_.outs * c_.depth() * rounded(columns, vector) * 5 / 3;
    by_places_ = by_places < width_ * (c_.depth() + 6) * columns;
    // Tiles of taps fill up vectors of taps and channels, for which the image is turned.
    const int64_t by_taps = c_.outs * (rounded(c_.depth(), vector) + 2 * vector) * columns;
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

  lattis_status run() {
    if (lattis_status st = result_.prepare(c_.weight, c_.dtype)) return st;
    if (by_places_ || grad_->dtype != c_.dtype || !lies_channels_last(grad_))
      if (lattis_status st = plain(grad_, c_.dtype, &owned_)) return st;
    last_ = !is_contiguous(grad_);
    // Small weights: the images are shared out, in as many chunks as depend on the sizes alone. Others: the channels.
    const int64_t all = c_.groups * c_.in * per_channel_;
    const int64_t chunks = all <= most_chunked ? std::min<int64_t>(c_.images, 8) : 1;
    if (lattis_status st = table_.take((by_taps_ ? c_.taps + c_.count : c_.taps + c_.rows()) * 8)) return st;
    auto* tap = reinterpret_cast<int64_t*>(table_.data());
    by_taps_ ? locate_taps(tap) : locate(c_, tap, tap + c_.taps);
    Space sums;
    if (lattis_status st = sums.take(std::max<int64_t>(chunks, 1) * all * c_.size)) return st;
    std::memset(sums.data(), 0, std::max<int64_t>(chunks, 1) * all * c_.size);
    const double work = c_.work() * static_cast<double>(c_.images * c_.groups);
    lattis_status st;
    if (chunks > 1 || by_taps_) {
      const auto least = static_cast<int64_t>(4e6 * static_cast<double>(chunks) / std::max(work, 1.0)) + 1;
      st = parallel_for(0, chunks, least, [&](int64_t begin, int64_t end) -> lattis_status {
        for (int64_t k = begin; k < end; k++)
          if (lattis_status bad =
                  add_chunk(k * c_.images / chunks, (k + 1) * c_.images / chunks, sums.data() + k * all * c_.size))
            return bad;
        return LATTIS_OK;
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
      with_type([&](auto* to) { gather(to, sums.data()); }, result_.data);
    else if (by_taps_)
      turn_taps(sums.data());
    else
      turn(sums.data());
    return result_.finish();
  }

 private:
  static constexpr int64_t block_places = 256, most_chunked = 32768;

  lattis_status add_chunk(int64_t first, int64_t last, char* sums) const {
    return by_taps_ ? add_taps(first, last, sums) : add(first, last, 0, c_.groups * c_.in, sums);
  }

  // Where places lie in an image whose channels are neighbours, and where the lines of a window do: its rows, or single
  // taps where columns are left out.
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

  // What images [first, last) give, of each group (outs, taps, in): the gradient times the windows turned.
  lattis_status add_taps(int64_t first, int64_t last, char* sums) const {
    const int64_t depth = c_.depth(), columns = whole_rows() ? c_.kernel[2] * c_.in : c_.in;
    const GemmKernels& k = gemm_of(c_.dtype);
    Space padded, turned, space;
    if (lattis_status st = padded.take(padded_bytes(flat_, c_.in))) return st;
    if (lattis_status st = turned.take(padded_bytes(flat_, c_.in))) return st;
    if (lattis_status st = space.take(k.space(c_.outs, depth, c_.count))) return st;
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
        if (int st = k.convolve(g, w, 0, space.data())) return static_cast<lattis_status>(st);
      }
    return LATTIS_OK;
  }

  // What images [first, last) give to channels [begin, end), counted over the groups.
  lattis_status add(int64_t first, int64_t last, int64_t begin, int64_t end, char* sums) const {
    Space padded, packed;
    if (lattis_status st = padded.take(padded_bytes(c_, std::min(end - begin, c_.in)))) return st;
    if (lattis_status st = packed.take(step_ * c_.places[2] * width_ * c_.size)) return st;
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
        if (int st = interrupted()) return static_cast<lattis_status>(st);
      }
      begin += n;
    }
    return LATTIS_OK;
  }

  const char* gradient(int64_t image, int64_t group) const {
    const int64_t first = image * c_.groups * c_.outs * c_.count + group * c_.outs * (last_ ? 1 : c_.count);
    return static_cast<const char*>(grad_->dl.data) + first * c_.size;
  }

  // Rows [row, row + rows) of one image's gradient with its channels side by side.
  const char* pack(int64_t image, int64_t group, int64_t row, int64_t rows, char* to) const {
    const int64_t channels = c_.groups * c_.outs, place = last_ ? channels : 1, channel = last_ ? 1 : c_.count;
    const char* from = gradient(image, group) + row * c_.places[2] * place * c_.size;
    if (last_ && channels == width_) return from;
    pack_of(c_.size)(rows * c_.places[2], c_.outs, to, width_ * c_.size, from, place * c_.size, channel * c_.size);
    return to;
  }

  // Memory as numbers of the dtype.
  template <class Body>
  void with_type(Body body, char* data) const {
    switch (c_.dtype) {
      case LATTIS_FLOAT32:
        return body(reinterpret_cast<float*>(data));
      case LATTIS_FLOAT64:
        return body(reinterpret_cast<double*>(data));
      case LATTIS_INT32:
        return body(reinterpret_cast<uint32_t*>(data));
      default:
        return body(reinterpret_cast<uint64_t*>(data));
    }
  }

  // The chunks' sums, one after another, into the first.
  void join(char* sums, int64_t chunks, int64_t n) const {
    with_type(
        [&](auto* to) {
          for (int64_t k = 1; k < chunks; k++)
            for (int64_t i = 0; i < n; i++) to[i] += to[k * n + i];
        },
        sums);
  }

  // Of each group, (in · taps, width) to (outs, in · taps).
  void turn(const char* sums) const {
    const int64_t depth = c_.depth(), size = c_.size;
    for (int64_t g = 0; g < c_.groups; g++)
      pack_of(size)(c_.outs, depth, result_.data + g * c_.outs * depth * size, depth * size,
                    sums + g * depth * width_ * size, size, width_ * size);
  }

  // (outs, taps, in) to (outs, in, taps).
  void turn_taps(const char* sums) const {
    const int64_t depth = c_.depth(), size = c_.size;
    for (int64_t o = 0; o < c_.groups * c_.outs; o++)
      pack_of(size)(c_.in, c_.taps, result_.data + o * depth * size, c_.taps * size, sums + o * depth * size, size,
                    c_.in * size);
  }

  // Of each group, (in, outs, taps, vector) to (outs, in, taps).
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

  Convolution c_{}, flat_{};  // flat: strides are left to the places
  const lattis_tensor* grad_;
  int64_t width_, step_;  // of a packed row; rows of places that are packed at a time
  int64_t per_channel_;   // sums
  bool by_places_, by_taps_;
  bool last_;  // the gradient lies channels last
  Tensor owned_;
  Space table_;
  Result result_;
};

// _convolution_backward_weight(grad_output, input, weight_size, stride, padding, dilation, groups)
lattis_status weight_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  return rets[0].as.tensor->numel ? WeightGradient(args, rets[0].as.tensor).run() : LATTIS_OK;
}

}  // namespace

void register_convolution_backward(Library& m) {
  m.impl("_convolution_backward_input", "cpu", input_kernel).impl("_convolution_backward_weight", "cpu", weight_kernel);
}

}  // namespace lattis::cpu
