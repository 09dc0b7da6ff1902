// The gradient of a convolution's input: convolutions of the output's gradient, one for each phase of the stride, with
// the taps that read the phase. If the stride is 1 and an image has enough more places than the gradient, each tap's
// products are instead added to the image where the tap reads.
#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/convolution.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {
namespace {

// ---- phases of the stride ----

// The places of the image along one dimension that begin at `begin` and are `stride` apart. For place j of them, tap
// taps[k] reads place j + shifts[k] of the gradient.
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
  InputGradient(const lamella_tensor* gradient, const lamella_tensor* weight, IntArrayRef stride, IntArrayRef padding,
                IntArrayRef dilation, int64_t groups, const lamella_tensor* out)
      : weight_(weight, weight->dtype, true), gradient_(gradient, gradient->dtype, true) {
    read_convolution(out, weight, nullptr, gradient, stride, padding, dilation, groups, &c_);
    grad_ = c_;  // the gradient as an image, whose places are those of the convolution
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
    // Compares, for one tap, the multiplications over the gradient's places with those over the image's. Adding a tap's
    // products to the image costs as much as 8 output channels.
    const int64_t vector = windows_of(c_.dtype).vector;
    scatters_ = whole_ && (c_.outs + 8) * rounded_up(c_.count, vector) < c_.outs * rounded_up(pixels_, vector);
  }

  lamella_status run() {
    result_ = Result(c_.input, c_.dtype);
    weight_ = Operand(weight_.get(), c_.dtype);
    const int64_t items = c_.images * c_.groups;
    if (scatters_) {
      gradient_ = Operand(gradient_.get(), c_.dtype);
      if (lamella_status st = table_.take((c_.taps + c_.rows()) * 8)) return st;
      auto* tap = reinterpret_cast<int64_t*>(table_.data());
      locate(c_, tap, tap + c_.taps);
      const auto least = static_cast<int64_t>(4e6 / std::max(c_.work() / static_cast<double>(c_.in), 1.0)) + 1;
      lamella_status st = parallel_for(0, items * c_.in, least, [&](int64_t b, int64_t e) { return scatter(b, e); });
      return st ? st : result_.finish();
    }
    if (lamella_status st = turn_weight()) return st;
    if (lamella_status st = items >= 8 ? by_items(items) : by_channels(items)) return st;
    return result_.finish();
  }

 private:
  // Calls body for every phase, with its Phase along each of the three dimensions and its first weight, until a call
  // returns an error.
  template <class Body>
  lamella_status each_phase(Body&& body) const {
    int64_t at = 0;
    for (const Phase& x : phases_[0])
      for (const Phase& y : phases_[1])
        for (const Phase& z : phases_[2]) {
          const int64_t taps = static_cast<int64_t>(x.taps.size() * y.taps.size() * z.taps.size());
          if (lamella_status st = body(x, y, z, taps, at)) return st;
          at += taps * c_.outs * c_.in * c_.groups;
        }
    return LAMELLA_OK;
  }

  // Transposes the weight (groups · outs, in, taps) to (groups · in, taps, outs). If there are several phases, each
  // gets the part of the transposed weight with its taps: (groups · in, taps of the phase, outs).
  lamella_status turn_weight() {
    const int64_t bytes = weight_->numel * c_.size, line = c_.outs * c_.size;
    Space all;
    if (lamella_status st = turned_.take(bytes)) return st;
    if (lamella_status st = all.take(whole_ ? 0 : bytes)) return st;
    char* to = whole_ ? turned_.data() : all.data();
    const int64_t rows = c_.groups * c_.in, least = grain / std::max<int64_t>(c_.taps * c_.outs, 1) + 1;
    lamella_status st = parallel_for(0, rows, least, [&](int64_t begin, int64_t end) -> lamella_status {
      while (begin < end) {
        const int64_t group = begin / c_.in, channel = begin % c_.in, n = std::min(end - begin, c_.in - channel);
        const char* from = weight_.data() + (group * c_.outs * c_.in + channel) * c_.taps * c_.size;
        pack_of(c_.size)(n * c_.taps, c_.outs, to + begin * c_.taps * line, line, from, c_.size, c_.depth() * c_.size);
        begin += n;
      }
      return LAMELLA_OK;
    });
    if (st || whole_) return st;
    return each_phase([&](const Phase& x, const Phase& y, const Phase& z, int64_t, int64_t at) -> lamella_status {
      char* next = turned_.data() + at * c_.size;
      for (int64_t row = 0; row < rows; row++)
        for (int64_t d : x.taps)
          for (int64_t h : y.taps)
            for (int64_t w : z.taps) {
              const int64_t tap = (d * c_.kernel[1] + h) * c_.kernel[2] + w;
              std::memcpy(next, to + (row * c_.taps + tap) * line, line);
              next += line;
            }
      return LAMELLA_OK;
    });
  }

