// Products of bfloat16 and of bytes by oneDNN, which uses AMX where the processor has it: see
// docs/decisions/0032-narrow-products.md.
#include "backends/cpu/gemm.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernels.h"

#ifdef LAMELLA_ONEDNN
#include <cstdlib>

#include "backends/cpu/onednn_primitives.h"
#include "backends/cpu/space.h"
#endif

namespace lamella::cpu {

#ifndef LAMELLA_ONEDNN

bool onednn_multiply(int, const Gemm&) { return false; }
bool amx_multiplies(int) { return false; }

#else

namespace {

struct Shape {
  int dtype;  // the dtype of a
  int64_t m, n, k, a_row, a_column, b_row, b_column, c_row;

  bool operator==(const Shape&) const = default;
};

class Product {
 public:
  bool build(const Shape& s) {
    const bool floats = s.dtype == LAMELLA_BFLOAT16;
    const dnnl_data_type_t right = floats ? dnnl_bf16 : dnnl_s8;
    Attributes attributes;
    Description d;
    if (!matrix(&a_, s.m, s.k, s.dtype == LAMELLA_UINT8 ? dnnl_u8 : right, s.a_row, s.a_column) ||
        !matrix(&b_, s.k, s.n, right, s.b_row, s.b_column) ||
        !matrix(&c_, s.m, s.n, floats ? dnnl_f32 : dnnl_s32, s.c_row, 1) ||
        !ok(dnnl().primitive_attr_create(attributes.place())) ||
        !ok(dnnl().primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user)) ||
        !ok(dnnl().matmul_primitive_desc_create(d.place(), dnnl().engine, a_, b_, nullptr, c_, attributes)) ||
        !ok(dnnl().primitive_create(primitive_.place(), d)))
      return false;
    scratch_bytes_ =
        rounded(dnnl().memory_desc_get_size(dnnl().primitive_desc_query_md(d, dnnl_query_scratchpad_md, 0)));
    const dnnl_dims_t bytes = {std::max<int64_t>(scratch_bytes_, 1)};
    return ok(dnnl().memory_desc_create_with_tag(scratch_.place(), 1, bytes, dnnl_u8, dnnl_a));
  }

  bool run(const Gemm& g) const {
    Space space;
    if (space.take(scratch_bytes_)) return false;
    Memory m[4];
    if (!memory(&m[0], a_, g.a) || !memory(&m[1], b_, g.b) || !memory(&m[2], c_, g.c) ||
        !memory(&m[3], scratch_, space.data()))
      return false;
    const dnnl_exec_arg_t args[] = {
        {DNNL_ARG_SRC, m[0]}, {DNNL_ARG_WEIGHTS, m[1]}, {DNNL_ARG_DST, m[2]}, {DNNL_ARG_SCRATCHPAD, m[3]}};
    return ok(dnnl().primitive_execute(primitive_, stream(), 4, args));
  }

 private:
  static bool matrix(Layout* l, int64_t rows, int64_t columns, dnnl_data_type_t type, int64_t row, int64_t column) {
    const dnnl_dims_t sizes = {rows, columns}, strides = {row, column};
    return ok(dnnl().memory_desc_create_with_strides(l->place(), 2, sizes, type, strides));
  }

  Layout a_, b_, c_, scratch_;
  Primitive primitive_;
  int64_t scratch_bytes_ = 0;
};

Cache<Shape, Product>& cache() {
  static auto* const all = new Cache<Shape, Product>;  // never freed: oneDNN's own state may end before ours
  return *all;
}

template <class T>
void add_biases(const Gemm& g) {
  const auto *rows = static_cast<const T*>(g.row_bias), *columns = static_cast<const T*>(g.column_bias);
  for (int64_t i = 0; i < g.m && (rows || columns); i++) {
    T* c = static_cast<T*>(g.c) + i * g.c_row;
    for (int64_t j = 0; j < g.n; j++) c[j] += (rows ? rows[i] : T(0)) + (columns ? columns[j] : T(0));
  }
}

}  // namespace

bool onednn_multiply(int dtype, const Gemm& g) {
  [[maybe_unused]] OneThread guard;
  SignalsWait wait;
  const auto product = cache().get({dtype, g.m, g.n, g.k, g.a_row, g.a_column, g.b_row, g.b_column, g.c_row});
  if (!product || !product->run(g)) return false;
  dtype == LAMELLA_BFLOAT16 ? add_biases<float>(g) : add_biases<uint32_t>(g);
  return true;
}

bool amx_multiplies(int dtype) {
  static const bool there = beside_levels() && onednn_available() && dnnl().complete, asked = [] {
    const char* wish = std::getenv("LAMELLA_CPU_PRODUCTS");
    return wish && std::strcmp(wish, "onednn") == 0;
  }();
  static const bool floats = there && (asked || __builtin_cpu_supports("amx-bf16"));
  static const bool bytes = there && (asked || __builtin_cpu_supports("amx-int8"));
  if (dtype == LAMELLA_BFLOAT16) return floats;
  return bytes && (dtype == LAMELLA_INT8 || dtype == LAMELLA_UINT8);
}

#endif

}  // namespace lamella::cpu
