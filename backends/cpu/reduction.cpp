// Reductions. The input is seen as outputs × a reduced range, cut into blocks of fixed length: each block is reduced by
// one thread, blocks of an output are combined in order, so the result does not depend on the number of threads.
#include <lattis/half.h>

#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lattis::cpu {
namespace {

constexpr int64_t block = 16384;

// Input dimensions, split into those that are kept and those that are reduced; neighbours merged.
struct Geometry {
  int kept = 0, gone = 0;
  int64_t kept_size[LATTIS_MAX_DIMS], kept_in[LATTIS_MAX_DIMS], kept_out[LATTIS_MAX_DIMS];  // strides in elements
  int64_t gone_size[LATTIS_MAX_DIMS], gone_in[LATTIS_MAX_DIMS];
  int64_t outputs = 1, length = 1;

  Geometry(const lattis_tensor* in, const lattis_tensor* out, uint64_t dims, bool keepdim) {
    int o = 0;
    for (int d = 0; d < in->dl.ndim; d++) {
      int64_t n = in->dl.shape[d], s = in->dl.strides[d];
      if (dims >> d & 1) {
        length *= n;
        if (gone && gone_in[gone - 1] == s * n) {
          gone_size[gone - 1] *= n;
          gone_in[gone - 1] = s;
        } else {
          gone_size[gone] = n;
          gone_in[gone++] = s;
        }
        o += keepdim;
        continue;
      }
      int64_t so = out->dl.strides[o++];
      outputs *= n;
      if (kept && kept_in[kept - 1] == s * n && kept_out[kept - 1] == so * n) {
        kept_size[kept - 1] *= n;
        kept_in[kept - 1] = s;
        kept_out[kept - 1] = so;
      } else {
        kept_size[kept] = n;
        kept_in[kept] = s;
        kept_out[kept++] = so;
      }
    }
  }

  void locate(int64_t output, int64_t* in, int64_t* out) const {
    *in = *out = 0;
    for (int d = kept - 1; d >= 0; d--) {
      int64_t i = output % kept_size[d];
      output /= kept_size[d];
      *in += i * kept_in[d];
      *out += i * kept_out[d];
    }
  }

  // strip(n, offset, stride, first index) over [begin, end) of the reduced range.
  template <class Strip>
  void walk(int64_t begin, int64_t end, Strip strip) const {
    int last = gone - 1;
    while (begin < end) {
      int64_t rest = begin, offset = 0, inner = last >= 0 ? begin % gone_size[last] : 0;
      for (int d = last; d >= 0; d--) {
        offset += rest % gone_size[d] * gone_in[d];
        rest /= gone_size[d];
      }
      int64_t n = last >= 0 ? std::min(gone_size[last] - inner, end - begin) : 1;
      strip(n, offset, last >= 0 ? gone_in[last] : 0, begin);
      begin += n;
    }
  }
};

template <class T>
double widen(T x) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    return static_cast<float>(x);
  else
    return static_cast<double>(x);
}

// ---- sums: floats are added in double in eight lanes, integers in int64 (wrapping) --------------------------

template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

template <class T>
SumOf<T> load(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<uint64_t>(static_cast<int64_t>(x));
  else
    return widen(x);
}

