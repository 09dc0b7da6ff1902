// One kernel for every pointwise operator: it walks the operands and calls the operator's loop. Operands that the loop
// cannot read or write in place (other dtypes, short rows, rows with gaps) go through tiles in the first-level cache,
// so that no operand is copied whole.
#include <lamella/pointwise/loops.h>
#include <lamella/pointwise/declarations.h>

#include <type_traits>

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/meanings.h"
#include "backends/cpu/strips.h"

// The ends of the section lamella_loops, which the linker names; null if no file leaves anything in the section, as in
// a build for one instruction set.
extern "C" {
extern const lamella::cpu::FamilyLoops* const __start_lamella_loops[] __attribute__((weak, visibility("hidden")));
extern const lamella::cpu::FamilyLoops* const __stop_lamella_loops[] __attribute__((weak, visibility("hidden")));
}

namespace lamella::cpu {
namespace {

std::string name_of(const char* schema) { return std::string(schema, std::strchr(schema, '(')); }

// Returns the dtype of the loop. float16 and bfloat16 are computed in float32, unless the operator has a loop for the
// dtype and all operands are tensors of it: a number among the operands keeps its precision in float32.
int loop_dtype(const lamella_pointwise& p, int compute, const lamella_value* args) {
  if (compute != LAMELLA_FLOAT16 && compute != LAMELLA_BFLOAT16) return compute;
  bool own = p.loops[compute] != nullptr;
  for (int i = p.condition; i < p.inputs && own; i++)
    own = args[i].tag == LAMELLA_TENSOR && args[i].as.tensor->dtype == compute;
  return own ? compute : static_cast<int>(LAMELLA_FLOAT32);
}

constexpr int64_t tile_bytes = 8192;  // the size of each operand's tile; all tiles fit into the first-level cache
constexpr int64_t short_run = 32;     // elements below which rows go through tiles

// Returns the dtype that a loop of `dtype` writes.
inline int result_of(int rule, int dtype) {
  if (rule == LAMELLA_RESULT_BOOL) return LAMELLA_BOOL;
  if (rule != LAMELLA_RESULT_REAL) return dtype;
  return dtype == LAMELLA_COMPLEX64 ? LAMELLA_FLOAT32 : dtype == LAMELLA_COMPLEX128 ? LAMELLA_FLOAT64 : dtype;
}

// One call, with the dtypes of its operands and of the loop.
struct Call {
  const lamella_pointwise* p;
  lamella_loop loop;
  const lamella_value* params;
  int inputs;
  int compute;              // the loop's dtype
  int wants[max_operands];  // dtype the loop reads or writes, by operand (0 is the output)
  int has[max_operands];    // dtype of the operand in memory
  bool converts = false;
  int64_t tile;  // elements that fit into a buffer of each operand
  alignas(16) char numbers[max_operands][16];
};

lamella_status no_loop(lamella_frame* f, const Call& c) {
  static const char* const names[] = {"bool",     "uint8",   "uint16",  "uint32",    "uint64",
                                      "int8",     "int16",   "int32",   "int64",     "float16",
                                      "bfloat16", "float32", "float64", "complex64", "complex128"};
  return fail(LAMELLA_NOT_IMPLEMENTED, title(f) + ": argument 'self': the cpu backend has no loop for dtype " +
                                           names[c.compute] + " yet; convert with .to(...)");
}

lamella_status fault(const Call& c, lamella_frame* f) {
  return fail(LAMELLA_ZERO_DIVISION, title(f) + ": argument 'other': " + c.p->fault);
}

// Memory for one tile of each operand.
struct Buffers {
  alignas(64) char operand[max_operands][tile_bytes];
  alignas(64) char packed[tile_bytes];
};

bool gapless(const Block& b, int k, int64_t bytes) {
  return b.col_step[k] == bytes && (b.rows == 1 || b.row_step[k] == b.cols * bytes);
}

// Returns an input in the dtype that the loop reads, in place or in a buffer, and sets the step of the loop.
void* fetch(const Call& c, const Block& b, int k, Buffers& buffers, int64_t* step) {
  const int64_t item = dtype_bytes[c.has[k]], wide = dtype_bytes[c.wants[k]], n = b.rows * b.cols;
  const bool same = c.wants[k] == c.has[k];
  const bool constant = (b.cols == 1 || b.col_step[k] == 0) && (b.rows == 1 || b.row_step[k] == 0);
  const bool dense = gapless(b, k, item);
  *step = constant ? 0 : wide;
  if (same && (constant || dense)) return b.at[k];
  if (same && b.rows == 1) {
    *step = b.col_step[k];
    return b.at[k];
  }
  const CastLoop cast = loops().cast[c.has[k]][c.wants[k]];
  char* into = buffers.operand[k];
  if (constant || dense || (b.rows == 1 && !same)) {
    cast(constant ? 1 : n, into, wide, b.at[k], b.col_step[k]);
  } else if (same) {
    pack_of(item)(b.rows, b.cols, into, b.cols * item, b.at[k], b.row_step[k], b.col_step[k]);
  } else {
    pack_of(item)(b.rows, b.cols, buffers.packed, b.cols * item, b.at[k], b.row_step[k], b.col_step[k]);
    cast(n, into, wide, buffers.packed, item);
  }
  return into;
}

// Copies a result without gaps to its place in the output.
void store(const Block& b, int dtype, const char* from) {
  const int64_t item = dtype_bytes[dtype];
  const bool dense = gapless(b, 0, item);
  const int64_t rows = dense ? 1 : b.rows, cols = dense ? b.rows * b.cols : b.cols;
  for (int64_t r = 0; r < rows; r++) {
    char* to = b.at[0] + r * b.row_step[0];
    if (b.col_step[0] != item)
      loops().cast[dtype][dtype](cols, to, b.col_step[0], from + r * cols * item, item);
    else
      std::memcpy(to, from + r * cols * item, cols * item);
  }
}

// Runs the loop over a block that fits into the buffers.
int run_tile(const Call& c, const Block& b, Buffers& buffers) {
  void* data[max_operands];
  int64_t steps[max_operands];
  for (int k = 1; k <= c.inputs; k++) data[k] = fetch(c, b, k, buffers, &steps[k]);
  const int64_t item = dtype_bytes[c.has[0]], n = b.rows * b.cols;
  const bool same = c.wants[0] == c.has[0];
  const bool direct = same && gapless(b, 0, item);
  steps[0] = dtype_bytes[c.wants[0]];
  data[0] = direct ? b.at[0] : buffers.operand[0];
  const int faults = c.loop(n, data, steps, c.params);
  if (direct) return faults;
  const char* result = buffers.operand[0];
  if (!same) {
    const CastLoop cast = loops().cast[c.wants[0]][c.has[0]];
    if (gapless(b, 0, item)) {
      cast(n, b.at[0], item, result, steps[0]);
      return faults;
    }
    cast(n, buffers.packed, item, result, steps[0]);
    result = buffers.packed;
  }
  store(b, c.has[0], result);
  return faults;
}

// Returns whether the loop can run over the rows in place: they are long, have the loop's dtypes, and each operand has
// no gaps along them or is constant. A single row may have any length and any steps.
bool loop_takes_rows(const Call& c, const Block& b) {
  if (c.converts) return false;
  if (b.rows == 1) return true;
  bool along = b.cols >= short_run;
  for (int k = 0; k <= c.inputs; k++) along &= b.col_step[k] == dtype_bytes[c.has[k]] || (k > 0 && b.col_step[k] == 0);
  return along;
}

int run_rows(const Call& c, const Block& b) {
  int faults = 0;
  void* data[max_operands];
  for (int64_t r = 0; r < b.rows; r++) {
    for (int k = 0; k <= c.inputs; k++) data[k] = b.at[k] + r * b.row_step[k];
    faults |= c.loop(b.cols, data, b.col_step, c.params);
  }
  return faults;
}

int run_tiles(const Call& c, const Block& b) {
  Buffers buffers;
  int faults = 0;
  const int64_t n = std::min(b.cols, c.tile), m = std::max<int64_t>(c.tile / n, 1);
  for (int64_t r = 0; r < b.rows; r += m)
    for (int64_t i = 0; i < b.cols; i += n)
      faults |= run_tile(c, b.part(c.inputs + 1, r, std::min(m, b.rows - r), i, std::min(n, b.cols - i)), buffers);
  return faults;
}

}  // namespace

namespace {
lamella_status general(lamella_frame* f, const lamella_pointwise* p, const lamella_value* args, lamella_value* rets);

lamella_status no_meaning(lamella_frame* f) {
  return fail(LAMELLA_NOT_IMPLEMENTED, std::string(api().operator_name(f->op)) +
                                           ": it is declared pointwise, but the cpu backend has no loops for this "
                                           "call; pass a lamella_pointwise or register a kernel");
}
}  // namespace

static inline lamella_status run(lamella_frame* f, const lamella_pointwise* p, const lamella_value* args,
                                 lamella_value* rets) {
  // The usual small call: all operands are contiguous, of one size and of the computed dtype.
  const lamella_tensor* out = rets[0].as.tensor;
  const int64_t n = out->numel;
  const unsigned dtype = f->compute_dtype;
  if (n <= grain && (out->flags & LAMELLA_CONTIGUOUS) && p->loops[dtype] && !p->condition &&
      out->dtype == result_of(p->result, static_cast<int>(dtype))) {
    void* data[max_operands];
    int64_t steps[max_operands];
    data[0] = out->dl.data;
    steps[0] = itemsize(out);
    bool plain = true;
    for (int k = 0; k < p->inputs; k++) {
      const lamella_tensor* t = args[k].as.tensor;
      plain = plain && args[k].tag == LAMELLA_TENSOR && t->dtype == dtype && t->numel == n &&
              (t->flags & LAMELLA_CONTIGUOUS);
      if (!plain) break;
      data[k + 1] = t->dl.data;
      steps[k + 1] = itemsize(t);
    }
    if (plain && n > 0 && p->loops[dtype](n, data, steps, args + p->inputs) == 0) return LAMELLA_OK;
  }
  return general(f, p, args, rets);
}

lamella_status pointwise_kernel(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  auto* p = static_cast<const lamella_pointwise*>(f->context);
  if (!p) p = api().operator_pointwise(f->op);
  if (__builtin_expect(!p || rets[0].tag != LAMELLA_TENSOR || f->compute_dtype >= LAMELLA_PLAIN_DTYPES, 0))
    return no_meaning(f);
  return run(f, p, args, rets);
}

namespace {

lamella_status general(lamella_frame* f, const lamella_pointwise* p, const lamella_value* args, lamella_value* rets) {
  Call c;
  c.p = p;
  c.inputs = c.p->inputs;
  c.compute = loop_dtype(*p, static_cast<int>(f->compute_dtype), args);
  c.loop = c.p->loops[c.compute];
  c.params = args + c.inputs;
  if (__builtin_expect(!c.loop, 0)) return no_loop(f, c);
  const lamella_tensor* out = rets[0].as.tensor;
  if (out->numel == 0) return LAMELLA_OK;

  c.wants[0] = result_of(c.p->result, c.compute);
  c.has[0] = out->dtype;
  c.converts = c.wants[0] != c.has[0];
  bool flat = (out->flags & LAMELLA_CONTIGUOUS) != 0;
  int64_t widest = std::max(dtype_bytes[c.wants[0]], dtype_bytes[c.has[0]]);
  void* data[max_operands] = {out->dl.data};
  int64_t steps[max_operands] = {itemsize(out)};
  for (int k = 1; k <= c.inputs; k++) {
    const lamella_value& v = args[k - 1];
    c.wants[k] = c.p->condition && k == 1 ? static_cast<int>(LAMELLA_BOOL) : c.compute;
    if (v.tag == LAMELLA_TENSOR) {
      const lamella_tensor* t = v.as.tensor;
      c.has[k] = t->dtype;
      c.converts |= c.has[k] != c.wants[k];
      flat &= t->numel == 1 || ((t->flags & LAMELLA_CONTIGUOUS) && t->numel == out->numel);
      data[k] = t->dl.data;
      steps[k] = t->numel == 1 ? 0 : itemsize(t);
    } else {
      c.has[k] = c.wants[k];
      store_number(v, c.wants[k], c.numbers[k]);
      data[k] = c.numbers[k];
      steps[k] = 0;
    }
    widest = std::max({widest, dtype_bytes[c.wants[k]], dtype_bytes[c.has[k]]});
  }

  int faults = 0;
  if (flat && !c.converts && out->numel <= grain) {
    faults = c.loop(out->numel, data, steps, c.params);
  } else {
    Strips s(out);
    for (int k = 1; k <= c.inputs; k++) {
      if (args[k - 1].tag == LAMELLA_TENSOR)
        s.add(args[k - 1].as.tensor);
      else
        s.add_scalar(c.numbers[k]);
    }
    c.tile = tile_bytes / widest;
    lamella_status st = s.run_blocks(grain, c.tile, [&](const Block& b) -> lamella_status {
      const int bad = loop_takes_rows(c, b) ? run_rows(c, b) : run_tiles(c, b);
      if (__builtin_expect(bad, 0)) __atomic_store_n(&faults, 1, __ATOMIC_RELAXED);
      return LAMELLA_OK;
    });
    if (st) return st;
  }
  return __builtin_expect(faults, 0) ? fault(c, f) : LAMELLA_OK;
}

// Calls `run` for each meaning that has loops for the chosen instruction set.
template <class Run>
void each_meaning(const Run& run) {
  for (const FamilyLoops* const* family = __start_lamella_loops; family != __stop_lamella_loops; family++)
    if ((*family)->isa == isa())
      for (size_t i = 0; i < (*family)->count; i++) run((*family)->meanings()[i]);
}
template <class Op>
const lamella_pointwise* meaning_of() {
  const lamella_pointwise* found = nullptr;
  each_meaning([&found](const Meaning& m) {
    if (!std::strcmp(m.declaration, declaration_name<Op>())) found = &m.pointwise;
  });
  if (found) return found;
  if constexpr (std::size(Op::signatures) == 0) {  // no operator of its own, as the cube: compiled here
    static const lamella_pointwise own = pointwise::describe<Op>(nullptr);
    return &own;
  } else {  // the baseline: the operator's own
    const std::string name = "aten::" + name_of(std::begin(Op::signatures)->schema);
    const size_t dot = name.find('.');
    const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
    return api().operator_pointwise(api().find_operator(name.substr(0, dot).c_str(), overload.c_str()));
  }
}

// Returns the operator that computes a power of this exponent faster, by products, a root or quotients, and rounds as
// torch does; null if there is none.
const lamella_pointwise* short_power(double exponent) {
  struct Power {
    double exponent;
    const lamella_pointwise* meaning;
  };
  static const Power powers[] = {
      {2, meaning_of<pointwise::square>()},      {0.5, meaning_of<pointwise::sqrt>()},
      {-1, meaning_of<pointwise::reciprocal>()}, {-0.5, meaning_of<pointwise::rsqrt>()},
      {3, meaning_of<pointwise::cube>()},        {-2, meaning_of<pointwise::inverse_square>()}};
  for (const Power& p : powers)
    if (p.exponent == exponent) return p.meaning;
  return nullptr;
}

Status pow_by_number(lamella_frame* f, const Tensor& self, const Scalar& exponent, const Tensor& out) {
  static const lamella_pointwise* const own = meaning_of<pointwise::pow>();
  const lamella_value args[] = {value(self), exponent.value()};
  lamella_value rets[] = {value(out)};
  if (exponent.isComplex() || exponent.isBoolean() || f->compute_dtype == LAMELLA_BOOL) return run(f, own, args, rets);
  const double number = exponent.toDouble();
  if (number == 1) return copy_into(out.get(), self.get());
  const lamella_pointwise* p = short_power(number);
  const bool serves = p && p->loops[loop_dtype(*p, static_cast<int>(f->compute_dtype), args)];
  return run(f, serves ? p : own, args, rets);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  m.category("pointwise", "cpu", pointwise_kernel);
  // The baseline has no meanings: there the category's kernel takes the operator's own loops.
  each_meaning([&m](const Meaning& of) {
    for (const char* const* schema = of.schemas; *schema; schema++)
      m.impl(name_of(*schema).c_str(), "cpu", pointwise_kernel, &of.pointwise);
  });
  add<pow_by_number>(m, "pow.Tensor_Scalar");
}

}  // namespace lamella::cpu