  void pad(int64_t item, int64_t begin, int64_t end, char* to) const {
    for (int64_t k = begin; k < end; k++)
      pad_channel(grad_, item / c_.groups, item % c_.groups * c_.outs + k, to + k * grad_.plane * c_.size);
  }

  // Computes channels [begin, end) of one image and group, or of a few images side by side, from their padded
  // gradients.
  lamella_status channels(int64_t item, int64_t images, int64_t begin, int64_t end, const char* padded) const {
    const bool direct = whole_ && images == 1;
    char* to = result_.data() + (item * c_.in + begin) * pixels_ * c_.size;
    return each_phase([&](const Phase& x, const Phase& y, const Phase& z, int64_t taps, int64_t at) -> lamella_status {
      const int64_t rows = x.count * y.count, each = rows * z.count, count = images * each;
      const int64_t m = end - begin, depth = c_.outs * taps;
      Space table, space, apart;
      if (lamella_status st = table.take((depth + images * rows) * 8)) return st;
      if (lamella_status st = space.take(gemm_of(c_.dtype).space(m, count, depth))) return st;
      if (lamella_status st = apart.take(direct ? 0 : m * count * c_.size)) return st;
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
      for (int64_t i = 0; i < images; i++)
        for (int64_t d = 0; d < x.count; d++)
          for (int64_t h = 0; h < y.count; h++) *next++ = i * c_.outs * grad_.plane + d * slice + h * grad_.row;
      const Windows w{padded, 1, 0, depth, tap, images * rows, z.count, row};  // as taps of one channel
      char* results = direct ? to : apart.data();
      const char* weights = turned_.data() + (at + (item % c_.groups * c_.in + begin) * depth) * c_.size;
      const Gemm g{m, count, depth, weights, depth, 1, nullptr, 0, 0, results, count, nullptr, nullptr, interrupted};
      if (depth == 0)
        std::memset(results, 0, m * count * c_.size);
      else if (int st = gemm_of(c_.dtype).convolve(g, w, 0, space.data()))
        return static_cast<lamella_status>(st);
      for (int64_t i = 0; i < images && !direct; i++)
        put(x, y, z, m, results + i * each * c_.size, count, to + i * c_.in * pixels_ * c_.size);
      return LAMELLA_OK;
    });
  }

  // Copies a phase's results, whose channels are `step` apart, to their places in the image.
  void put(const Phase& x, const Phase& y, const Phase& z, int64_t m, const char* from, int64_t step, char* to) const {
    const CastLoop move = loops().cast[c_.dtype][c_.dtype];
    for (int64_t k = 0; k < m; k++) {
      const char* line = from + k * step * c_.size;
      for (int64_t d = 0; d < x.count; d++)
        for (int64_t h = 0; h < y.count; h++, line += z.count * c_.size) {
          const int64_t at = (x.begin + d * c_.stride[0]) * c_.image[1] + y.begin + h * c_.stride[1];
          move(z.count, to + (k * pixels_ + at * c_.image[2] + z.begin) * c_.size, c_.stride[2] * c_.size, line,
               c_.size);
        }
    }
  }

