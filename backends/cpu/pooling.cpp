// Pools on the CPU: planes in plain layout and pixels of many neighbouring channels are read in place, other layouts
// are copied into planes.
#include "backends/cpu/pool.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {
namespace {

const Pools& pools() {
  static const Pools& chosen = LAMELLA_BY_ISA(pools)();
  return chosen;
}

const PoolIndices& with_indices() {
  static const PoolIndices& chosen = LAMELLA_BY_ISA(pool_indices)();
  return chosen;
}

const PoolMeans& means() {
  static const PoolMeans& chosen = LAMELLA_BY_ISA(pool_means)();
  return chosen;
}

// Sets the windows of an operator's arguments over the last `Spatial` dimensions; lines are images of one row.
template <int Spatial>
PoolPlane read_window(const lamella_tensor* in, const lamella_tensor* out, IntArrayRef kernel, IntArrayRef stride,
                      IntArrayRef padding, IntArrayRef dilation = {}) {
  PoolPlane p{};
  const int n = in->dl.ndim - Spatial;
  static_cast<Window<2>&>(p) =
      window_of<2>(Spatial, in->dl.shape + n, out->dl.shape + n, kernel, stride, padding, dilation);
  return p;
}

// Runs a kernel over all planes; the threads share rows of outputs.
lamella_status run(PoolPlane p, int (*kernel)(const PoolPlane&), const lamella_tensor* in, const lamella_tensor* out,
                   const lamella_tensor* indices) {
  if (out->numel == 0) return LAMELLA_OK;
  const int dtype = wide_of(in->dtype);
  const bool last = !indices && dtype == in->dtype && !is_contiguous(in) && lies_channels_last(in) &&
                    lies_channels_last(out) && in->dl.shape[1] * itemsize(in) >= least_pixel;
  if (last) p.channels = in->dl.shape[1];
  const Operand from(in, dtype, last || is_contiguous(in));
  const Result to(out, dtype, last || is_contiguous(out)), at(indices, LAMELLA_INT64);
  const int64_t depth = std::max<int64_t>(p.channels, 1), size = itemsize(from.get()) * depth, rows = p.places[0];
  const int64_t units = to->numel / (p.places[1] * depth);
  const int64_t cost = p.channels ? p.places[1] * p.kernel[0] * p.kernel[1] * depth
                                  : p.places[1] * (p.kernel[0] + p.kernel[1]) + p.image[1] * p.kernel[0];
  lamella_status st = parallel_for(0, units, 2 * grain / cost + 1, [&](int64_t begin, int64_t end) -> lamella_status {
    PoolPlane q = p;
    Space space;
    if (lamella_status bad = space.take(pool_space(q) * std::max<int64_t>(itemsize(from.get()), 4))) return bad;
    q.space = space.data();
    q.interrupted = interrupted;
    while (begin < end) {
      const int64_t plane = begin / rows;
      q.in = from.data() + plane * p.image[0] * p.image[1] * size;
      q.out = to.data() + plane * rows * p.places[1] * size;
      q.indices = at ? at.data<int64_t>() + plane * rows * p.places[1] : nullptr;
      q.begin = begin % rows;
      q.end = std::min(rows, q.begin + end - begin);
      if (int answer = kernel(q)) return static_cast<lamella_status>(answer);
      begin += q.end - q.begin;
    }
    return LAMELLA_OK;
  });
  if (!st) st = to.finish();
  return st ? st : at.finish();
}

template <int Spatial>
Status max_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                IntArrayRef dilation, bool, const Tensor& out) {
  const lamella_tensor *in = self.get(), *to = out.get();
  return run(read_window<Spatial>(in, to, kernel_size, stride, padding, dilation), pools().largest[wide_of(in->dtype)],
             in, to, nullptr);
}

Status max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                               IntArrayRef dilation, bool, const Tensor& values, const Tensor& indices) {
  const lamella_tensor *in = self.get(), *to = values.get();
  return run(read_window<2>(in, to, kernel_size, stride, padding, dilation), with_indices().largest[wide_of(in->dtype)],
             in, to, indices.get());
}

// Computes means of windows. With divisor 0, the sum is divided by the number of elements.
template <int Spatial>
lamella_status avg_pool(const lamella_tensor* in, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                        bool count_include_pad, int64_t divisor, const lamella_tensor* out) {
  PoolPlane p = read_window<Spatial>(in, out, kernel_size, stride, padding);
  p.count_padding = count_include_pad;
  p.divisor = divisor;
  return run(p, pools().mean[wide_of(in->dtype)], in, out, nullptr);
}

Status avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool,
                  bool count_include_pad, const Tensor& out) {
  return avg_pool<1>(self.get(), kernel_size, stride, padding, count_include_pad, 0, out.get());
}

Status avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool,
                  bool count_include_pad, std::optional<int64_t> divisor_override, const Tensor& out) {
  return avg_pool<2>(self.get(), kernel_size, stride, padding, count_include_pad, divisor_override.value_or(0),
                     out.get());
}

template <int Spatial>
Status adaptive_avg_pool(const Tensor& self, IntArrayRef, const Tensor& out) {
  const lamella_tensor *in = self.get(), *result = out.get();
  if (result->numel == 0) return LAMELLA_OK;
  PoolPlane p = read_window<Spatial>(in, result, {}, {}, {});
  for (int i = 2 - Spatial; i < 2; i++) p.kernel[i] = p.image[i] / p.places[i] + 1;  // estimates the work of a place
  return run(p, pools().adaptive[wide_of(in->dtype)], in, result, nullptr);
}

// ---- backward ------------------------------------------------------------------------------------------------------

