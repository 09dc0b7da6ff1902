// One kernel for every pointwise operator: it walks the operands and calls the operator's loop, converting dtypes tile
// by tile on the way, so that nothing is materialized.
#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/strips.h"

namespace lattis::cpu {
namespace {

// float16 and bfloat16 are computed in float32.
int loop_dtype(int compute) {
  return compute == LATTIS_FLOAT16 || compute == LATTIS_BFLOAT16 ? static_cast<int>(LATTIS_FLOAT32) : compute;
}

constexpr int64_t dtype_bytes[LATTIS_NUM_DTYPES] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

// The operands of one call, resolved.
struct Call {
  const lattis_pointwise* p;
  lattis_loop loop;
  const lattis_value* params;
  int inputs;
  int compute;              // the loop's dtype
  int wants[max_operands];  // dtype the loop reads or writes, by operand (0 is the output)
  int has[max_operands];    // dtype that is there
  bool converts = false;
  alignas(16) char numbers[max_operands][16];
};

lattis_status no_loop(lattis_frame* f, const Call& c) {
  static const char* const names[] = {"bool",     "uint8",   "uint16",  "uint32",    "uint64",
                                      "int8",     "int16",   "int32",   "int64",     "float16",
                                      "bfloat16", "float32", "float64", "complex64", "complex128"};
  return fail(LATTIS_NOT_IMPLEMENTED, std::string(api().operator_name(f->op)).substr(6) +
                                          ": argument 'self': the cpu backend has no loop for dtype " +
                                          names[c.compute] + " yet; convert with .to(...)");
}

lattis_status fault(const Call& c, lattis_frame* f) {
  std::string name = api().operator_name(f->op);
  if (name.rfind("aten::", 0) == 0) name = name.substr(6);
  return fail(LATTIS_ZERO_DIVISION, name + ": argument 'other': " + c.p->fault);
}

// A strip whose operands need conversion: a tile of each into the loop's dtype, the loop, and back.
int run_tiled(const Call& c, int64_t n, char* const* at, const int64_t* step) {
  constexpr int64_t tile = 512;
  alignas(64) char buffers[max_operands][tile * 16];
  const auto& cast = loops().cast;
  int faults = 0;
  for (int64_t i = 0; i < n; i += tile) {
    int64_t m = std::min(tile, n - i);
    void* data[max_operands];
    int64_t steps[max_operands];
    for (int k = 1; k <= c.inputs; k++) {
      data[k] = at[k] + i * step[k];
      steps[k] = step[k];
      if (c.wants[k] == c.has[k]) continue;
      int64_t bytes = dtype_bytes[c.wants[k]];
      bool one = step[k] == 0;
      cast[c.has[k]][c.wants[k]](one ? 1 : m, buffers[k], bytes, at[k] + i * step[k], step[k]);
      data[k] = buffers[k];
      steps[k] = one ? 0 : bytes;
    }
    bool out = c.wants[0] != c.has[0];
    data[0] = out ? buffers[0] : at[0] + i * step[0];
    steps[0] = out ? dtype_bytes[c.wants[0]] : step[0];
    faults |= c.loop(m, data, steps, c.params);
    if (out) cast[c.wants[0]][c.has[0]](m, at[0] + i * step[0], step[0], buffers[0], steps[0]);
  }
  return faults;
}

}  // namespace

namespace {
lattis_status general(lattis_frame* f, const lattis_pointwise* p, const lattis_value* args, lattis_value* rets);

lattis_status no_meaning(lattis_frame* f) {
  return fail(LATTIS_NOT_IMPLEMENTED,
              std::string(api().operator_name(f->op)) + ": it is called pointwise but declares no meaning");
}
}  // namespace

lattis_status pointwise_kernel(lattis_frame* f, const lattis_value* args, lattis_value* rets) {
  auto* p = static_cast<const lattis_pointwise*>(f->context);
  if (!p) p = api().operator_pointwise(f->op);
  if (__builtin_expect(!p || rets[0].tag != LATTIS_TENSOR || f->compute_dtype >= LATTIS_NUM_DTYPES, 0))
    return no_meaning(f);
  // The usual small call: everything contiguous, of one size and of the computed dtype.
  const lattis_tensor* out = rets[0].as.tensor;
  const int64_t n = out->numel;
  const unsigned dtype = f->compute_dtype;
  if (n <= grain && (out->flags & LATTIS_CONTIGUOUS) && p->loops[dtype] && !p->condition &&
      out->dtype == (p->result == LATTIS_RESULT_BOOL ? unsigned{LATTIS_BOOL} : dtype)) {
    void* data[max_operands];
    int64_t steps[max_operands];
    data[0] = out->dl.data;
    steps[0] = itemsize(out);
    bool plain = true;
    for (int k = 0; k < p->inputs; k++) {
      const lattis_tensor* t = args[k].as.tensor;
      plain =
          plain && args[k].tag == LATTIS_TENSOR && t->dtype == dtype && t->numel == n && (t->flags & LATTIS_CONTIGUOUS);
      if (!plain) break;
      data[k + 1] = t->dl.data;
      steps[k + 1] = itemsize(t);
    }
    if (plain && n > 0 && p->loops[dtype](n, data, steps, args + p->inputs) == 0) return LATTIS_OK;
  }
  return general(f, p, args, rets);
}

namespace {

lattis_status general(lattis_frame* f, const lattis_pointwise* p, const lattis_value* args, lattis_value* rets) {
  Call c;
  c.p = p;
  c.inputs = c.p->inputs;
  c.compute = loop_dtype(static_cast<int>(f->compute_dtype));
  c.loop = c.p->loops[c.compute];
  c.params = args + c.inputs;
  if (__builtin_expect(!c.loop, 0)) return no_loop(f, c);
  const lattis_tensor* out = rets[0].as.tensor;
  if (out->numel == 0) return LATTIS_OK;

  c.wants[0] = c.p->result == LATTIS_RESULT_BOOL ? static_cast<int>(LATTIS_BOOL) : c.compute;
  c.has[0] = out->dtype;
  c.converts = c.wants[0] != c.has[0];
  bool flat = (out->flags & LATTIS_CONTIGUOUS) != 0;
  void* data[max_operands] = {out->dl.data};
  int64_t steps[max_operands] = {itemsize(out)};
  for (int k = 1; k <= c.inputs; k++) {
    const lattis_value& v = args[k - 1];
    c.wants[k] = c.p->condition && k == 1 ? static_cast<int>(LATTIS_BOOL) : c.compute;
    if (v.tag == LATTIS_TENSOR) {
      const lattis_tensor* t = v.as.tensor;
      c.has[k] = t->dtype;
      c.converts |= c.has[k] != c.wants[k];
      flat &= t->numel == 1 || ((t->flags & LATTIS_CONTIGUOUS) && t->numel == out->numel);
      data[k] = t->dl.data;
      steps[k] = t->numel == 1 ? 0 : itemsize(t);
    } else {
      c.has[k] = c.wants[k];
      store_number(v, c.wants[k], c.numbers[k]);
      data[k] = c.numbers[k];
      steps[k] = 0;
    }
  }

  int faults = 0;
  if (flat && !c.converts && out->numel <= grain) {
    faults = c.loop(out->numel, data, steps, c.params);
  } else {
    Strips s(out);
    for (int k = 1; k <= c.inputs; k++) {
      if (args[k - 1].tag == LATTIS_TENSOR)
        s.add(args[k - 1].as.tensor);
      else
        s.add_scalar(c.numbers[k]);
    }
    lattis_status st = s.run(grain, [&](int64_t n, char* const* at, const int64_t* step) -> lattis_status {
      int bad = c.converts ? run_tiled(c, n, at, step) : c.loop(n, reinterpret_cast<void* const*>(at), step, c.params);
      if (__builtin_expect(bad, 0)) __atomic_store_n(&faults, 1, __ATOMIC_RELAXED);
      return LATTIS_OK;
    });
    if (st) return st;
  }
  return __builtin_expect(faults, 0) ? fault(c, f) : LATTIS_OK;
}

}  // namespace

}  // namespace lattis::cpu
