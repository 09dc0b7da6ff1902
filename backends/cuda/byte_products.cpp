// Linear layers whose weight is integers: the launches of kernels/byte_products.cu, and products of many rows by
// cuBLASLt.
#include "kernels/byte_products.h"

#include "blaslt.h"
#include "matmul.h"

namespace cuda {
namespace {

// A grid whose first dimension has a warp for each column, and whose second shares the rows, `rows` at a time.
struct Warps {
  int rows;
  Dim grid, block{32, 8};
  Warps(const lamella_tensor* on, int64_t all_rows, int64_t columns) {
    for (rows = 1; rows < 8 && rows < all_rows;) rows *= 2;
    grid = blocks_for(on, columns * 32, 256);
    const int64_t most = 65535;
    grid.y = static_cast<unsigned>(std::min((all_rows + rows - 1) / rows, most));
  }
};

// ---- integers by integers -------------------------------------------------------------------------------------------

// x (rows, depth), int8 or uint8, times the transposed weight (columns, depth), int8; both lie row by row.
struct ByteProduct {
  const lamella_tensor *x, *weight;
  int64_t rows, columns, depth;
  Epilogue e{};
  bool is_unsigned() const { return x->dtype == LAMELLA_UINT8; }
};

lamella_status by_warps(const ByteProduct& p, void* out) {
  static Kernels kernels("byte_products.cu");
  const Warps w(p.x, p.rows, p.columns);
  const int width = pack_width(1, p.depth, {p.x->dl.data, p.weight->dl.data}, 16);
  const bool is_signed = !p.is_unsigned();
  Kernel& kernel = kernels.get({is_signed, width, w.rows}, [&] {
    return text("multiply_bytes<", is_signed ? "true" : "false", ", ", width, ", ", w.rows, ">");
  });
  return launch(kernel, p.x, w.grid, w.block, 0, p.x->dl.data, p.weight->dl.data, out, p.e, p.rows, p.columns, p.depth);
}

// Gives a product the sums of the weight's rows, unless it has them; `sums` holds their memory.
void add_row_sums(ByteProduct& p, Tensor* sums) {
  static Kernels kernels("byte_products.cu");
  if (p.e.weight_sums) return;
  const lamella_tensor* weight = p.weight;
  const int64_t rows = p.columns, depth = p.depth;
  *sums = empty_on(weight, {rows}, LAMELLA_INT32);
  const int width = pack_width(1, depth, {weight->dl.data}, 16);
  Kernel& kernel = kernels.get({width}, [&] { return text("sum_rows<", width, ">"); });
  lamella::check(launch(kernel, weight, blocks_for(weight, rows * 32, 256), {32, 8}, 0, weight->dl.data, data_of(*sums),
                        rows, depth));
  p.e.weight_sums = data_of<int32_t>(*sums);
}

// Computes sums by cuBLASLt, whose operands are both int8, and finishes them by a kernel. *done is false, and nothing
// is written, if it does not compute the problem.
lamella_status by_blaslt(ByteProduct& p, void* out, Tensor* sums_of_weight, bool* done) {
  static Kernels shifts("byte_products.cu");
  static Kernel ends("byte_products.cu", "finish_sums");
  *done = false;
  if (p.rows <= 16 || !blaslt_multiplies_bytes(p.rows, p.columns, p.depth, p.weight->dl.data)) return LAMELLA_OK;
  if (p.is_unsigned()) add_row_sums(p, sums_of_weight);
  const Tensor shifted = p.is_unsigned() ? space_on(p.x, p.rows * p.depth) : Tensor();
  const void* x = p.x->dl.data;
  if (shifted.defined()) {
    const int width = pack_width(1, p.depth, {x}, 16);
    Kernel& kernel = shifts.get({width}, [&] { return text("shift_bytes<", width, ">"); });
    const int64_t packs = p.rows * p.depth / width;
    if (lamella_status st = launch(kernel, p.x, grid_for(p.x, packs), {256}, 0, x, data_of(shifted), packs)) return st;
    x = data_of(shifted);
  }
  const Tensor sums = empty_on(p.x, {p.rows, p.columns}, LAMELLA_INT32);
  if (lamella_status st =
          blaslt_multiply_bytes(index_of(p.x), p.rows, p.columns, p.depth, x, p.weight->dl.data, data_of(sums), done);
      st || !*done)
    return st;
  Epilogue e = p.e;
  if (shifted.defined()) e.shift -= 128;
  return launch(ends, p.x, grid_for(p.x, p.rows * p.columns), {256}, 0, data_of(sums), out, e, p.rows, p.columns);
}

lamella_status multiply_bytes(ByteProduct& p, void* out) {
  Tensor sums;
  if (p.e.zeros) add_row_sums(p, &sums);
  bool done;
  if (lamella_status st = by_blaslt(p, out, &sums, &done); st || done) return st;
  return by_warps(p, out);
}

Status int_linear(const Tensor& input, const Tensor& weight, const Tensor& zero_point, const Tensor& input_scale,
                  const Tensor& scale, const Tensor& bias, const Tensor& weight_sums, const Tensor& out) {
  if (!out.numel()) return LAMELLA_OK;
  const Operand x(input), w(weight), zeros(zero_point), row_scales(input_scale), scales(scale), biases(bias),
      sums(weight_sums);
  const Result to(out);
  ByteProduct p{x.get(), w.get(), 0, weight.size(0), weight.size(1)};
  p.rows = out.numel() / p.columns;
  const auto step = [](const Operand& t) { return int64_t{t && t->numel > 1}; };
  p.e = {zeros.data<int32_t>(), sums.data<int32_t>(), row_scales.data<float>(),
         scales.data<float>(),  biases.data<float>(), step(zeros),
         step(row_scales),      step(scales),         0};
  if (lamella_status st = multiply_bytes(p, to.data())) return st;
  return to.finish();
}

// Multiplies int8 or uint8 by int8; the result is int32.
Status int_mm(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  if (!out.numel()) return LAMELLA_OK;
  const int64_t sizes[] = {mat2.size(1), mat2.size(0)}, strides[] = {mat2.stride(1), mat2.stride(0)};
  const Tensor turned = view_of(mat2.get(), 2, sizes, strides);
  const Operand x(self), w(turned);
  const Result to(out);
  ByteProduct p{x.get(), w.get(), self.size(0), sizes[0], sizes[1]};
  if (lamella_status st = multiply_bytes(p, to.data())) return st;
  return to.finish();
}

// ---- floats by integers ---------------------------------------------------------------------------------------------

constexpr int64_t few = 32;  // rows that are multiplied by the codes; for more, the weight becomes floats

Status weight_linear(const Tensor& input, const Tensor& weight, const Tensor& scale, const Tensor& bias,
                     const Tensor& out) {
  static Kernels products("byte_products.cu", "-fmad=true"), values("byte_products.cu");
  if (!out.numel()) return LAMELLA_OK;
  const int t = input.get()->dtype;
  const bool nibbles = weight.get()->dtype == LAMELLA_UINT8;
  const int64_t features = weight.size(0), depth = weight.size(1) * (nibbles ? 2 : 1);
  if (t == LAMELLA_FLOAT64 || !depth) return LAMELLA_DECLINED;
  const Operand x(input), codes(weight), scales(scale);
  const int64_t rows = out.numel() / features, group = depth / scale.size(1);
  const char *type = type_name(t), *of_nibbles = nibbles ? "true" : "false";
  const bool fits = group % 8 == 0 && depth >> 31 == 0 &&
                    pack_width(item_of(t), depth, {x.data()}) * item_of(t) == 16 &&
                    pack_width(1, group, {codes.data()}) == 8;
  if (rows <= few && fits) {
    const Operand biases(bias);
    const Result to(out);
    const Warps w(x.get(), rows, features);
    Kernel& kernel = products.get({t, nibbles, w.rows},
                                  [&] { return text("multiply_codes<", type, ", ", of_nibbles, ", ", w.rows, ">"); });
    if (lamella_status st = launch(kernel, x.get(), w.grid, w.block, 0, x.data(), codes.data(), scales.data(),
                                   biases.data(), to.data(), rows, features, depth, group))
      return st;
    return to.finish();
  }
  // Values of the weight may be beyond float16. Those of bfloat16 are rounded to it for many rows, as those of a
  // floating weight are.
  if (t == LAMELLA_FLOAT16 || (t == LAMELLA_BFLOAT16 && rows <= few)) return LAMELLA_DECLINED;
  const Tensor floats = empty_on(x.get(), {features, depth}, t);
  const int64_t count = features * depth;
  Kernel& kernel = values.get({t, nibbles}, [&] { return text("values_of_codes<", type, ", ", of_nibbles, ">"); });
  if (lamella_status st = launch(kernel, x.get(), grid_for(x.get(), nibbles ? count / 2 : count), {256}, 0,
                                 codes.data(), scales.data(), data_of(floats), count, group))
    return st;
  return linear(input, floats, bias, out);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<int_mm>(m, "_int_mm");
  add<int_linear>(m, "_int_linear");
  add<weight_linear>(m, "_weight_linear");
}

}  // namespace cuda