template <class T>
SumOf<T> sum_strip(int64_t n, const T* x, int64_t stride) {
  SumOf<T> lanes[8] = {};
  int64_t i = 0;
  if (stride == 1)
    for (; i + 8 <= n; i += 8)
      for (int k = 0; k < 8; k++) lanes[k] += load(x[i + k]);
  else
    for (; i + 8 <= n; i += 8)
      for (int k = 0; k < 8; k++) lanes[k] += load(x[(i + k) * stride]);
  for (; i < n; i++) lanes[i % 8] += load(x[i * stride]);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

void store_sum(double v, double scale, const lattis_tensor* out, int64_t at) {
  v *= scale;
  loops().cast[LATTIS_FLOAT64][out->dtype](1, static_cast<char*>(out->dl.data) + at * itemsize(out), 0,
                                           reinterpret_cast<char*>(&v), 0);
}
void store_sum(uint64_t v, double scale, const lattis_tensor* out, int64_t at) {
  auto i = static_cast<int64_t>(v);
  if (scale != 1) return store_sum(static_cast<double>(i), scale, out, at);
  loops().cast[LATTIS_INT64][out->dtype](1, static_cast<char*>(out->dl.data) + at * itemsize(out), 0,
                                         reinterpret_cast<char*>(&i), 0);
}

// Many neighbouring outputs, each a column: rows are added to a tile of sums.
template <class T>
lattis_status sum_columns(const Geometry& g, const T* data, const lattis_tensor* out, double scale) {
  constexpr int64_t tile = 128;
  int last = g.kept - 1;
  int64_t width = g.kept_size[last], tiles = (width + tile - 1) / tile, groups = g.outputs / width;
  return parallel_for(0, groups * tiles, std::max<int64_t>(1, grain / (g.length * tile + 1)),
                      [&](int64_t b, int64_t e) -> lattis_status {
                        for (int64_t item = b; item < e; item++) {
                          int64_t first = item % tiles * tile, n = std::min(tile, width - first), in, at;
                          g.locate(item / tiles * width + first, &in, &at);
                          SumOf<T> sums[tile] = {};
                          g.walk(0, g.length, [&](int64_t rows, int64_t offset, int64_t stride, int64_t) {
                            for (int64_t r = 0; r < rows; r++) {
                              const T* row = data + in + offset + r * stride;
                              for (int64_t k = 0; k < n; k++) sums[k] += load(row[k]);
                            }
                          });
                          for (int64_t k = 0; k < n; k++) store_sum(sums[k], scale, out, at + k * g.kept_out[last]);
                        }
                        return LATTIS_OK;
                      });
}

template <class T>
lattis_status sum_typed(const Geometry& g, const lattis_tensor* in, const lattis_tensor* out, double scale) {
  auto* data = static_cast<const T*>(in->dl.data);
  if (g.outputs == 1 && g.gone <= 1 && g.length <= block) {
    store_sum(sum_strip(g.length, data, g.gone ? g.gone_in[0] : 1), scale, out, 0);
    return LATTIS_OK;
  }
  if (g.kept && g.kept_in[g.kept - 1] == 1 && g.kept_size[g.kept - 1] > 1 && g.length > 0)
    return sum_columns(g, data, out, scale);
  int64_t blocks = std::max<int64_t>((g.length + block - 1) / block, 1);
  std::unique_ptr<SumOf<T>[]> partial(new SumOf<T>[g.outputs * blocks]);
  lattis_status st = parallel_for(0, g.outputs * blocks, std::max<int64_t>(1, grain / (std::min(g.length, block) + 1)),
                                  [&](int64_t b, int64_t e) -> lattis_status {
                                    for (int64_t item = b; item < e; item++) {
                                      int64_t at, o, from = item % blocks * block;
                                      g.locate(item / blocks, &at, &o);
                                      SumOf<T> total = 0;
                                      g.walk(from, std::min(from + block, g.length),
                                             [&](int64_t n, int64_t offset, int64_t stride, int64_t) {
                                               total += sum_strip(n, data + at + offset, stride);
                                             });
                                      partial[item] = total;
                                    }
                                    return LATTIS_OK;
                                  });
  for (int64_t o = 0; o < g.outputs && !st; o++) {
    int64_t at, to;
    g.locate(o, &at, &to);
    store_sum(sum_strip(blocks, partial.get() + o * blocks, 1), scale, out, to);
  }
  return st;
}

lattis_status unsupported(lattis_frame* f) {
  return fail(LATTIS_NOT_IMPLEMENTED, std::string(api().operator_name(f->op)).substr(6) +
                                          ": argument 'self': the cpu backend does not reduce complex dtypes yet");
}

lattis_status sum_any(lattis_frame* f, const Geometry& g, const lattis_tensor* in, const lattis_tensor* out,
                      double scale) {
  switch (in->dtype) {
    case LATTIS_BOOL:
    case LATTIS_UINT8:
      return sum_typed<uint8_t>(g, in, out, scale);
    case LATTIS_UINT16:
      return sum_typed<uint16_t>(g, in, out, scale);
    case LATTIS_UINT32:
      return sum_typed<uint32_t>(g, in, out, scale);
    case LATTIS_UINT64:
      return sum_typed<uint64_t>(g, in, out, scale);
    case LATTIS_INT8:
      return sum_typed<int8_t>(g, in, out, scale);
    case LATTIS_INT16:
      return sum_typed<int16_t>(g, in, out, scale);
    case LATTIS_INT32:
      return sum_typed<int32_t>(g, in, out, scale);
    case LATTIS_INT64:
      return sum_typed<int64_t>(g, in, out, scale);
    case LATTIS_FLOAT16:
      return sum_typed<float16>(g, in, out, scale);
    case LATTIS_BFLOAT16:
      return sum_typed<bfloat16>(g, in, out, scale);
    case LATTIS_FLOAT32:
      return sum_typed<float>(g, in, out, scale);
    case LATTIS_FLOAT64:
      return sum_typed<double>(g, in, out, scale);
    default:
      return unsupported(f);
  }
}

uint64_t all_dims(const lattis_tensor* t) { return t->dl.ndim == 64 ? ~uint64_t{0} : (uint64_t{1} << t->dl.ndim) - 1; }

uint64_t dim_set(const lattis_value& v, const lattis_tensor* t) {
  if (v.tag == LATTIS_NONE) return all_dims(t);
  if (v.tag == LATTIS_INT) return t->dl.ndim ? uint64_t{1} << (v.as.i < 0 ? v.as.i + t->dl.ndim : v.as.i) : 0;
  if (v.length == 0) return all_dims(t);
  uint64_t dims = 0;
  for (uint32_t i = 0; i < v.length; i++)
    if (t->dl.ndim) dims |= uint64_t{1} << (v.as.ints[i] < 0 ? v.as.ints[i] + t->dl.ndim : v.as.ints[i]);
  return dims;
}

lattis_status total(lattis_frame* f, const lattis_value& self, const lattis_value& dim, bool keepdim, bool mean,
                    lattis_value* rets) {
  const lattis_tensor *in = self.as.tensor, *out = rets[0].as.tensor;
  Tensor converted;
  // sum(x, dtype=int64) of floats, and sum(x, dtype=float16) of large numbers, convert first, as torch does.
  bool narrow = f->compute_dtype != in->dtype && (out->dtype < LATTIS_FLOAT16 ? in->dtype >= LATTIS_FLOAT16 : false);
  if (narrow) {
    lattis_tensor* raw;
    if (lattis_status st = api().tensor_empty(in->dl.ndim, in->dl.shape, nullptr,
                                              static_cast<uint8_t>(f->compute_dtype), device_of(in), &raw))
      return st;
    converted = Tensor::steal(raw);
    if (lattis_status st = copy_into(raw, in)) return st;
    in = raw;
  }
  Geometry g(in, out, dim_set(dim, in), keepdim);
  double scale =
      mean ? (g.length ? 1.0 / static_cast<double>(g.length) : std::numeric_limits<double>::quiet_NaN()) : 1.0;
  return sum_any(f, g, in, out, scale);
}

lattis_status sum_all(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  return total(f, a[0], none(), false, false, r);
}
lattis_status sum_dims(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  return total(f, a[0], a[1], a[2].as.i != 0, false, r);
}
lattis_status mean_all(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  return total(f, a[0], none(), false, true, r);
}
lattis_status mean_dims(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  return total(f, a[0], a[1], a[2].as.i != 0, true, r);
}

// ---- extrema: the first of equals, NaN wins -----------------------------------------------------------------------

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else
    return std::isnan(widen(x));
}

