/* Kernels of device "choosy" that serve rows of at most four elements and decline other calls, for test_declining.py.
 * The device's memory is the host's. */
#include <lamella/extension.h>
#include <lamella/operands.h>

using namespace lamella;

namespace {

int64_t composites = 0; /* counts the composites' calls */

bool serves(const Tensor& self) { return self.dim() == 1 && self.numel() <= 4; }

void halve(const Operand& x, const Result& y) {
  for (int64_t i = 0; i < x->numel; i++) y.data<float>()[i] = x.data<float>()[i] / 2;
}

Status halved(const Tensor& self, const Tensor& out) {
  if (!serves(self)) return LAMELLA_DECLINED;
  const Result y(out, kFloat);
  halve(Operand(self, kFloat), y);
  return y.finish();
}

/* The kernel of an operator without a shape rule. */
Tensor alone(const Tensor& self) {
  if (!serves(self)) throw Declined();
  const Tensor out = allocate_like(self.get(), LAMELLA_FLOAT32);
  halve(Operand(self, kFloat), Result(out));
  return out;
}

/* A kernel of the C ABI that always declines. */
lamella_status declines(lamella_frame*, const lamella_value*, lamella_value*) { return LAMELLA_DECLINED; }

Tensor by_composite(const Tensor& self) {
  composites++;
  return self * 0.5;
}

std::tuple<Tensor, Tensor> both_by_composite(const Tensor& self) {
  composites++;
  return {self + 1, self - 1};
}

constexpr uint32_t forms = LAMELLA_FORM_FUNCTION | LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT;

}  // namespace

LAMELLA_LIBRARY(choosy, m) {
  const auto like = [](const Tensor& self, Output out) { out.like(self); };
  m.define("halved(Tensor self) -> Tensor", nullptr, nullptr, nullptr, forms);
  m.infer("halved", like).impl("halved", "composite", by_composite).impl("halved", "choosy", halved);
  m.derivative("halved", "self: grad / 2");
  m.def("composites() -> int", [] { return composites; });
  m.def("alone(Tensor self) -> Tensor").impl("alone", "composite", by_composite).impl("alone", "choosy", alone);
  m.def("both(Tensor self) -> (Tensor, Tensor)").infer("both", [](const Tensor& self, Output up, Output down) {
    up.like(self);
    down.like(self);
  });
  m.impl("both", "composite", both_by_composite).impl("both", "choosy", declines);
  /* The host serves a declined call. */
  m.define("hosted(Tensor self) -> Tensor", nullptr, nullptr, nullptr, forms);
  m.infer("hosted", like).impl("hosted", "choosy", halved);
  m.impl("hosted", "cpu", [](const Tensor& self, const Tensor& out) { out.copy_(self * 0.5); });
  /* No other kernel serves a declined call. */
  m.def("nowhere(Tensor self) -> Tensor").infer("nowhere", like).impl("nowhere", "choosy", halved);
  /* All kernels decline, also the composite. */
  m.def("never(Tensor self) -> Tensor").infer("never", like).impl("never", "composite", declines);
  m.impl("never", "choosy", declines).impl("never", "cpu", declines);
}
