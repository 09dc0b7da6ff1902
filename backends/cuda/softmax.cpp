// Softmax, log_softmax and their gradients: a warp or a block computes a row, a block computes 32 neighbouring columns.
#include "rows.h"

namespace cuda {
namespace {

struct Lines {
  int64_t outer, length, inner;
  Lines(const lamella_tensor* t, int64_t dim) {
    const int d = wrapped_dim(dim, t->dl.ndim);
    outer = t->dl.ndim ? count_of(t, 0, d) : 1;
    length = size_along(t, d);
    inner = t->dl.ndim ? count_of(t, d + 1, t->dl.ndim) : 1;
  }
};

template <bool Log>
Status softmax(const Tensor& self, int64_t dim, std::optional<lamella::ScalarType> dtype, const Tensor& out) {
  static Kernels by_rows("softmax.cu");
  static Kernels by_columns("softmax.cu");
  if (out.numel() == 0) return LAMELLA_OK;
  (void)dtype;
  const Result to(out);
  const int t = out.get()->dtype;
  const Operand x(self.get(), t);  // the input is converted first
  const lamella_tensor* in = x.get();
  const Lines n(in, dim);
  const char *type = type_name(t), *log = Log ? "true" : "false";
  lamella_status st;
  if (n.inner == 1) {
    const int width = pack_width(item_of(t), n.length, {in->dl.data, to.data()});
    const RowLaunch rows(in, n.outer, n.length, width, item_of(wide_of(t)));
    Kernel& kernel = by_rows.get({t, width, rows.packs}, [&] {
      return text("softmax_rows<", type, ", ", type, ", ", log, ", ", width, ", ", rows.packs, ">");
    });
    st = launch(kernel, in, rows.grid, rows.block, rows.shared, in->dl.data, to.data(), n.outer, n.length, rows.keeps);
  } else {
    Kernel& kernel = by_columns.get({t}, [&] { return text("softmax_columns<", type, ", ", type, ", ", log, ">"); });
    st = launch(kernel, in, grid_for(in, n.outer * ((n.inner + 31) / 32), 1), {32, 8}, 0, in->dl.data, to.data(),
                n.outer, n.length, n.inner);
  }
  return st ? st : to.finish();
}

template <bool Log>
Status softmax_backward(const Tensor& grad_output, const Tensor& output, int64_t dim, lamella::ScalarType,
                        const Tensor& out) {
  static Kernels by_rows("softmax.cu");
  static Kernels by_columns("softmax.cu");
  if (out.numel() == 0) return LAMELLA_OK;
  const int t = output.get()->dtype;
  const Operand g(grad_output.get(), t), y(output);
  const Result to(out.get(), t);
  const lamella_tensor* in = y.get();
  const Lines n(in, dim);
  const char *type = type_name(t), *log = Log ? "true" : "false";
  lamella_status st;
  if (n.inner == 1) {
    const int width = pack_width(item_of(t), n.length, {g.data(), in->dl.data, to.data()});
    const RowLaunch rows(in, n.outer, n.length, width, 0);
    Kernel& kernel = by_rows.get({t, width, rows.packs}, [&] {
      return text("softmax_rows_backward<", type, ", ", type, ", ", log, ", ", width, ", ", rows.packs, ">");
    });
    st = launch(kernel, in, rows.grid, rows.block, 0, g.data(), in->dl.data, to.data(), n.outer, n.length);
  } else {
    Kernel& kernel =
        by_columns.get({t}, [&] { return text("softmax_columns_backward<", type, ", ", type, ", ", log, ">"); });
    st = launch(kernel, in, grid_for(in, n.outer * ((n.inner + 31) / 32), 1), {32, 8}, 0, g.data(), in->dl.data,
                to.data(), n.outer, n.length, n.inner);
  }
  return st ? st : to.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<softmax<false>>(m, "softmax.int");
  add<softmax<true>>(m, "log_softmax.int");
  add<softmax_backward<false>>(m, "_softmax_backward_data");
  add<softmax_backward<true>>(m, "_log_softmax_backward_data");
}

}  // namespace cuda
