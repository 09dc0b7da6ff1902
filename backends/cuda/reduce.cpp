// Launches reductions: joins dimensions, chooses the kernel that fits, and cuts the reduced elements into parts.
#include "reduce.h"

#include "kernels/reduce.h"
#include "layout.h"
#include "operands.h"

namespace cuda {
namespace {

// The kernels of a reduction, by its fold and by the dtypes of the input, of the computation and of both outputs.
struct Reduction {
  int id;
  std::string (*fold)(int as);
  int in, as, out, second;

  Kernel& kernel(Kernels& kernels, const char* name, const char* more = "") const {
    return kernels.get({id, in, as, out, second}, [&] {
      return text(name, "<", fold(as), ", ", type_name(in), ", ", type_name(out), ", ",
                  second == LAMELLA_PLAIN_DTYPES ? "int64_t" : type_name(second), more, ">");
    });
  }
  Kernel& rows() const {
    static Kernels all("reduce.cu");
    return kernel(all, "reduce_rows");
  }
  Kernel& columns() const {
    static Kernels all("reduce.cu");
    return kernel(all, "reduce_columns");
  }
  // With `line`, the reduced elements are at equal distances.
  Kernel& packed_columns(bool line) const {
    static Kernels lines("reduce.cu"), others("reduce.cu");
    return line ? kernel(lines, "reduce_packed_columns", ", true") : kernel(others, "reduce_packed_columns", ", false");
  }
  Kernel& join_rows() const {
    static Kernels all("reduce.cu");
    return kernel(all, "join_parts");
  }
  Kernel& join_columns() const {
    static Kernels all("reduce.cu");
    return kernel(all, "join_columns");
  }
};

}  // namespace

uint64_t dim_set(const lamella::OptionalIntArrayRef& dim, const lamella_tensor* t) {
  const int n = t->dl.ndim;
  const uint64_t all = n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
  const lamella::IntArrayRef list = dim.has_value() ? *dim : lamella::IntArrayRef();
  if (n == 0 || list.empty()) return all;
  uint64_t dims = 0;
  for (const int64_t d : list) dims |= uint64_t{1} << (d < 0 ? d + n : d);
  return dims;
}

lamella_status reduce(int id, std::string (*fold)(int as), int as, const lamella_tensor* in, uint64_t dims,
                      bool keepdim, double parameter, const lamella_tensor* out, const lamella_tensor* second,
                      bool ordered) {
  lamella::Dimensions<3> kept, gone;
  for (int d = 0, o = 0; d < in->dl.ndim; d++) {
    const int64_t step = in->dl.strides[d] * item_sizes[in->dtype];
    if (dims >> d & 1) {
      gone.add(in->dl.shape[d], {step});
      o += keepdim;
    } else {
      kept.add(in->dl.shape[d], {step, out->dl.strides[o] * item_sizes[out->dtype],
                                 second ? second->dl.strides[o] * item_sizes[second->dtype] : 0});
      o++;
    }
  }
  if (!kept.elements()) return LAMELLA_OK;
  kept.sort();
  kept.join();
  if (!ordered) gone.sort();
  gone.join();
  ReductionShape s{};
  s.outputs = kept.elements();
  s.length = gone.elements();
  s.parameter = parameter;
  s.line = gone.count() <= 1;
  s.step = gone.count() ? gone.end()[-1].steps[0] : 0;
  const int item = item_sizes[in->dtype], width = 16 / item;
  // `columns` is true if at least 16 neighbouring outputs read neighbouring elements and reduced elements lie apart.
  const bool columns =
      kept.count() && kept.end()[-1].steps[0] == item && kept.end()[-1].size >= 16 && s.length > 1 && s.step != item;
  s.packed = reinterpret_cast<uintptr_t>(in->dl.data) % 16 == 0 &&
             (columns ? kept.end()[-1].size % width == 0 : s.line && s.step == item && s.length >= width);
  for (int d = 0; s.packed && d < kept.count() - columns; d++) s.packed = kept[d].steps[0] % 16 == 0;
  for (int d = 0; s.packed && columns && d < gone.count(); d++) s.packed = gone[d].steps[0] % 16 == 0;
  // Columns are cut into as many parts as make 512 blocks, which devices hold at once, each part of 64 elements or
  // more. Rows are cut into equal parts of at most 65536 elements. There are at most 65535 parts.
  const int64_t each = columns ? 32 * (s.packed ? width : 1) : 1, blocks = (s.outputs + each - 1) / each;
  const int64_t wanted = columns ? std::min((512 + blocks - 1) / blocks, s.length / 64) : (s.length + 65535) / 65536;
  s.parts = static_cast<int32_t>(std::max<int64_t>(1, std::min<int64_t>(wanted, 65535)));
  s.part = std::max<int64_t>(((s.length + s.parts - 1) / s.parts + width - 1) / width * width, 1);
  s.parts = static_cast<int32_t>(std::max<int64_t>(1, (s.length + s.part - 1) / s.part));

  const Reduction k = {id, fold, in->dtype, as, out->dtype, second ? second->dtype : LAMELLA_PLAIN_DTYPES};
  const Layout of_kept = layout_of(kept, "a reduction"), of_gone = layout_of(gone, "a reduction");
  const char* from = static_cast<const char*>(in->dl.data);
  char *to = static_cast<char*>(out->dl.data), *and_to = second ? static_cast<char*>(second->dl.data) : nullptr;
  const int64_t room = s.outputs * s.parts * 32;  // no fold keeps more than 32 bytes
  lamella::Tensor scratch;
  void* partial = nullptr;
  if (s.parts > 1) {
    scratch = space_on(out, room);
    partial = scratch.get()->dl.data;
  }
  const unsigned parts = static_cast<unsigned>(s.parts);
  const auto blocks_of = [&](int64_t outputs) {
    return static_cast<unsigned>(std::min<int64_t>((s.outputs + outputs - 1) / outputs, 1 << 20));
  };
  const unsigned rows = static_cast<unsigned>(std::min<int64_t>(s.outputs, 8));
  lamella_status st;
  if (columns)
    st = launch(s.packed ? k.packed_columns(s.line) : k.columns(), out, {blocks_of(each), parts}, {32, 8}, 0, from, to,
                and_to, partial, of_kept, of_gone, s);
  else if (s.length > 1024)
    st = launch(k.rows(), out, {blocks_of(1), parts}, {256}, 0, from, to, and_to, partial, of_kept, of_gone, s);
  else
    st = launch(k.rows(), out, {blocks_of(8), parts}, {32, rows}, 0, from, to, and_to, partial, of_kept, of_gone, s);
  if (st || s.parts == 1) return st;
  if (columns)
    return launch(k.join_columns(), out, {blocks_of(32)}, {32, 8}, 0, from, to, and_to, partial, of_kept, of_gone, s);
  return launch(k.join_rows(), out, {blocks_of(8)}, {32, rows}, 0, from, to, and_to, partial, of_kept, of_gone, s);
}

}  // namespace cuda
