// searchsorted and bucketize: the places of numbers among ordered boundaries.
#include "backends/cpu/gather.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/sort_loops.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {
namespace {

// Searches boundaries along the last dimension. A single row serves all values, else each row of values has its own.
// Without values, `number`, one element of the boundaries' dtype, is searched for.
lamella_status search(const lamella_tensor* boundaries, const lamella_tensor* values, char* number, bool right,
                      const lamella_tensor* out) {
  const SortLoops& loops = sort_table().wide[boundaries->dtype];
  const Rows rows(boundaries, boundaries->dl.ndim - 1);
  const int64_t count = rows.length, each = out->numel / std::max<int64_t>(rows.count, 1);
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

lamella_status search(const lamella_tensor* boundaries, const Tensor& values, bool right, const lamella_tensor* out) {
  return out->numel == 0 ? LAMELLA_OK : search(boundaries, values.get(), nullptr, right, out);
}
// Returns whether a number is beyond the dtype that it is compared in: negative beside uint64, or above int64 beside
// other integers.
bool beyond(const Scalar& number, int dtype) {
  const lamella_value v = number.value();
  return dtype == LAMELLA_UINT64 ? v.tag == LAMELLA_INT && v.as.i < 0
                                 : v.tag == LAMELLA_UINT && class_of(dtype) < LAMELLA_CLASS_FLOATING;
}

// Searches for a number. Boundaries that are integers or bools are converted to int64, or to float64 for a floating
// number, so that the number is not rounded to their dtype. Floating boundaries, and uint64 ones for an integer, keep
// their dtype, and the number is converted to it.
lamella_status search(const lamella_tensor* boundaries, const Scalar& wanted, bool right, const lamella_tensor* out) {
  if (out->numel == 0) return LAMELLA_OK;
  if (beyond(wanted, boundaries->dtype)) return LAMELLA_DECLINED;  // the composite knows the place
  const bool floating = wanted.isFloatingPoint();
  const bool widens =
      class_of(boundaries->dtype) < LAMELLA_CLASS_FLOATING && (floating || boundaries->dtype != LAMELLA_UINT64);
  const int wide = floating ? LAMELLA_FLOAT64 : LAMELLA_INT64;
  const Operand wider(boundaries, widens ? wide : boundaries->dtype, true);
  alignas(16) char number[16];
  store_number(wanted.value(), wider->dtype, number);
  return search(wider.get(), nullptr, number, right, out);
}

template <class Wanted>
Status searchsorted(lamella_frame* f, const Tensor& sorted_sequence, const Wanted& self, bool, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter, const Tensor& out) {
  static const lamella_operator* gather = api().find_operator("aten::gather", "");
  right = right || (side && side->starts_with('r'));
  if (!sorter.defined()) return search(sorted_sequence.get(), self, right, out.get());
  const int last = sorted_sequence.get()->dl.ndim - 1;
  const Places places = {sorted_sequence.sizes()[last], 0, 1};
  if (lamella_status st = check_indices(f, "sorter", sorter.get(), places, last)) return st;
  const lamella_value args[4] = {value(sorted_sequence), value(-1), value(sorter), value(false)};
  lamella_value ordered = none();
  if (lamella_status st = api().call(f, gather, args, 4, &ordered, 1)) return st;
  const TensorRef held = TensorRef::steal(ordered.as.tensor);
  return search(held.get(), self, right, out.get());
}

template <class Wanted>
Status bucketize(const Wanted& self, const Tensor& boundaries, bool, bool right, const Tensor& out) {
  return search(boundaries.get(), self, right, out.get());
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  m.impl<searchsorted<Tensor>>("searchsorted.Tensor", "cpu", LAMELLA_KERNEL_CALLS_OPERATORS);
  m.impl<searchsorted<Scalar>>("searchsorted.Scalar", "cpu", LAMELLA_KERNEL_CALLS_OPERATORS);
  add<bucketize<Tensor>>(m, "bucketize.Tensor");
  add<bucketize<Scalar>>(m, "bucketize.Scalar");
}

}  // namespace lamella::cpu