template <class T, bool Max>
bool beats(T x, T best) {
  if (is_nan(best)) return false;
  if (is_nan(x)) return true;
  if constexpr (std::is_integral_v<T>)
    return Max ? x > best : x < best;
  else
    return Max ? widen(x) > widen(best) : widen(x) < widen(best);
}

template <class T>
struct Best {
  T value;
  int64_t index;
};

template <class T, bool Max>
lattis_status extremum_typed(const Geometry& g, const lattis_tensor* in, const lattis_tensor* values,
                             const lattis_tensor* indices) {
  auto* data = static_cast<const T*>(in->dl.data);
  int64_t blocks = std::max<int64_t>((g.length + block - 1) / block, 1);
  std::unique_ptr<Best<T>[]> partial(new Best<T>[g.outputs * blocks]);
  lattis_status st = parallel_for(0, g.outputs * blocks, std::max<int64_t>(1, grain / (std::min(g.length, block) + 1)),
                                  [&](int64_t b, int64_t e) -> lattis_status {
                                    for (int64_t item = b; item < e; item++) {
                                      int64_t at, o, from = item % blocks * block;
                                      g.locate(item / blocks, &at, &o);
                                      Best<T> best{data[at], -1};
                                      g.walk(from, std::min(from + block, g.length),
                                             [&](int64_t n, int64_t offset, int64_t stride, int64_t first) {
                                               const T* x = data + at + offset;
                                               for (int64_t i = 0; i < n; i++)
                                                 if (best.index < 0 || beats<T, Max>(x[i * stride], best.value))
                                                   best = {x[i * stride], first + i};
                                             });
                                      partial[item] = best;
                                    }
                                    return LATTIS_OK;
                                  });
  for (int64_t o = 0; o < g.outputs && !st; o++) {
    Best<T> best = partial[o * blocks];
    for (int64_t k = 1; k < blocks; k++)
      if (beats<T, Max>(partial[o * blocks + k].value, best.value)) best = partial[o * blocks + k];
    int64_t at, to;
    g.locate(o, &at, &to);
    if (values)
      static_cast<T*>(values->dl.data)[to] = best.value;
    else
      static_cast<int64_t*>(indices->dl.data)[to] = best.index;
  }
  return st;
}

