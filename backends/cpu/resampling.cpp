// Images resampled to another size on the CPU: planes in plain layout and pixels of many neighbouring channels are read
// in place, other layouts are copied into planes.
#include "backends/cpu/resampling.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/index_loops.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/pool.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {
namespace {

const Resampling& resampling_loops() {
  static const Resampling& chosen = LAMELLA_BY_ISA(resampling)();
  return chosen;
}

// The table of taps of one axis, forward or transposed.
struct Table {
  ResampleAxis axis{};
  std::vector<int32_t> index, count;
  std::vector<int64_t> first;
  std::vector<double> weight;
  std::vector<float> narrow;
  int64_t slots = 1;

  void use(bool weighted, bool wide) {
    axis.index = index.data();
    axis.count = count.empty() ? nullptr : count.data();
    axis.first = first.empty() ? nullptr : first.data();
    if (!weighted) return;
    if (!wide) narrow.assign(weight.begin(), weight.end());
    axis.weight = wide ? static_cast<const void*>(weight.data()) : narrow.data();
  }
};

double weight_at(const lamella_tensor* w, const char* data, int64_t i) {
  if (!data) return 1;
  return w->dtype == LAMELLA_FLOAT64 ? reinterpret_cast<const double*>(data)[i]
                                     : static_cast<double>(reinterpret_cast<const float*>(data)[i]);
}

void read_table(Table* t, int64_t in, int64_t out, int64_t taps, const int64_t* index, const lamella_tensor* weights,
                const char* weight, bool transposed) {
  for (int64_t i = 0; i < taps * out; i++)
    LAMELLA_CHECK_INDEX(index[i] >= 0 && index[i] < std::min(in, int64_t{INT32_MAX}), "argument 'index': ", index[i],
                        " is out of range for an axis of size ", in);
  if (!transposed) {
    t->axis = {in, out, taps};
    t->index.assign(index, index + taps * out);
    if (weights)
      for (int64_t i = 0; i < taps * out; i++) t->weight.push_back(weight_at(weights, weight, i));
    for (int64_t i = 0; i < out; i++) {
      int64_t low = index[i], high = index[i];
      for (int64_t k = 1; k < taps; k++) {
        low = std::min(low, index[k * out + i]);
        high = std::max(high, index[k * out + i]);
      }
      t->slots = std::max(t->slots, high - low + 1);
    }
    return;
  }
  t->count.assign(in, 0);
  for (int64_t i = 0; i < taps * out; i++) t->count[index[i]]++;
  const int64_t most = std::max<int32_t>(*std::max_element(t->count.begin(), t->count.end()), 1);
  t->axis = {out, in, most};
  // A table with the same number of taps for each place would be too large if few places have most of the taps.
  constexpr int64_t spare = 4;
  int64_t entries = taps * out;
  if (most > spare * (entries / in + 1)) {
    t->first.assign(in, 0);
    for (int64_t i = 1; i < in; i++) t->first[i] = t->first[i - 1] + t->count[i - 1];
    t->axis.first = t->first.data();
  } else {
    entries = most * in;
  }
  t->index.assign(entries, static_cast<int32_t>(out));
  t->weight.assign(entries, 0);
  std::fill(t->count.begin(), t->count.end(), 0);
  for (int64_t i = 0; i < out; i++)
    for (int64_t k = 0; k < taps; k++) {
      const int64_t to = index[k * out + i], at = t->axis.at(t->count[to]++, to);
      t->index[at] = static_cast<int32_t>(i);
      t->weight[at] = weight_at(weights, weight, k * out + i);
    }
}

// The elements that are resampled: their dtype, and `depth`, the number of neighbours that belong to one place.
struct Elements {
  int dtype;
  int64_t size, depth, places;
  bool mixed;  // sums with weights, not picked elements
};

// Resamples all planes; the threads share rows of outputs.
lamella_status pass(int64_t planes, const Elements& e, const Table& rows, const Table& columns, const char* in,
                    char* out) {
  const int64_t depth = e.depth, size = e.size;
  const bool mixed = e.mixed;
  ResamplePlane p{};
  p.depth = depth;
  p.rows = rows.axis;
  p.columns = columns.axis;
  p.slots = rows.slots;
  p.rows_first = depth > 1 || p.rows.count || p.columns.count || p.rows.out < p.rows.in || p.slots > most_slots;
  const int64_t width = p.columns.out * depth;
  const auto run = mixed ? resampling_loops().mix[e.dtype] : resampling_loops().pick[log2_item(size)];
  const int64_t cost = width * (mixed ? p.rows.taps + p.columns.taps + 1 : 1);
  const int64_t least = grain / std::max<int64_t>(cost, 1) + 1;
  return parallel_for(0, planes * p.rows.out, least, [&](int64_t begin, int64_t end) -> lamella_status {
    ResamplePlane q = p;
    Space space;
    if (lamella_status bad = space.take(mixed ? resample_space(q) * size : 0)) return bad;
    q.space = space.data();
    while (begin < end) {
      const int64_t plane = begin / q.rows.out;
      q.in = in + plane * q.rows.in * q.columns.in * depth * size;
      q.out = out + plane * q.rows.out * width * size;
      q.begin = begin % q.rows.out;
      q.end = std::min(q.rows.out, q.begin + end - begin);
      run(q);
      begin += q.end - q.begin;
    }
    return LAMELLA_OK;
  });
}

Table untouched(int64_t size) {
  Table t;
  t.axis.in = t.axis.out = size;
  return t;
}

// Resamples the last axes of `in`; `in` and `out` have no gaps.
lamella_status resample_axes(const std::vector<Table>& axes, const Elements& e, const char* in, char* out) {
  const int64_t last = axes.back().axis.in;
  int64_t before = 1;  // planes, or rows where there is one axis
  for (const Table& t : axes) before *= t.axis.in;
  before = e.places / before;
  if (axes.size() == 1) return pass(1, e, untouched(before), axes[0], in, out);
  if (axes.size() == 2) return pass(before, e, axes[0], axes[1], in, out);
  const ResampleAxis &d = axes[0].axis, &h = axes[1].axis, &w = axes[2].axis;
  const bool slices_first = d.out >= d.in;
  Space between;
  const int64_t most = before * (slices_first ? d.in * h.out * w.out : d.out * h.in * last);
  if (lamella_status st = between.take(most * e.size * e.depth)) return st;
  if (slices_first) {
    if (lamella_status st = pass(before * d.in, e, axes[1], axes[2], in, between.data())) return st;
    return pass(before, e, axes[0], untouched(h.out * w.out), between.data(), out);
  }
  if (lamella_status st = pass(before, e, axes[0], untouched(h.in * last), in, between.data())) return st;
  return pass(before * d.out, e, axes[1], axes[2], between.data(), out);
}

// Resamples an image or, if `transposed`, computes its gradient. `given` are the axes of the operator's input, `sizes`
// those of its output, which for a gradient is `from`.
lamella_status resampled(const lamella_tensor* from, const lamella_tensor* to, IntArrayRef given, IntArrayRef sizes,
                         IntArrayRef taps, const Tensor& index, const Tensor& weight, bool transposed) {
  if (to->numel == 0 || from->numel == 0) return to->numel == 0 ? LAMELLA_OK : fill_with(0, to);
  const bool mixed = transposed || weight.defined();
  // Gradients of complex numbers are added up as two numbers.
  const bool pairs = transposed && (from->dtype == LAMELLA_COMPLEX64 || from->dtype == LAMELLA_COMPLEX128);
  const int dtype = mixed && !pairs ? work_dtype(from) : from->dtype;
  const int parts = !pairs ? dtype : from->dtype == LAMELLA_COMPLEX128 ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32;
  const lamella_tensor* w = weight.defined() ? weight.get() : nullptr;
  const Operand places(index.get(), LAMELLA_INT64);
  const Operand weights(w, w ? w->dtype : 0);
  std::vector<Table> axes(taps.size());
  int64_t at = 0;
  for (size_t i = 0; i < taps.size(); i++) {
    read_table(&axes[i], given[i], sizes[i], taps[i], places.data<int64_t>() + at, w,
               w ? weights.data() + at * itemsize(w) : nullptr, transposed);
    axes[i].use(mixed, parts == LAMELLA_FLOAT64);
    at += taps[i] * sizes[i];
  }
  const bool last = taps.size() == 2 && dtype == from->dtype && !pairs && !is_contiguous(from) &&
                    lies_channels_last(from) && lies_channels_last(to) &&
                    from->dl.shape[1] * itemsize(from) >= least_pixel;
  Elements e{parts, itemsize(from), 1, from->numel, mixed};
  if (last) {
    e.depth = from->dl.shape[1];
    e.places /= e.depth;
    return resample_axes(axes, e, static_cast<const char*>(from->dl.data), static_cast<char*>(to->dl.data));
  }
  const Operand x(from, dtype);
  const Result result(to, dtype);
  e.depth = pairs ? 2 : 1;
  e.size = itemsize(x.get()) / e.depth;
  if (lamella_status st = resample_axes(axes, e, x.data(), result.data())) return st;
  return result.finish();
}

Status resample(const Tensor& self, IntArrayRef output_size, IntArrayRef taps, const Tensor& index,
                const Tensor& weight, const Tensor& out) {
  const IntArrayRef all = self.sizes();
  return resampled(self.get(), out.get(), IntArrayRef(all.end() - taps.size(), taps.size()), output_size, taps, index,
                   weight, false);
}

Status resample_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, IntArrayRef taps,
                         const Tensor& index, const Tensor& weight, const Tensor& out) {
  return resampled(grad_output.get(), out.get(), IntArrayRef(input_size.end() - taps.size(), taps.size()), output_size,
                   taps, index, weight, true);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<resample>(m, "_resample");
  add<resample_backward>(m, "_resample_backward");
}

}  // namespace lamella::cpu
