// Pools on the CPU: planes in plain layout and pixels of many neighbouring channels are read as they lie, anything else
// is copied into planes.
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

int interrupted() { return api().check_interrupt(); }

int computes_in(int dtype) { return dtype == LAMELLA_FLOAT16 || dtype == LAMELLA_BFLOAT16 ? LAMELLA_FLOAT32 : dtype; }

// `t` itself if it is plain and of the dtype, else new memory like it.
lamella_status plain(const lamella_tensor*& t, int dtype, TensorRef* owner) {
  if (t->dtype == dtype && is_contiguous(t)) return LAMELLA_OK;
  lamella_tensor* raw;
  if (lamella_status st =
          api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(t), &raw))
    return st;
  *owner = TensorRef::steal(raw);
  t = raw;
  return LAMELLA_OK;
}

// The numbers of one argument; one dimension is that of columns, in an image of one row.
template <int Spatial>
void read_sizes(IntArrayRef numbers, int64_t* out) {
  for (int i = 0; i < Spatial; i++) out[2 - Spatial + i] = numbers[numbers.size() == 1 ? 0 : i];
}

// An empty stride is the kernel.
template <int Spatial>
PoolPlane read_window(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding) {
  PoolPlane p{};
  p.kernel[0] = p.stride[0] = p.dilation[0] = p.dilation[1] = 1;
  read_sizes<Spatial>(kernel_size, p.kernel);
  if (!stride.empty())
    read_sizes<Spatial>(stride, p.stride);
  else
    std::copy(p.kernel, p.kernel + 2, p.stride);
  read_sizes<Spatial>(padding, p.padding);
  return p;
}

// All planes; a unit of work is a row of outputs.
template <int Spatial>
lamella_status run(PoolPlane p, int (*kernel)(const PoolPlane&), const lamella_tensor* in, const lamella_tensor* out,
                   const lamella_tensor* indices) {
  const int n = in->dl.ndim, dtype = computes_in(in->dtype);
  if (out->numel == 0) return LAMELLA_OK;
  p.height = Spatial == 2 ? in->dl.shape[n - 2] : 1;
  p.width = in->dl.shape[n - 1];
  p.places[0] = Spatial == 2 ? out->dl.shape[n - 2] : 1;
  p.places[1] = out->dl.shape[n - 1];
  const lamella_tensor *from = in, *to = out, *at = indices;
  TensorRef own[3];
  const bool last =
      !at && dtype == in->dtype && !is_contiguous(in) && lies_channels_last(in) && lies_channels_last(out);
  if (last && in->dl.shape[1] * itemsize(in) >= least_pixel) {
    p.channels = in->dl.shape[1];
  } else {
    if (lamella_status st = plain(from, dtype, &own[0])) return st;
    if (from != in)
      if (lamella_status st = copy_into(from, in)) return st;
    if (lamella_status st = plain(to, dtype, &own[1])) return st;
    if (at)
      if (lamella_status st = plain(at, LAMELLA_INT64, &own[2])) return st;
  }
  const int64_t depth = std::max<int64_t>(p.channels, 1), size = itemsize(from) * depth, rows = p.places[0];
  const int64_t units = to->numel / (p.places[1] * depth);
  const int64_t cost = p.channels ? p.places[1] * p.kernel[0] * p.kernel[1] * depth
                                  : p.places[1] * (p.kernel[0] + p.kernel[1]) + p.width * p.kernel[0];
  lamella_status st = parallel_for(0, units, 2 * grain / cost + 1, [&](int64_t begin, int64_t end) -> lamella_status {
    PoolPlane q = p;
    Space space;
    if (lamella_status bad = space.take(pool_space(q) * std::max<int64_t>(itemsize(from), 4))) return bad;
    q.space = space.data();
    q.interrupted = interrupted;
    while (begin < end) {
      const int64_t plane = begin / rows;
      q.in = static_cast<const char*>(from->dl.data) + plane * p.height * p.width * size;
      q.out = static_cast<char*>(to->dl.data) + plane * rows * p.places[1] * size;
      q.indices = at ? static_cast<int64_t*>(at->dl.data) + plane * rows * p.places[1] : nullptr;
      q.begin = begin % rows;
      q.end = std::min(rows, q.begin + end - begin);
      if (int answer = kernel(q)) return static_cast<lamella_status>(answer);
      begin += q.end - q.begin;
    }
    return LAMELLA_OK;
  });
  if (!st && to != out) st = copy_into(out, to);
  if (!st && at != indices) st = copy_into(indices, at);
  return st;
}

template <int Spatial>
Status max_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                IntArrayRef dilation, bool, const Tensor& out) {
  PoolPlane p = read_window<Spatial>(kernel_size, stride, padding);
  read_sizes<Spatial>(dilation, p.dilation);
  const lamella_tensor* in = self.get();
  return run<Spatial>(p, pools().largest[computes_in(in->dtype)], in, out.get(), nullptr);
}