template <bool Max>
lattis_status extremum_any(lattis_frame* f, const Geometry& g, const lattis_tensor* in, const lattis_tensor* v,
                           const lattis_tensor* i) {
  switch (in->dtype) {
    case LATTIS_BOOL:
    case LATTIS_UINT8:
      return extremum_typed<uint8_t, Max>(g, in, v, i);
    case LATTIS_UINT16:
      return extremum_typed<uint16_t, Max>(g, in, v, i);
    case LATTIS_UINT32:
      return extremum_typed<uint32_t, Max>(g, in, v, i);
    case LATTIS_UINT64:
      return extremum_typed<uint64_t, Max>(g, in, v, i);
    case LATTIS_INT8:
      return extremum_typed<int8_t, Max>(g, in, v, i);
    case LATTIS_INT16:
      return extremum_typed<int16_t, Max>(g, in, v, i);
    case LATTIS_INT32:
      return extremum_typed<int32_t, Max>(g, in, v, i);
    case LATTIS_INT64:
      return extremum_typed<int64_t, Max>(g, in, v, i);
    case LATTIS_FLOAT16:
      return extremum_typed<float16, Max>(g, in, v, i);
    case LATTIS_BFLOAT16:
      return extremum_typed<bfloat16, Max>(g, in, v, i);
    case LATTIS_FLOAT32:
      return extremum_typed<float, Max>(g, in, v, i);
    case LATTIS_FLOAT64:
      return extremum_typed<double, Max>(g, in, v, i);
    default:
      return unsupported(f);
  }
}

template <bool Max>
lattis_status extremum(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  const lattis_tensor *in = a[0].as.tensor, *out = r[0].as.tensor;
  return extremum_any<Max>(f, Geometry(in, out, all_dims(in), false), in, out, nullptr);
}

// Values and indices may be laid out differently (out= forms): one walk each.
template <bool Max>
lattis_status extremum_dim(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  const lattis_tensor *in = a[0].as.tensor, *values = r[0].as.tensor, *indices = r[1].as.tensor;
  uint64_t dims = dim_set(a[1], in);
  if (lattis_status st = extremum_any<Max>(f, Geometry(in, values, dims, a[2].as.i != 0), in, values, nullptr))
    return st;
  return extremum_any<Max>(f, Geometry(in, indices, dims, a[2].as.i != 0), in, nullptr, indices);
}

template <bool Max>
lattis_status arg_extremum(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  const lattis_tensor *in = a[0].as.tensor, *out = r[0].as.tensor;
  return extremum_any<Max>(f, Geometry(in, out, dim_set(a[1], in), a[2].as.i != 0), in, nullptr, out);
}

}  // namespace

void register_reductions(Library& m) {
  m.impl("sum", "cpu", sum_all).impl("sum.dim_IntList", "cpu", sum_dims);
  m.impl("mean", "cpu", mean_all).impl("mean.dim", "cpu", mean_dims);
  m.impl("max", "cpu", extremum<true>).impl("max.dim", "cpu", extremum_dim<true>);
  m.impl("min", "cpu", extremum<false>).impl("min.dim", "cpu", extremum_dim<false>);
  m.impl("argmax", "cpu", arg_extremum<true>).impl("argmin", "cpu", arg_extremum<false>);
}

}  // namespace lattis::cpu
