// Pools on the CPU: planes in plain layout and pixels of many neighbouring channels are read as they lie, anything else
// is copied into planes.
#include "backends/cpu/pool.h"

#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/space.h"

namespace lattis::cpu {
namespace {

const Pools& pools() {
  static const Pools& chosen = LATTIS_BY_ISA(pools)();
  return chosen;
}

const PoolIndices& with_indices() {
  static const PoolIndices& chosen = LATTIS_BY_ISA(pool_indices)();
  return chosen;
}

int computes_in(int dtype) { return dtype == LATTIS_FLOAT16 || dtype == LATTIS_BFLOAT16 ? LATTIS_FLOAT32 : dtype; }

// `t` itself if it is plain and of the dtype, else new memory like it.
lattis_status plain(const lattis_tensor*& t, int dtype, Tensor* owner) {
  if (t->dtype == dtype && is_contiguous(t)) return LATTIS_OK;
  lattis_tensor* raw;
  if (lattis_status st =
          api().tensor_empty(t->dl.ndim, t->dl.shape, nullptr, static_cast<uint8_t>(dtype), device_of(t), &raw))
    return st;
  *owner = Tensor::steal(raw);
  t = raw;
  return LATTIS_OK;
}

// The numbers of one argument; one dimension is that of columns, in an image of one row.
template <int Spatial>
void read_sizes(const lattis_value& v, int64_t* out) {
  for (int i = 0; i < Spatial; i++) out[2 - Spatial + i] = v.as.ints[v.length == 1 ? 0 : i];
}

template <int Spatial>
PoolPlane read_window(const lattis_value* kernel) {  // and stride and padding behind it
  PoolPlane p{};
  p.kernel[0] = p.stride[0] = p.dilation[0] = p.dilation[1] = 1;
  read_sizes<Spatial>(kernel[0], p.kernel);
  if (kernel[1].tag == LATTIS_INT_LIST && kernel[1].length)
    read_sizes<Spatial>(kernel[1], p.stride);
  else
    std::copy(p.kernel, p.kernel + 2, p.stride);
  read_sizes<Spatial>(kernel[2], p.padding);
  return p;
}

// All planes; a unit of work is a row of outputs.
template <int Spatial>
lattis_status run(PoolPlane p, void (*kernel)(const PoolPlane&), const lattis_tensor* in, const lattis_tensor* out,
                  const lattis_tensor* indices) {
  const int n = in->dl.ndim, dtype = computes_in(in->dtype);
  if (out->numel == 0) return LATTIS_OK;
  p.height = Spatial == 2 ? in->dl.shape[n - 2] : 1;
  p.width = in->dl.shape[n - 1];
  p.places[0] = Spatial == 2 ? out->dl.shape[n - 2] : 1;
  p.places[1] = out->dl.shape[n - 1];
  const lattis_tensor *from = in, *to = out, *at = indices;
  Tensor own[3];
  const bool last =
      !at && dtype == in->dtype && !is_contiguous(in) && lies_channels_last(in) && lies_channels_last(out);
  if (last && in->dl.shape[1] * itemsize(in) >= least_pixel) {
    p.channels = in->dl.shape[1];
  } else {
    if (lattis_status st = plain(from, dtype, &own[0])) return st;
    if (from != in)
      if (lattis_status st = copy_into(from, in)) return st;
    if (lattis_status st = plain(to, dtype, &own[1])) return st;
    if (at)
      if (lattis_status st = plain(at, LATTIS_INT64, &own[2])) return st;
  }
  const int64_t depth = std::max<int64_t>(p.channels, 1), size = itemsize(from) * depth, rows = p.places[0];
  const int64_t units = to->numel / (p.places[1] * depth);
  const int64_t cost = p.channels ? p.places[1] * p.kernel[0] * p.kernel[1] * depth
                                  : p.places[1] * (p.kernel[0] + p.kernel[1]) + p.width * p.kernel[0];
  lattis_status st = parallel_for(0, units, 2 * grain / cost + 1, [&](int64_t begin, int64_t end) -> lattis_status {
    PoolPlane q = p;
    Space space;
    if (lattis_status bad = space.take(pool_space(q) * std::max<int64_t>(itemsize(from), 4))) return bad;
    q.space = space.data();
    while (begin < end) {
      const int64_t plane = begin / rows;
      q.in = static_cast<const char*>(from->dl.data) + plane * p.height * p.width * size;
      q.out = static_cast<char*>(to->dl.data) + plane * rows * p.places[1] * size;
      q.indices = at ? static_cast<int64_t*>(at->dl.data) + plane * rows * p.places[1] : nullptr;
      q.begin = begin % rows;
      q.end = std::min(rows, q.begin + end - begin);
      kernel(q);
      begin += q.end - q.begin;
    }
    return LATTIS_OK;
  });
  if (!st && to != out) st = copy_into(out, to);
  if (!st && at != indices) st = copy_into(indices, at);
  return st;
}

template <int Spatial>
lattis_status max_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  PoolPlane p = read_window<Spatial>(args + 1);
  read_sizes<Spatial>(args[4], p.dilation);
  const lattis_tensor* in = args[0].as.tensor;
  return run<Spatial>(p, pools().largest[computes_in(in->dtype)], in, rets[0].as.tensor, nullptr);
}

lattis_status max_indices_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  PoolPlane p = read_window<2>(args + 1);
  read_sizes<2>(args[4], p.dilation);
  const lattis_tensor* in = args[0].as.tensor;
  return run<2>(p, with_indices().largest[computes_in(in->dtype)], in, rets[0].as.tensor, rets[1].as.tensor);
}