Status max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                               IntArrayRef dilation, bool, const Tensor& values, const Tensor& indices) {
  PoolPlane p = read_window<2>(kernel_size, stride, padding);
  read_sizes<2>(dilation, p.dilation);
  const lamella_tensor* in = self.get();
  return run<2>(p, with_indices().largest[computes_in(in->dtype)], in, values.get(), indices.get());
}

// With divisor 0, the number of elements divides.
template <int Spatial>
lamella_status avg_pool(const lamella_tensor* in, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                        bool count_include_pad, int64_t divisor, const lamella_tensor* out) {
  PoolPlane p = read_window<Spatial>(kernel_size, stride, padding);
  p.count_padding = count_include_pad;
  p.divisor = divisor;
  return run<Spatial>(p, pools().mean[computes_in(in->dtype)], in, out, nullptr);
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
  PoolPlane p{};
  const lamella_tensor *in = self.get(), *result = out.get();
  if (result->numel == 0) return LAMELLA_OK;
  const int n = in->dl.ndim;
  p.kernel[0] = p.stride[0] = p.stride[1] = p.dilation[0] = p.dilation[1] = 1;
  for (int i = 2 - Spatial; i < 2; i++)
    p.kernel[i] = in->dl.shape[n - 2 + i] / result->dl.shape[n - 2 + i] + 1;  // the work of a place
  return run<Spatial>(p, pools().adaptive[computes_in(in->dtype)], in, result, nullptr);
}

// ---- backward ------------------------------------------------------------------------------------------------------

// An operand in plain layout and the dtype that is computed in.
lamella_status read_plain(const lamella_tensor*& t, int dtype, TensorRef* owner) {
  const lamella_tensor* given = t;
  if (lamella_status st = plain(t, dtype, owner)) return st;
  return t == given ? LAMELLA_OK : copy_into(t, given);
}

// Calls body(number, gradients, image) for every plane, from plain memory into plain memory of the dtype.
template <class Body>
lamella_status planes(const lamella_tensor* grad, const lamella_tensor* out, int dtype, Body&& body) {
  const int n = out->dl.ndim;
  const lamella_tensor* to = out;
  TensorRef own[2];
  if (lamella_status st = read_plain(grad, dtype, &own[0])) return st;
  if (lamella_status st = plain(to, dtype, &own[1])) return st;
  const int64_t plane = out->dl.shape[n - 2] * out->dl.shape[n - 1], size = itemsize(to);
  const int64_t places = grad->dl.shape[n - 2] * grad->dl.shape[n - 1];
  lamella_status st = parallel_for(
      0, to->numel / plane, grain / (plane + places) + 1, [&](int64_t begin, int64_t end) -> lamella_status {
        for (int64_t k = begin; k < end; k++)
          if (lamella_status bad = body(k, static_cast<const char*>(grad->dl.data) + k * places * size,
                                        static_cast<char*>(to->dl.data) + k * plane * size))
            return bad;
        return LAMELLA_OK;
      });
  return st || to == out ? st : copy_into(out, to);
}

Status max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor&, IntArrayRef kernel_size,
                                        IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool,
                                        const Tensor& indices, const Tensor& out) {
  const lamella_tensor *grad = grad_output.get(), *at = indices.get(), *result = out.get();
  if (result->numel == 0) return LAMELLA_OK;
  const int n = result->dl.ndim, dtype = computes_in(result->dtype);
  PoolPlane p = read_window<2>(kernel_size, stride, padding);
  read_sizes<2>(dilation, p.dilation);
  for (int i = 0; i < 2; i++) p.places[i] = grad->dl.shape[n - 2 + i];
  p.height = result->dl.shape[n - 2];
  p.width = result->dl.shape[n - 1];
  TensorRef own;
  if (lamella_status st = read_plain(at, LAMELLA_INT64, &own)) return st;
  const int64_t places = p.places[0] * p.places[1];
  return planes(grad, result, dtype, [&](int64_t k, const char* from, char* to) -> lamella_status {
    PoolPlane q = p;
    q.in = from;
    q.indices = static_cast<int64_t*>(at->dl.data) + k * places;
    q.out = to;
    with_indices().backward[dtype](q);
    return LAMELLA_OK;
  });
}

// Where along one dimension the windows of a mean lie in the image, and how much of each counts.
struct Spans {
  std::vector<int64_t> begin, end, count;
  void add(int64_t from, int64_t to, int64_t counted) {
    begin.push_back(from);
    end.push_back(to);
    count.push_back(counted);
  }
};

lamella_status mean_backward(const lamella_tensor* grad, const lamella_tensor* out, const Spans (&spans)[2]) {
  const int n = out->dl.ndim, dtype = computes_in(out->dtype);
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
  const PoolPlane p = read_window<2>(kernel_size, stride, padding);
  const int n = result->dl.ndim;
  Spans spans[2];
  for (int i = 0; i < 2; i++) {
    const int64_t size = result->dl.shape[n - 2 + i], pad = count_include_pad ? p.padding[i] : 0;
    for (int64_t j = 0; j < grad->dl.shape[n - 2 + i]; j++) {
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
