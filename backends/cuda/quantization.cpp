// Quantizing and dequantizing: the launches of kernels/quantization.cu.
#include "kernels/quantization.h"

#include "rows.h"

namespace cuda {
namespace {

// The blocks of a tensor, with the operands that own their memory.
struct BlocksOf : Blocks {
  Operand scale, zero;
  BlocksOf(const Tensor& s, const Tensor& z, int64_t block, int64_t before, int64_t numel)
      : scale(s.get()), zero(z.get()) {
    scales = data_of<float>(scale.get());
    zeros = zero ? data_of<int32_t>(zero.get()) : nullptr;
    first = before, inner = block, count = s.numel();
    by_inner = lamella::quotient_by(inner), by_count = lamella::quotient_by(count);
    is_short = (first | inner | count | (first + numel)) >> 31 == 0;
  }
  // Returns the most elements that one load reads and that share a scale; all tensors have `numel` elements.
  int width(int item, int64_t numel, std::initializer_list<const void*> addresses) const {
    int w = pack_width(item, numel, addresses);
    while (count > 1 && (inner % w || first % w)) w /= 2;
    return w;
  }
};

Status quantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner, int64_t low,
                int64_t high, lamella::ScalarType dtype, int64_t first, const Tensor& out) {
  static Kernels kernels("quantization.cu");
  const int64_t n = self.numel();
  if (!n) return LAMELLA_OK;
  const int held = self.get()->dtype, t = held == LAMELLA_FLOAT64 ? LAMELLA_FLOAT32 : held, c = static_cast<int>(dtype);
  const Operand x(self.get(), t);
  const Result to(out);
  const BlocksOf blocks(scale, zero_point, inner, first, n);
  const int width = blocks.width(std::max(item_of(t), item_of(c)), n, {x.data(), to.data()});
  Kernel& kernel =
      kernels.get({t, c, width}, [&] { return text("quantize<", type_name(t), ", ", type_name(c), ", ", width, ">"); });
  if (lamella_status st = launch(kernel, x.get(), grid_for(x.get(), n / width), {256}, 0, x.data(), to.data(),
                                 static_cast<const Blocks&>(blocks), low, high, n / width))
    return st;
  return to.finish();
}

Status dequantize(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t inner,
                  lamella::ScalarType dtype, int64_t first, const Tensor& out) {
  static Kernels kernels("quantization.cu");
  const int64_t n = self.numel();
  if (!n) return LAMELLA_OK;
  const int c = self.get()->dtype, t = static_cast<int>(dtype);
  const Operand codes(self);
  const Result to(out);
  const BlocksOf blocks(scale, zero_point, inner, first, n);
  const int width = blocks.width(std::max(item_of(t), item_of(c)), n, {codes.data(), to.data()});
  Kernel& kernel = kernels.get({c, t, width},
                               [&] { return text("dequantize<", type_name(c), ", ", type_name(t), ", ", width, ">"); });
  if (lamella_status st = launch(kernel, codes.get(), grid_for(codes.get(), n / width), {256}, 0, codes.data(),
                                 to.data(), static_cast<const Blocks&>(blocks), n / width))
    return st;
  return to.finish();
}

Status requantize(const Tensor& self, const Tensor& scale, const Tensor& bias, int64_t inner, double out_scale,
                  int64_t zero_point, int64_t low, int64_t high, lamella::ScalarType dtype, const Tensor& out) {
  static Kernels kernels("quantization.cu");
  const int64_t n = self.numel();
  if (!n) return LAMELLA_OK;
  const int c = static_cast<int>(dtype);
  const Operand sums(self), biases(bias);
  const Result to(out);
  const BlocksOf blocks(scale, Tensor(), inner, 0, n);
  const int width = pack_width(4, n, {sums.data(), to.data()});
  const bool each = blocks.count > 1 && inner % width;
  Kernel& kernel = kernels.get({c, width, each}, [&] {
    return text("requantize<", type_name(c), ", ", width, ", ", each ? "true" : "false", ">");
  });
  if (lamella_status st = launch(kernel, sums.get(), grid_for(sums.get(), n / width), {256}, 0, sums.data(), to.data(),
                                 static_cast<const Blocks&>(blocks), biases.data(), static_cast<float>(out_scale),
                                 zero_point, low, high, n / width))
    return st;
  return to.finish();
}

Status quantize_rows(const Tensor& self, int64_t low, int64_t high, lamella::ScalarType dtype, bool symmetric,
                     const Tensor& codes, const Tensor& scale, const Tensor& zero_point) {
  static Kernels kernels("quantization.cu");
  if (!self.numel()) return LAMELLA_DECLINED;
  const int held = self.get()->dtype, t = held == LAMELLA_FLOAT64 ? LAMELLA_FLOAT32 : held, c = static_cast<int>(dtype);
  const Operand x(self.get(), t);
  const Result to(codes), scales(scale), zeros(zero_point);
  const int64_t n = scale.numel(), length = self.numel() / n;
  const int width = pack_width(std::max(item_of(t), item_of(c)), length, {x.data(), to.data()});
  const RowLaunch rows(x.get(), n, length, width, 4);
  Kernel& kernel = kernels.get({t, c, width, rows.packs}, [&] {
    return text("quantize_rows<", type_name(t), ", ", type_name(c), ", ", width, ", ", rows.packs, ">");
  });
  if (lamella_status st = launch(kernel, x.get(), rows.grid, rows.block, rows.shared, x.data(), to.data(),
                                 scales.data(), zeros.data(), n, length, low, high, symmetric, rows.keeps))
    return st;
  for (const Result* r : {&to, &scales, &zeros})
    if (lamella_status st = r->finish()) return st;
  return LAMELLA_OK;
}

Status pack_nibbles(const Tensor& self, const Tensor& out) {
  static Kernel kernel("quantization.cu", "pack_nibbles");
  const int64_t n = self.numel();
  if (!n) return LAMELLA_OK;
  const Operand numbers(self);
  const Result to(out);
  if (lamella_status st =
          launch(kernel, numbers.get(), grid_for(numbers.get(), (n + 1) / 2), {256}, 0, numbers.data(), to.data(), n))
    return st;
  return to.finish();
}

Status unpack_nibbles(const Tensor& self, IntList, lamella::ScalarType dtype, const Tensor& out) {
  static Kernel kernel("quantization.cu", "unpack_nibbles");
  const int64_t n = out.numel();
  if (!n) return LAMELLA_OK;
  const Operand bytes(self);
  const Result to(out);
  const int sign = static_cast<int>(dtype) == LAMELLA_INT8 ? 8 : 0;
  if (lamella_status st =
          launch(kernel, bytes.get(), grid_for(bytes.get(), (n + 1) / 2), {256}, 0, bytes.data(), to.data(), n, sign))
    return st;
  return to.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<quantize>(m, "_quantize");
  add<dequantize>(m, "_dequantize");
  add<requantize>(m, "_requantize");
  add<quantize_rows>(m, "_quantize_rows");
  add<pack_nibbles>(m, "_pack_nibbles");
  add<unpack_nibbles>(m, "_unpack_nibbles");
}

}  // namespace cuda
