// nonzero: the size of its result depends on the data, so the host waits for one number.
#include "nonzero.h"

#include "kernels/nonzero.h"

namespace cuda {
namespace {

Tensor nonzero(const Tensor& self) { return nonzero_of(self); }

}  // namespace

Tensor nonzero_of(const Tensor& self) {
  static Kernels counts("nonzero.cu"), writes("nonzero.cu");
  static Kernel places("nonzero.cu", "nonzero_places");
  const Operand x(self);
  const lamella_tensor* in = x.get();
  const int64_t n = in->numel, blocks = (n + nonzero_tile - 1) / nonzero_tile, ndim = in->dl.ndim;
  if (!n) return empty_on(in, {0, ndim}, LAMELLA_INT64);
  const Tensor table = empty_on(in, {blocks + 1}, LAMELLA_INT64);
  const char* type = type_name(in->dtype);
  const Dim grid = {static_cast<unsigned>(blocks)};
  lamella::check(launch(counts.get({in->dtype}, [&] { return text("nonzero_count<", type, ">"); }), in, grid, {256}, 0,
                        in->dl.data, n, table.data_ptr()));
  lamella::check(launch(places, in, {1}, {256}, 0, table.data_ptr(), blocks));
  const int64_t count = read_number(table.get(), blocks);
  Tensor out = empty_on(in, {count, ndim}, LAMELLA_INT64);
  if (!ndim || !count) return out;
  static_assert(sizeof(NonzeroShape::sizes) == sizeof(int64_t) * LAMELLA_MAX_DIMS);
  NonzeroShape shape{static_cast<int32_t>(ndim), {}};
  std::copy(in->dl.shape, in->dl.shape + ndim, shape.sizes);
  lamella::check(launch(writes.get({in->dtype}, [&] { return text("nonzero_write<", type, ">"); }), in, grid, {256}, 0,
                        in->dl.data, n, table.data_ptr(), shape, out.data_ptr()));
  return out;
}

LAMELLA_LIBRARY_IMPL(aten, cuda, m) { add<nonzero>(m, "nonzero"); }

}  // namespace cuda
