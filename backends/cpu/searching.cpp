// Where numbers belong among others that are in order.
#include "backends/cpu/gather.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/sort_loops.h"
#include "backends/cpu/space.h"

namespace lattis::cpu {
namespace {

// Boundaries along the last dimension: one row for all values, or each row of values its own.
lattis_status search(const lattis_tensor* boundaries, const lattis_value& wanted, bool right,
                     const lattis_tensor* out) {
  if (out->numel == 0) return LATTIS_OK;
  Tensor wider;  // a number is compared as it is: beside narrow integers in int64, or in float64
  if (wanted.tag != LATTIS_TENSOR && boundaries->dtype < LATTIS_FLOAT16 &&
      (wanted.tag == LATTIS_FLOAT || boundaries->dtype != LATTIS_UINT64))
    if (lattis_status st = converted(boundaries, wanted.tag == LATTIS_FLOAT ? LATTIS_FLOAT64 : LATTIS_INT64, &wider))
      return st;
  const SortLoops& loops = sort_table().wide[boundaries->dtype];
  const Rows rows(boundaries, boundaries->dl.ndim - 1);
  const int64_t count = rows.length, each = out->numel / std::max<int64_t>(rows.count, 1);
  alignas(16) char number[16];
  const lattis_tensor* values = wanted.tag == LATTIS_TENSOR ? wanted.as.tensor : nullptr;
  if (!values) store_number(wanted, boundaries->dtype, number);
  const bool many = boundaries->dl.ndim > 1;
  const CastLoop cast = cpu::loops().cast[LATTIS_INT64][out->dtype];
  Space space;
  if (lattis_status st = space.take(count * itemsize(boundaries))) return st;
  for (int64_t row = 0; row < rows.count; row++) {
    loops.keys(count, rows.start(boundaries, row), rows.stride(boundaries), space.data());
    auto some = [&](int64_t n, char* const* at, const int64_t* step) -> lattis_status {
      constexpr int64_t tile = 512;
      int64_t places[tile];
      for (int64_t b = 0; b < n; b += tile) {
        const int64_t m = std::min(tile, n - b);
        loops.search(count, space.data(), m, at[1] + b * step[1], step[1], right, places);
        cast(m, at[0] + b * step[0], step[0], reinterpret_cast<char*>(places), 8);
      }
      return LATTIS_OK;
    };
    if (many) {
      const Rows to(out, out->dl.ndim - 1), from(values, out->dl.ndim - 1);
      char* at[2] = {to.start(out, row), from.start(values, row)};
      const int64_t step[2] = {to.stride(out), from.stride(values)};
      if (lattis_status st = some(each, at, step)) return st;
      continue;
    }
    Strips s(out);
    if (values)
      s.add(values);
    else
      s.add_scalar(number);
    if (lattis_status st = s.run(4096, some)) return st;
  }
  return LATTIS_OK;
}

// sorted_sequence, self, *, out_int32, right, side, sorter
lattis_status searchsorted(lattis_frame* f, const lattis_value* a, lattis_value* r) {
  static const lattis_operator* gather = api().find_operator("aten::gather", "");
  const bool right = a[3].as.i || (a[4].tag != LATTIS_NONE && a[4].as.string[0] == 'r');
  if (a[5].tag == LATTIS_NONE) return search(a[0].as.tensor, a[1], right, r[0].as.tensor);
  const int last = a[0].as.tensor->dl.ndim - 1;
  const Places places = {a[0].as.tensor->dl.shape[last], 0, 1};
  if (lattis_status st = check_indices(f, "sorter", a[5].as.tensor, places, last)) return st;
  const lattis_value args[4] = {a[0], value(-1), a[5], value(false)};
  lattis_value ordered = none();
  if (lattis_status st = api().call(f, gather, args, 4, &ordered, 1)) return st;
  const Tensor held = Tensor::steal(ordered.as.tensor);
  return search(held.get(), a[1], right, r[0].as.tensor);
}

// self, boundaries, *, out_int32, right
lattis_status bucketize(lattis_frame*, const lattis_value* a, lattis_value* r) {
  return search(a[1].as.tensor, a[0], a[3].as.i != 0, r[0].as.tensor);
}

}  // namespace

void register_searching(Library& m) {
  m.impl("searchsorted.Tensor", "cpu", searchsorted, nullptr, LATTIS_KERNEL_CALLS_OPERATORS)
      .impl("searchsorted.Scalar", "cpu", searchsorted, nullptr, LATTIS_KERNEL_CALLS_OPERATORS)
      .impl("bucketize.Tensor", "cpu", bucketize)
      .impl("bucketize.Scalar", "cpu", bucketize);
}

}  // namespace lattis::cpu
