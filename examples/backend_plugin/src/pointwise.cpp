// One kernel for every pointwise operator, also those it never heard of: an operator brings a strided loop per dtype,
// and this file walks the operands and calls it.
#include "bank.h"

namespace bank {
namespace {

using lattis::api;

constexpr int64_t sizes[LATTIS_NUM_DTYPES] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

struct Call {
  const lattis_pointwise* meaning;
  lattis_loop loop;
  const lattis_value* params;
  int count;                // operands; the output is the first
  int wants[max_operands];  // the dtype that the loop reads or writes
  int has[max_operands];    // the dtype that is there
  alignas(16) char numbers[max_operands][16];
};

// Rows in tiles: operands that the loop does not take as they are go through a buffer (halves are computed in
// float32, and a zero-dim tensor of the host may have any dtype).
int run_row(const Call& c, int64_t n, char* const* at, const int64_t* step) {
  constexpr int64_t tile = 256;
  alignas(64) char buffers[max_operands][tile * 16];
  int faults = 0;
  for (int64_t i = 0; i < n; i += tile) {
    const int64_t m = n - i < tile ? n - i : tile;
    void* data[max_operands];
    int64_t steps[max_operands];
    for (int k = 0; k < c.count; k++) {
      const bool same = c.wants[k] == c.has[k];
      char* from = at[k] + i * step[k];
      if (!same && k > 0) conversion(c.has[k], c.wants[k])(m, buffers[k], sizes[c.wants[k]], from, step[k]);
      data[k] = same ? from : buffers[k];
      steps[k] = same ? step[k] : sizes[c.wants[k]];
    }
    faults |= c.loop(m, data, steps, c.params);
    if (data[0] == buffers[0]) conversion(c.wants[0], c.has[0])(m, at[0] + i * step[0], step[0], buffers[0], steps[0]);
  }
  return faults;
}

std::string title(lattis_frame* f) {
  std::string name = api().operator_name(f->op);
  return name.rfind("aten::", 0) == 0 ? name.substr(6) : name;
}

lattis_status prepare(lattis_frame* f, Call& c, const lattis_value* args) {
  c.meaning = api().operator_pointwise(f->op);
  if (!c.meaning) return lattis::fail(LATTIS_NOT_IMPLEMENTED, title(f) + ": it has no pointwise loops, and device 'bank' has no kernel of its own for it");
  c.count = 1 + c.meaning->inputs;
  int compute = static_cast<int>(f->compute_dtype);
  if (compute == LATTIS_FLOAT16 || compute == LATTIS_BFLOAT16) compute = LATTIS_FLOAT32;
  c.loop = c.meaning->loops[compute];
  if (!c.loop) return lattis::fail(LATTIS_NOT_IMPLEMENTED, title(f) + ": device 'bank' has no loop for this dtype; convert with .to(...)");
  c.params = args + c.meaning->inputs;
  c.wants[0] = c.meaning->result == LATTIS_RESULT_BOOL ? static_cast<int>(LATTIS_BOOL) : compute;
  for (int k = 1; k < c.count; k++) c.wants[k] = c.meaning->condition && k == 1 ? static_cast<int>(LATTIS_BOOL) : compute;
  return LATTIS_OK;
}

}  // namespace

lattis_status pointwise_kernel(lattis_frame* f, const lattis_value* args, lattis_value* rets) {
  Call c;
  if (lattis_status st = prepare(f, c, args)) return st;
  const lattis_tensor* out = rets[0].as.tensor;
  Operand operands[max_operands] = {operand(out, out)};
  c.has[0] = out->dtype;
  for (int k = 1; k < c.count; k++) {
    const lattis_value& v = args[k - 1];
    if (v.tag == LATTIS_TENSOR) {
      operands[k] = operand(v.as.tensor, out);
      c.has[k] = v.as.tensor->dtype;
    } else {
      store_number(v, c.wants[k], c.numbers[k]);
      operands[k] = {c.numbers[k], {}};
      c.has[k] = c.wants[k];
    }
  }
  int faults = 0;
  each_row(out, operands, c.count, [&](int64_t n, char** at, const int64_t* step) { faults |= run_row(c, n, at, step); });
  return faults ? lattis::fail(LATTIS_ZERO_DIVISION, title(f) + ": argument 'other': " + c.meaning->fault) : LATTIS_OK;
}

}  // namespace bank
