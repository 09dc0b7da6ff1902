// Where numbers belong among others that are in order.
#include "backends/cpu/gather.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/sort_loops.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {
namespace {

// Boundaries along the last dimension: one row for all values, or each row of values its own.
lamella_status search(const lamella_tensor* boundaries, const lamella_value& wanted, bool right,
                      const lamella_tensor* out) {
  if (out->numel == 0) return LAMELLA_OK;
  Tensor wider;  // a number is compared as it is: beside narrow integers in int64, or in float64
  if (wanted.tag != LAMELLA_TENSOR && boundaries->dtype < LAMELLA_FLOAT16 &&
      (wanted.tag == LAMELLA_FLOAT || boundaries->dtype != LAMELLA_UINT64))
    if (lamella_status st =
            converted(boundaries, wanted.tag == LAMELLA_FLOAT ? LAMELLA_FLOAT64 : LAMELLA_INT64, &wider))
      return st;
  const SortLoops& loops = sort_table().wide[boundaries->dtype];
  const Rows rows(boundaries, boundaries->dl.ndim - 1);
  const int64_t count = rows.length, each = out->numel / std::max<int64_t>(rows.count, 1);
  alignas(16) char number[16];
  const lamella_tensor* values = wanted.tag == LAMELLA_TENSOR ? wanted.as.tensor : nullptr;
  if (!values) store_number(wanted, boundaries->dtype, number);
  const bool many = boundaries->dl.ndim > 1;
  const CastLoop cast = cpu::loops().cast[LAMELLA_INT64][out->dtype];
  Space space;
  if (lamella_status st = space.take(count * itemsize(boundaries))) return st;
  for (int64_t row = 0; row < rows.count; row++) {
    loops.keys(count, rows.start(boundaries, row), rows.stride(boundaries), space.data());
    auto some = [&](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
      constexpr int64_t tile = 512;
      int64_t places[tile];
      for (int64_t b = 0; b < n; b += tile) {
        const int64_t m = std::min(tile, n - b);
        loops.search(count, space.data(), m, at[1] + b * step[1], step[1], right, places);
        cast(m, at[0] + b * step[0], step[0], reinterpret_cast<char*>(places), 8);
      }
      return LAMELLA_OK;
    };
    if (many) {
      const Rows to(out, out->dl.ndim - 1), from(values, out->dl.ndim - 1);
      char* at[2] = {to.start(out, row), from.start(values, row)};
      const int64_t step[2] = {to.stride(out), from.stride(values)};
      if (lamella_status st = some(each, at, step)) return st;
      continue;
    }
    Strips s(out);
    if (values)
      s.add(values);
    else
      s.add_scalar(number);
    if (lamella_status st = s.run(4096, some)) return st;
  }
  return LAMELLA_OK;
}

// sorted_sequence, self, *, out_int32, right, side, sorter
lamella_status searchsorted(lamella_frame* f, const lamella_value* a, lamella_value* r) {
  static const lamella_operator* gather = api().find_operator("aten::gather", "");
  const bool right = a[3].as.i || (a[4].tag != LAMELLA_NONE && a[4].as.string[0] == 'r');
  if (a[5].tag == LAMELLA_NONE) return search(a[0].as.tensor, a[1], right, r[0].as.tensor);
  const int last = a[0].as.tensor->dl.ndim - 1;
  const Places places = {a[0].as.tensor->dl.shape[last], 0, 1};
  if (lamella_status st = check_indices(f, "sorter", a[5].as.tensor, places, last)) return st;
  const lamella_value args[4] = {a[0], value(-1), a[5], value(false)};
  lamella_value ordered = none();
  if (lamella_status st = api().call(f, gather, args, 4, &ordered, 1)) return st;
  const Tensor held = Tensor::steal(ordered.as.tensor);
  return search(held.get(), a[1], right, r[0].as.tensor);
}

// self, boundaries, *, out_int32, right
lamella_status bucketize(lamella_frame*, const lamella_value* a, lamella_value* r) {
  return search(a[1].as.tensor, a[0], a[3].as.i != 0, r[0].as.tensor);
}

}  // namespace

void register_searching(Library& m) {
  m.impl("searchsorted.Tensor", "cpu", searchsorted, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS)
      .impl("searchsorted.Scalar", "cpu", searchsorted, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS)
      .impl("bucketize.Tensor", "cpu", bucketize)
      .impl("bucketize.Scalar", "cpu", bucketize);
}

}  // namespace lamella::cpu