// Calls body(number, gradients, image) for every plane, with gradients and image in plain memory of the dtype.
template <class Body>
lamella_status planes(const lamella_tensor* grad, const lamella_tensor* out, int dtype, Body&& body) {
  const int n = out->dl.ndim;
  const Operand from(grad, dtype);
  const Result to(out, dtype);
  const int64_t plane = out->dl.shape[n - 2] * out->dl.shape[n - 1], size = itemsize(to.get());
  const int64_t places = grad->dl.shape[n - 2] * grad->dl.shape[n - 1];
  lamella_status st = parallel_for(
      0, to->numel / plane, grain / (plane + places) + 1, [&](int64_t begin, int64_t end) -> lamella_status {
        for (int64_t k = begin; k < end; k++)
          if (lamella_status bad = body(k, from.data() + k * places * size, to.data() + k * plane * size)) return bad;
        return LAMELLA_OK;
      });
  return st ? st : to.finish();
}

Status max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor&, IntArrayRef kernel_size,
                                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool,
                                        const Tensor& indices, const Tensor& out) {
  const lamella_tensor *grad = grad_output.get(), *result = out.get();
  if (result->numel == 0) return LAMELLA_OK;
  const int dtype = wide_of(result->dtype);
  const PoolPlane p = read_window<2>(result, grad, kernel_size, stride, padding, dilation);
  const Operand at(indices.get(), LAMELLA_INT64);
  const int64_t places = p.places[0] * p.places[1];
  return planes(grad, result, dtype, [&](int64_t k, const char* from, char* to) -> lamella_status {
    PoolPlane q = p;
    q.in = from;
    q.indices = const_cast<int64_t*>(at.data<int64_t>()) + k * places;
    q.out = to;
    with_indices().backward[dtype](q);
    return LAMELLA_OK;
  });
}

// For each place along one dimension: the part of the image that its window covers, and the count that divides it.
struct Spans {
  std::vector<int64_t> begin, end, count;
  void add(int64_t from, int64_t to, int64_t counted) {
    begin.push_back(from);
    end.push_back(to);
    count.push_back(counted);
  }
};

lamella_status mean_backward(const lamella_tensor* grad, const lamella_tensor* out, const Spans (&spans)[2]) {
  const int n = out->dl.ndim, dtype = wide_of(out->dtype);
  PoolShares p{};
  p.height = out->dl.shape[n - 2];
  p.width = out->dl.shape[n - 1];
  for (int i = 0; i < 2; i++) {
    p.places[i] = grad->dl.shape[n - 2 + i];
    p.begin[i] = spans[i].begin.data();
    p.end[i] = spans[i].end.data();
    p.count[i] = spans[i].count.data();
  }
  return planes(grad, out, dtype, [&](int64_t, const char* from, char* to) -> lamella_status {
    PoolShares q = p;
    Space line;
    if (lamella_status st = line.take(p.width * 8)) return st;
    q.grad = from;
    q.out = to;
    q.line = line.data();
    q.interrupted = interrupted;
    return static_cast<lamella_status>(means().backward[dtype](q));
  });
}

Status avg_pool2d_backward(const Tensor& grad_output, const Tensor&, IntArrayRef kernel_size, IntArrayRef stride,
                           IntArrayRef padding, bool, bool count_include_pad, std::optional<int64_t> divisor_override,
                           const Tensor& out) {
  const lamella_tensor *grad = grad_output.get(), *result = out.get();
  if (result->numel == 0) return LAMELLA_OK;
  const PoolPlane p = read_window<2>(result, grad, kernel_size, stride, padding);
  Spans spans[2];
  for (int i = 0; i < 2; i++) {
    const int64_t size = p.image[i], pad = count_include_pad ? p.padding[i] : 0;
    for (int64_t j = 0; j < p.places[i]; j++) {
      const int64_t from = j * p.stride[i] - p.padding[i], to = from + p.kernel[i];
      const int64_t counted = std::min(to, size + pad) - std::max(from, -pad);
      const int64_t divisor = !divisor_override ? counted : i ? 1 : *divisor_override;
      spans[i].add(std::max<int64_t>(from, 0), std::min(to, size), divisor);
    }
  }
  return mean_backward(grad, result, spans);
}

Status adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor&, const Tensor& out) {
  const lamella_tensor *grad = grad_output.get(), *result = out.get();
  if (result->numel == 0) return LAMELLA_OK;
  Spans spans[2];
  for (int i = 0; i < 2; i++) {
    const int d = result->dl.ndim - 2 + i;
    const int64_t size = result->dl.shape[d], places = grad->dl.shape[d];
    for (int64_t j = 0; j < places; j++) {
      const int64_t from = j * size / places, to = ((j + 1) * size + places - 1) / places;
      spans[i].add(from, to, to - from);
    }
  }
  return mean_backward(grad, result, spans);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<max_pool<1>>(m, "max_pool1d");
  add<max_pool<2>>(m, "max_pool2d");
  add<max_pool2d_with_indices>(m, "max_pool2d_with_indices");
  add<max_pool2d_with_indices_backward>(m, "max_pool2d_with_indices_backward");
  add<avg_pool2d_backward>(m, "avg_pool2d_backward");
  add<adaptive_avg_pool2d_backward>(m, "_adaptive_avg_pool2d_backward");
  add<avg_pool1d>(m, "avg_pool1d");
  add<avg_pool2d>(m, "avg_pool2d");
  add<adaptive_avg_pool<1>>(m, "adaptive_avg_pool1d");
  add<adaptive_avg_pool<2>>(m, "adaptive_avg_pool2d");
}

}  // namespace lamella::cpu