template <int Spatial>
lattis_status avg_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  PoolPlane p = read_window<Spatial>(args + 1);
  p.count_padding = args[5].as.i;
  p.divisor = Spatial == 1 || args[6].tag == LATTIS_NONE ? 0 : args[6].as.i;
  const lattis_tensor* in = args[0].as.tensor;
  return run<Spatial>(p, pools().mean[computes_in(in->dtype)], in, rets[0].as.tensor, nullptr);
}

template <int Spatial>
lattis_status adaptive_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  PoolPlane p{};
  const lattis_tensor *in = args[0].as.tensor, *out = rets[0].as.tensor;
  if (out->numel == 0) return LATTIS_OK;
  const int n = in->dl.ndim;
  p.kernel[0] = p.stride[0] = p.stride[1] = p.dilation[0] = p.dilation[1] = 1;
  for (int i = 2 - Spatial; i < 2; i++)
    p.kernel[i] = in->dl.shape[n - 2 + i] / out->dl.shape[n - 2 + i] + 1;  // the work of a place
  return run<Spatial>(p, pools().adaptive[computes_in(in->dtype)], in, out, nullptr);
}

// ---- backward ------------------------------------------------------------------------------------------------------

// An operand in plain layout and the dtype that is computed in.
lattis_status read_plain(const lattis_tensor*& t, int dtype, Tensor* owner) {
  const lattis_tensor* given = t;
  if (lattis_status st = plain(t, dtype, owner)) return st;
  return t == given ? LATTIS_OK : copy_into(t, given);
}

// max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices)
lattis_status max_backward_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor *grad = args[0].as.tensor, *at = args[7].as.tensor, *out = rets[0].as.tensor, *to = out;
  if (out->numel == 0) return LATTIS_OK;
  const int n = out->dl.ndim, dtype = computes_in(out->dtype);
  PoolPlane p = read_window<2>(args + 2);
  read_sizes<2>(args[5], p.dilation);
  for (int i = 0; i < 2; i++) p.places[i] = grad->dl.shape[n - 2 + i];
  p.height = out->dl.shape[n - 2];
  p.width = out->dl.shape[n - 1];
  Tensor own[3];
  if (lattis_status st = read_plain(grad, dtype, &own[0])) return st;
  if (lattis_status st = read_plain(at, LATTIS_INT64, &own[1])) return st;
  if (lattis_status st = plain(to, dtype, &own[2])) return st;
  const int64_t plane = p.height * p.width, places = p.places[0] * p.places[1], size = itemsize(to);
  lattis_status st = parallel_for(0, to->numel / plane, grain / (plane + places) + 1, [&](int64_t begin, int64_t end) {
    PoolPlane q = p;
    for (int64_t k = begin; k < end; k++) {
      q.in = static_cast<const char*>(grad->dl.data) + k * places * size;
      q.indices = static_cast<int64_t*>(at->dl.data) + k * places;
      q.out = static_cast<char*>(to->dl.data) + k * plane * size;
      with_indices().backward[dtype](q);
    }
    return LATTIS_OK;
  });
  return st || to == out ? st : copy_into(out, to);
}

}  // namespace

void register_pooling(Library& m) {
  m.impl("max_pool1d", "cpu", max_kernel<1>)
      .impl("max_pool2d", "cpu", max_kernel<2>)
      .impl("max_pool2d_with_indices", "cpu", max_indices_kernel)
      .impl("max_pool2d_with_indices_backward", "cpu", max_backward_kernel)
      .impl("avg_pool1d", "cpu", avg_kernel<1>)
      .impl("avg_pool2d", "cpu", avg_kernel<2>)
      .impl("adaptive_avg_pool1d", "cpu", adaptive_kernel<1>)
      .impl("adaptive_avg_pool2d", "cpu", adaptive_kernel<2>);
}

}  // namespace lattis::cpu
