// Sorting, and the first elements of each row. Short rows are sorted in shared memory, long ones by a radix sort of all
// rows together. A few elements of a long row are found by selection.
#include "kernels/sort.h"

#include "operands.h"

namespace cuda {
namespace {

int key_bytes(int dtype) { return item_of(dtype) == 8 ? 8 : 4; }

// Returns the number of bits of an order's key.
int key_bits(int dtype) { return dtype == LAMELLA_BOOL ? 1 : item_of(dtype) * 8; }

// Returns the rows of a contiguous tensor along a dimension.
SortRows rows_of(const lamella_tensor* t, int dim) {
  const int64_t inner = t->dl.ndim ? count_of(t, dim + 1, t->dl.ndim) : 1, length = size_along(t, dim);
  return {length, inner, length * inner, 1, inner};
}

constexpr int64_t longest = 2048;  // the most elements of a row that shared memory holds

// `given` holds the places that the elements had in longer rows, or is null.
lamella_status sort_short(const lamella_tensor* in, const uint32_t* given, const SortRows& rows, int64_t count,
                          int64_t kept, bool descending, const lamella_tensor* values, const SortRows& of_values,
                          const lamella_tensor* indices, const SortRows& of_indices) {
  static Kernels kernels("sort.cu");
  int size = 2;
  while (size < rows.length) size *= 2;
  const unsigned block = size / 2 < 32 ? 32 : size / 2 > 512 ? 512 : static_cast<unsigned>(size / 2);
  const unsigned shared = static_cast<unsigned>(size) * (key_bytes(in->dtype) + 4);
  const int64_t most = int64_t{1} << 30;
  Kernel& kernel = kernels.get({in->dtype}, [&] { return text("sort_short<", type_name(in->dtype), ">"); });
  return launch(kernel, in, {static_cast<unsigned>(count < most ? count : most)}, {block}, shared, in->dl.data, given,
                rows, count, kept, descending, size, values->dl.data, of_values, indices->dl.data, of_indices);
}

lamella_status short_rows(const lamella_tensor* in, const SortRows& rows, int64_t count, int64_t kept, bool descending,
                          const lamella_tensor* values, const SortRows& of_values, const lamella_tensor* indices,
                          const SortRows& of_indices) {
  return sort_short(in, nullptr, rows, count, kept, descending, values, of_values, indices, of_indices);
}

// Selects the first `kept` elements of rows that are longer than shared memory holds, by Note [Selection], and sorts
// these elements in shared memory.
lamella_status chosen_rows(const lamella_tensor* in, const SortRows& rows, int64_t count, int64_t kept, bool descending,
                           const lamella_tensor* values, const SortRows& of_values, const lamella_tensor* indices,
                           const SortRows& of_indices) {
  static Kernels whole("select.cu"), digits("select.cu"), tallying("select.cu"), gathering("select.cu");
  const int dtype = in->dtype, passes = (key_bits(dtype) + 7) / 8;
  const auto name = [&](const char* kernel) { return text(kernel, "<", type_name(dtype), ">"); };
  const Tensor chosen = empty_on(in, {count, kept}, dtype), places = empty_on(in, {count, kept}, LAMELLA_UINT32);
  // The parts of all rows are at most 1024 blocks. If a row would have one part or none, one block selects the row, and
  // no counts are needed in memory.
  const int64_t parts = std::min((rows.length + 8191) / 8192, 1024 / count), most = int64_t{1} << 30;
  if (parts <= 1) {
    Kernel& kernel = whole.get({dtype}, [&] { return name("select_rows"); });
    if (lamella_status st = launch(kernel, in, {static_cast<unsigned>(std::min(count, most))}, {256}, 0, in->dl.data,
                                   rows, count, kept, descending, passes * 8, chosen.data_ptr(), places.data_ptr()))
      return st;
  } else {
    const RowParts p = {parts, (rows.length + parts - 1) / parts};
    const unsigned grid = static_cast<unsigned>(count * parts);
    const Tensor counts = empty_on(in, {passes, count, 256}, LAMELLA_UINT32);
    const Tensor states = empty_on(in, {passes + 1, count, 2}, LAMELLA_INT64);
    const Tensor tallies = empty_on(in, {count, parts, 2}, LAMELLA_UINT32);
    if (lamella_status st = clear(counts.get())) return st;
    Kernel& count_kernel = digits.get({dtype}, [&] { return name("select_digits"); });
    for (int pass = 0; pass < passes; pass++)
      if (lamella_status st = launch(count_kernel, in, {grid}, {256}, 0, in->dl.data, rows, p, count, kept, descending,
                                     pass, (passes - 1 - pass) * 8, counts.data_ptr(), states.data_ptr()))
        return st;
    Kernel& tally = tallying.get({dtype}, [&] { return name("select_tallies"); });
    if (lamella_status st = launch(tally, in, {grid}, {256}, 0, in->dl.data, rows, p, count, kept, descending, passes,
                                   counts.data_ptr(), states.data_ptr(), tallies.data_ptr()))
      return st;
    Kernel& gather = gathering.get({dtype}, [&] { return name("select_gather"); });
    if (lamella_status st = launch(gather, in, {grid}, {256}, 0, in->dl.data, rows, p, count, kept, descending, passes,
                                   states.data_ptr(), tallies.data_ptr(), chosen.data_ptr(), places.data_ptr()))
      return st;
  }
  return sort_short(chosen.get(), data_of<uint32_t>(places), {kept, 1, kept, 1, 1}, count, kept, descending, values,
                    of_values, indices, of_indices);
}

lamella_status long_rows(const lamella_tensor* in, const SortRows& rows, int64_t count, int64_t kept, bool descending,
                         const lamella_tensor* values, const SortRows& of_values, const lamella_tensor* indices,
                         const SortRows& of_indices) {
  static Kernels makers("sort.cu");
  static Kernels by_row("sort.cu");
  static Kernels results("sort.cu");
  const int dtype = in->dtype, bytes = key_bytes(dtype);
  const int64_t all = in->numel;
  const int number = all < int64_t{0xffffffff} - 2 ? 4 : 8;
  const char* number_name = word_name(number);
  const Tensor keys = empty_on(in, {all}, bytes == 8 ? LAMELLA_UINT64 : LAMELLA_UINT32);
  Kernel& make = makers.get({dtype}, [&] { return text("sort_keys<", type_name(dtype), ">"); });
  if (lamella_status st =
          launch(make, in, grid_for(in, all), {256}, 0, in->dl.data, rows, all, descending, keys.data_ptr()))
    return st;
  Sorted order = radix_sort(keys, Tensor(), all, key_bits(dtype), number);
  if (count > 1) {  // a stable sort by rows puts each row together, in the order of its keys
    const int row_bytes = count < int64_t{0xffffffff} ? 4 : 8;
    const Tensor row_keys = empty_on(in, {all}, row_bytes == 8 ? LAMELLA_UINT64 : LAMELLA_UINT32);
    Kernel& kernel = by_row.get({number, row_bytes},
                                [&] { return text("sort_rows<", number_name, ", ", word_name(row_bytes), ">"); });
    if (lamella_status st = launch(kernel, in, grid_for(in, all), {256}, 0, order.numbers.data_ptr(), all, rows.length,
                                   row_keys.data_ptr()))
      return st;
    order = radix_sort(row_keys, order.numbers, all, bits_of(static_cast<uint64_t>(count - 1)), number);
  }
  Kernel& kernel =
      results.get({dtype, number}, [&] { return text("sort_results<", type_name(dtype), ", ", number_name, ">"); });
  return launch(kernel, in, grid_for(in, count * kept), {256}, 0, in->dl.data, rows, order.numbers.data_ptr(),
                count * kept, kept, values->dl.data, of_values, indices->dl.data, of_indices);
}

lamella_status first_of_rows(const Tensor& self, int64_t dim, bool descending, int64_t kept, const Tensor& values,
                             const Tensor& indices) {
  if (self.numel() == 0 || kept == 0) return LAMELLA_OK;
  const Operand x(self);
  const Result v(values), i(indices);
  const lamella_tensor* in = x.get();
  const int d = wrapped_dim(dim, in->dl.ndim);
  const SortRows rows = rows_of(in, d);
  const int64_t count = in->numel / rows.length;
  // Selection is not used to keep more of a row than shared memory holds, since that would need the long sort, too.
  const bool chosen = kept <= longest && !(rows.length >> 31);
  const auto run = rows.length <= longest ? short_rows : chosen ? chosen_rows : long_rows;
  if (lamella_status st =
          run(in, rows, count, kept, descending, v.get(), rows_of(v.get(), d), i.get(), rows_of(i.get(), d)))
    return st;
  if (lamella_status st = v.finish()) return st;
  return i.finish();
}

Status sort(const Tensor& self, std::optional<bool>, int64_t dim, bool descending, const Tensor& values,
            const Tensor& indices) {
  return first_of_rows(self, dim, descending, size_along(self.get(), wrapped_dim(dim, self.dim())), values, indices);
}

Status topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool, const Tensor& values,
            const Tensor& indices) {
  return first_of_rows(self, dim, largest, self.dim() ? k : (k ? 1 : 0), values, indices);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<sort>(m, "sort.stable");
  add<topk>(m, "topk");
}

}  // namespace cuda