  // Computes channels [begin, end), counted over images and groups: the transposed weight times the gradient gives a
  // number for each tap and place, which is added to the padded image at the place that the tap has read.
  lamella_status scatter(int64_t begin, int64_t end) const {
    const int64_t most = std::clamp<int64_t>(65536 / std::max<int64_t>(c_.taps * c_.count * c_.size, 1), 1, c_.in);
    const GemmKernels& k = gemm_of(c_.dtype);
    Space given, padded, space;
    if (lamella_status st = given.take((most * c_.taps * c_.count + slack) * c_.size)) return st;
    if (lamella_status st = take_padded(&padded, c_, most)) return st;
    if (lamella_status st = space.take(k.space(most * c_.taps, c_.count, c_.outs))) return st;
    const auto* tap = reinterpret_cast<const int64_t*>(table_.data());
    while (begin < end) {
      const int64_t item = begin / c_.in, channel = begin % c_.in, group = item % c_.groups;
      const int64_t n = std::min({end - begin, c_.in - channel, most});
      const char* weight = weight_.data() + (group * c_.outs * c_.in + channel) * c_.taps * c_.size;
      const char* grad = gradient_.data() + item * c_.outs * c_.count * c_.size;
      const Gemm g{n * c_.taps, c_.count, c_.outs,      weight,   1,       c_.depth(), grad,
                   c_.count,    1,        given.data(), c_.count, nullptr, nullptr,    interrupted};
      if (int st = k.multiply(g, space.data())) return static_cast<lamella_status>(st);
      std::memset(padded.data(), 0, n * c_.plane * c_.size);
      windows_of(c_.dtype).add_windows(
          {padded.data(), n, c_.plane, c_.taps, tap, c_.rows(), c_.places[2], tap + c_.taps}, given.data());
      char* to = result_.data() + begin * pixels_ * c_.size;
      const int64_t line = c_.image[2] * c_.size, lines = c_.image[1] + 2 * c_.padding[1];
      for (int64_t i = 0; i < n; i++)
        for (int64_t d = 0; d < c_.image[0]; d++)
          for (int64_t h = 0; h < c_.image[1]; h++, to += line) {
            const int64_t row = (d + c_.padding[0]) * lines + h + c_.padding[1];
            std::memcpy(to, padded.data() + (i * c_.plane + row * c_.row + c_.padding[2]) * c_.size, line);
          }
      begin += n;
    }
    return LAMELLA_OK;
  }

  // Serves many images or groups: one thread computes each.
  lamella_status by_items(int64_t items) const {
    const auto least = static_cast<int64_t>(4e6 / std::max(c_.work(), 1.0)) + 1;
    return parallel_for(0, items, least, [&](int64_t begin, int64_t end) -> lamella_status {
      Space padded;
      if (lamella_status st = take_padded(&padded, grad_, c_.outs)) return st;
      for (int64_t i = begin; i < end; i++) {
        pad(i, 0, c_.outs, padded.data());
        if (lamella_status st = channels(i, 1, 0, c_.in, padded.data())) return st;
      }
      return LAMELLA_OK;
    });
  }

  // Serves few images and groups: the threads share the channels of each. Without groups, images of few places are
  // computed together, so that vectors are full and the weight is read once.
  lamella_status by_channels(int64_t items) const {
    const int64_t together = c_.groups == 1 && pixels_ < 2 * windows_of(c_.dtype).vector ? c_.images : 1;
    const int64_t bytes = c_.outs * grad_.plane * c_.size;
    Space padded;
    if (lamella_status st = take_padded(&padded, grad_, together * c_.outs)) return st;
    const int64_t step = 24, units = (c_.in + step - 1) / step, planes = grain / (grad_.plane + 1) + 1;
    const double work = c_.work() * static_cast<double>(together);
    const auto least = static_cast<int64_t>(4e6 * static_cast<double>(units) / std::max(work, 1.0)) + 1;
    for (int64_t i = 0; i < items; i += together) {
      lamella_status st = parallel_for(0, c_.outs, planes, [&](int64_t begin, int64_t end) {
        for (int64_t k = 0; k < together; k++) pad(i + k, begin, end, padded.data() + k * bytes);
        return LAMELLA_OK;
      });
      if (st) return st;
      st = parallel_for(0, units, std::max(least, units / 4), [&](int64_t begin, int64_t end) {
        return channels(i, together, begin * step, std::min(end * step, c_.in), padded.data());
      });
      if (st) return st;
    }
    return LAMELLA_OK;
  }

  Convolution c_{}, grad_{};
  Operand weight_, gradient_;  // in plain layout once run() has begun; gradient_ only if scatters_
  std::vector<Phase> phases_[3];
  int64_t pixels_ = 1;
  bool whole_;  // the stride is 1: one phase is the whole image
  bool scatters_;
  Space turned_, table_;
  Result result_;
};

Status convolution_backward_input(const Tensor& grad_output, const Tensor& weight, IntArrayRef, IntArrayRef stride,
                                  IntArrayRef padding, IntArrayRef dilation, int64_t groups, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  return InputGradient(grad_output.get(), weight.get(), stride, padding, dilation, groups, out.get()).run();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<convolution_backward_input>(m, "_convolution_backward_input");
  add<convolution_backward_weight>(m, "_convolution_backward_weight");
}

}  // namespace lamella::cpu
