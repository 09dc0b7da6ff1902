// quantized::add and quantized::mul, which have the scale of their result as arguments, as torch's operators of these
// names have.
#include <cmath>

#include "calls.h"
#include "rules.h"

namespace lamella::quantization {
namespace {

// One loop is compiled for each of these instruction sets. All compute the same bits, since products are rounded before
// they are added.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LAMELLA_EACH_ISA
#else
#define LAMELLA_EACH_ISA __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#endif

struct Factor {
  float scale;
  int32_t zero;
};
struct Target {
  float scale, low, high;  // the bounds less the zero point
  int32_t zero;
};

// See backends/cpu/isa/quantization.cpp.
inline int32_t nearest(float x) {
  constexpr float magic = 12582912.0f;  // 1.5 * 2^23
  return __builtin_bit_cast(int32_t, x + magic) - __builtin_bit_cast(int32_t, magic);
}

template <bool Adds, class A, class B, class To>
inline __attribute__((always_inline)) void combine(int64_t n, const A* a, const B* b, To* to, Factor x, Factor y,
                                                   Target t) {
  for (int64_t i = 0; i < n; i++) {
    const float u = static_cast<float>(a[i] - x.zero) * x.scale, v = static_cast<float>(b[i] - y.zero) * y.scale;
    float q = (Adds ? u + v : u * v) / t.scale;
    q = q > t.low ? q : t.low;
    q = q < t.high ? q : t.high;
    to[i] = static_cast<To>(nearest(q) + t.zero);
  }
}
LAMELLA_EACH_ISA void add_signed(int64_t n, const int8_t* a, const int8_t* b, int8_t* to, Factor x, Factor y,
                                 Target t) {
  combine<true>(n, a, b, to, x, y, t);
}
LAMELLA_EACH_ISA void mul_signed(int64_t n, const int8_t* a, const int8_t* b, int8_t* to, Factor x, Factor y,
                                 Target t) {
  combine<false>(n, a, b, to, x, y, t);
}
LAMELLA_EACH_ISA void add_unsigned(int64_t n, const uint8_t* a, const uint8_t* b, uint8_t* to, Factor x, Factor y,
                                   Target t) {
  combine<true>(n, a, b, to, x, y, t);
}
LAMELLA_EACH_ISA void mul_unsigned(int64_t n, const uint8_t* a, const uint8_t* b, uint8_t* to, Factor x, Factor y,
                                   Target t) {
  combine<false>(n, a, b, to, x, y, t);
}

// Returns whether a tensor lies in host memory without gaps, row by row, with one scale and codes of eight bits.
bool is_plain(const Tensor& t, const Scheme& s) {
  return !s.scales.defined() && s.type->is_integer() && s.type->bits == 8 && t.is_contiguous() && t.is_cpu();
}

template <bool Adds>
Tensor combined(const lamella_operator* op, const Tensor& a, const Tensor& b, double scale, int64_t zero, bool relu) {
  const Scheme *x = scheme_of(a), *y = scheme_of(b);
  LAMELLA_CHECK_TYPE(x, "argument 'qa': is not quantized");
  LAMELLA_CHECK_TYPE(y, "argument 'qb': is not quantized");
  LAMELLA_CHECK_VALUE(static_cast<float>(scale) > 0 && std::isfinite(static_cast<float>(scale)),
                      "argument 'scale': expected a positive finite number of float32, got ", scale);
  LAMELLA_CHECK_VALUE(x->low <= zero && zero <= x->high, "argument 'zero_point': expected an integer from ", x->low,
                      " to ", x->high, ", got ", zero);
  LAMELLA_CHECK_TYPE(x->type == y->type, "argument 'qb': has codes of ", y->type->name, ", and 'qa' of ",
                     x->type->name);
  auto made = without_memory(*x);
  made->scales = made->zeros = Tensor();
  made->scale = scale;
  made->zero = zero;
  made->grouped = false;
  if (!is_plain(a, *x) || !is_plain(b, *y) || a.sizes() != b.sizes()) {
    record(op, Way::composite, *x);
    const Tensor u = dequantized(a), v = dequantized(b), w = Adds ? u + v : u * v;
    return from_values(relu ? w.relu() : w, std::move(made), a.dtype());
  }
  record(op, Way::native, *x);
  made->count = a.numel();
  made->memory = lamella::empty({a.numel()}, TensorOptions().dtype(made->type->code));
  const Factor u{static_cast<float>(x->scale), static_cast<int32_t>(x->zero)},
      v{static_cast<float>(y->scale), static_cast<int32_t>(y->zero)};
  const Target t{static_cast<float>(scale), static_cast<float>(relu ? 0 : made->low - zero),
                 static_cast<float>(made->high - zero), static_cast<int32_t>(zero)};
  const auto* from = static_cast<const char*>(x->memory.data_ptr()) + a.storage_offset();
  const auto* beside = static_cast<const char*>(y->memory.data_ptr()) + b.storage_offset();
  auto* to = static_cast<char*>(made->memory.data_ptr());
  const auto run = [&](int64_t begin, int64_t end) {
    const int64_t n = end - begin;
    const auto loop = [&](auto* of, auto* fn) {
      using Code = std::remove_pointer_t<decltype(of)>;
      fn(n, reinterpret_cast<const Code*>(from) + begin, reinterpret_cast<const Code*>(beside) + begin,
         reinterpret_cast<Code*>(to) + begin, u, v, t);
    };
    if (made->type->code == kChar)
      loop(static_cast<int8_t*>(nullptr), Adds ? add_signed : mul_signed);
    else
      loop(static_cast<uint8_t*>(nullptr), Adds ? add_unsigned : mul_unsigned);
  };
  constexpr int64_t grain = 32768;
  if (a.numel() <= grain)
    run(0, a.numel());
  else
    lamella::parallel_for(0, a.numel(), grain, run);
  return make(std::move(made), a.sizes(), a.strides(), a.dtype());
}

Tensor add(const Tensor& a, const Tensor& b, double scale, int64_t zero) {
  static const lamella_operator* const op = operator_named("quantized::add");
  return combined<true>(op, a, b, scale, zero, false);
}
Tensor add_relu(const Tensor& a, const Tensor& b, double scale, int64_t zero) {
  static const lamella_operator* const op = operator_named("quantized::add_relu");
  return combined<true>(op, a, b, scale, zero, true);
}
Tensor mul(const Tensor& a, const Tensor& b, double scale, int64_t zero) {
  static const lamella_operator* const op = operator_named("quantized::mul");
  return combined<false>(op, a, b, scale, zero, false);
}
Tensor mul_relu(const Tensor& a, const Tensor& b, double scale, int64_t zero) {
  static const lamella_operator* const op = operator_named("quantized::mul_relu");
  return combined<false>(op, a, b, scale, zero, true);
}

}  // namespace

void register_sums(Library& m) {
  const auto define = [&](const std::string& name, auto function) {
    m.def((name + "(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor").c_str(), function);
    m.impl(name.c_str(), layer_name, function);
    m.rule(name.c_str(), "named_tensor", "broadcast");
    m.derivative(name.c_str(), "qa: quantized::no_gradient(grad); qb: quantized::no_gradient(grad)");
  };
  define("add", add);
  define("add_relu", add_relu);
  define("mul", mul);
  define("mul_relu", mul_relu);
}

}  // namespace lamella::quantization
