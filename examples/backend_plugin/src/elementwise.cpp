// Kernels that go element by element: copy_, fill_, arange, random words, and one for all pointwise operators, also
// those it never heard of, since an operator brings its loops.
#include "bank.h"

namespace bank {
namespace {

// copy_(self, src) and fill_.Scalar(self, value)
lattis_status assign_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor* self = rets[0].as.tensor;
  return launch(self, [to = View(self), from = View(args[1], self->dtype, self)] {
    const Row in(from, to.dtype), out(to, to.dtype, false);
    std::memmove(out.data, in.data, to.count * out.step);  // they may overlap
    return out.write();
  });
}

// Writes number(i), a T, as element i.
template <class T, class Number>
lattis_status generate(const lattis_tensor* out, Number number) {
  return launch(out, [number, to = View(out)] {
    Row all(to, code<T>, false);
    for (int64_t i = 0; i < to.count; i++) all.as<T>()[i] = number(static_cast<T>(i));
    return all.write();
  });
}

// arange.start_step(start, end, step)
lattis_status arange_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const auto range = [&](auto start, auto step) {
    return generate<decltype(start)>(rets[0].as.tensor, [=](auto i) { return start + i * step; });
  };
  for (int k = 0; k < 3; k++)
    if (args[k].tag == LATTIS_FLOAT) return range(lattis::as_double(args[0]), lattis::as_double(args[2]));
  return range(lattis::as_int(args[0]), lattis::as_int(args[2]));
}

// Word i mod 4 of Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) with counter i / 4.
uint64_t philox(uint64_t seed, uint64_t i) {
  uint32_t c[4] = {uint32_t(i / 4), uint32_t(i >> 34), 0, 0}, key[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; round++, key[0] += 0x9E3779B9, key[1] += 0xBB67AE85) {
    const uint64_t p = uint64_t{0xD2511F53} * c[0], q = uint64_t{0xCD9E8D57} * c[2];
    c[0] = uint32_t(q >> 32) ^ c[1] ^ key[0];
    c[1] = uint32_t(q);
    c[2] = uint32_t(p >> 32) ^ c[3] ^ key[1];
    c[3] = uint32_t(p);
  }
  return c[i % 4];
}

// _random_bits_(self, generator)
lattis_status random_kernel(lattis_frame*, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor* self = rets[0].as.tensor;
  lattis_object* generator = args[1].tag == LATTIS_OBJECT ? args[1].as.object : nullptr;
  uint64_t seed, offset;
  if (auto st = api().generator_reserve(generator, lattis::device_of(self), self->numel, &seed, &offset)) return st;
  return generate<uint64_t>(self, [=](uint64_t i) { return philox(seed, offset + i); });
}

lattis_status pointwise_kernel(lattis_frame* f, const lattis_value* args, lattis_value* rets) {
  const lattis_pointwise* meaning = api().operator_pointwise(f->op);
  const bool half = f->compute_dtype == LATTIS_FLOAT16 || f->compute_dtype == LATTIS_BFLOAT16;
  const int compute = half ? int{LATTIS_FLOAT32} : f->compute_dtype;
  const std::string name = api().operator_name(f->op);
  const lattis_loop loop = meaning->loops[compute];
  if (!loop) return lattis::fail(LATTIS_NOT_IMPLEMENTED, name + ": device 'bank' has no loop for this dtype");
  const lattis_tensor* out = rets[0].as.tensor;
  std::vector<View> operands{View(out)};
  std::vector<int> dtypes{meaning->result == LATTIS_RESULT_BOOL ? int{LATTIS_BOOL} : compute};
  for (int k = 0; k < meaning->inputs; k++) {
    dtypes.push_back(meaning->condition && k == 0 ? int{LATTIS_BOOL} : compute);
    operands.push_back(View(args[k], dtypes.back(), out));
  }
  std::vector<lattis_value> params(meaning->params);
  for (int k = 0; k < meaning->params; k++) api().value_retain(&args[meaning->inputs + k], &params[k]);
  return launch(out, [=]() mutable -> Fault {
    std::vector<Row> rows;
    std::vector<void*> data;
    std::vector<int64_t> steps;
    for (size_t k = 0; k < operands.size(); k++) {
      rows.emplace_back(operands[k], dtypes[k], k > 0, false);
      data.push_back(rows[k].data);
      steps.push_back(rows[k].step);
    }
    const int faults = loop(operands[0].count, data.data(), steps.data(), params.data());
    for (lattis_value& v : params) api().value_release(&v);
    if (faults) return {LATTIS_ZERO_DIVISION, name + ": argument 'other': " + meaning->fault};
    return rows[0].write();
  });
}

}  // namespace

LATTIS_LIBRARY(aten, m) {
  m.impl("copy_", "bank", assign_kernel);
  m.impl("fill_.Scalar", "bank", assign_kernel);
  m.impl("arange.start_step", "bank", arange_kernel);
  m.impl("_random_bits_", "bank", random_kernel);
  m.category("pointwise", "bank", pointwise_kernel);
}

}  // namespace bank
