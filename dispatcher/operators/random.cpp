// Random numbers: Philox's stream, filled in place; rand and randn over them.
#include <cmath>

#include "dispatcher/operators/rules.h"

namespace lattis::dispatcher {
namespace {

lattis_status check_floating(lattis_frame* f, const Tensor* t, Meta* m) {
  m->kind = LATTIS_META_SAME;
  m->alias_of = 0;
  if (core::dtype_class(t->dtype) == LATTIS_CLASS_FLOATING) return LATTIS_OK;
  return raise(LATTIS_RUNTIME_ERROR,
               where(f, 0) + ": expected a floating dtype, got " + core::dtype_info(t->dtype).name);
}

lattis_status infer_uniform(lattis_frame* f, const Value* a, Meta* m) {
  if (!std::isfinite(a[1].as.d) || !std::isfinite(a[2].as.d) || a[1].as.d > a[2].as.d)
    return raise(LATTIS_RUNTIME_ERROR, format("%s: the range 'from' %g 'to' %g is not one",
                                              operator_title(f->op).c_str(), a[1].as.d, a[2].as.d));
  return check_floating(f, tensor_arg(a[0]), m);
}

lattis_status infer_normal(lattis_frame* f, const Value* a, Meta* m) {
  if (!(a[2].as.d >= 0))
    return raise(LATTIS_RUNTIME_ERROR,
                 format("%s: the standard deviation must not be negative, got %g", where(f, 2).c_str(), a[2].as.d));
  return check_floating(f, tensor_arg(a[0]), m);
}

// (size, generator, dtype, layout, device, pin_memory)
lattis_status drawn(lattis_frame* f, const Value* a, const Callee& draw, double first, double second, Value* r) {
  static const Callee empty("empty", "memory_format");
  if (lattis_status st = empty(f, {a[0], a[2], a[3], a[4], a[5], core::none()}, r)) return st;
  Value same = core::none();
  lattis_status st = draw(f, {*r, core::floating(first), core::floating(second), a[1]}, &same);
  core::release_value(same);
  if (st) core::release_value(*r);
  return st;
}

lattis_status rand(lattis_frame* f, const Value* a, Value* r) {
  static const Callee uniform("uniform_", "");
  return drawn(f, a, uniform, 0, 1, r);
}

lattis_status randn(lattis_frame* f, const Value* a, Value* r) {
  static const Callee normal("normal_", "");
  return drawn(f, a, normal, 0, 1, r);
}

#define OPTIONS                                                                                            \
  "*, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? " \
  "pin_memory=None) -> Tensor"

}  // namespace

const std::vector<Declaration>& random_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"rand(SymInt[] size, " OPTIONS, "random", function, nullptr, rand,
       "Uniform numbers in [0, 1), from Philox-4x32-10 (Salmon et al., 2011).\n\nThe stream depends on the seed alone, "
       "not on the device or the number of threads.\n\n"
       ">>> g = lattis.Generator().manual_seed(0)\n>>> lattis.rand(2, generator=g).shape\nlattis.Size([2])\n"},
      {"randn(SymInt[] size, " OPTIONS, "random", function, nullptr, randn,
       "Normal numbers with mean 0 and standard deviation 1: Box and Muller's transform of Philox's stream.\n\n>>> "
       "lattis.randn(2, 3).shape\nlattis.Size([2, 3])\n"},
      {"uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)", "random",
       method, infer_uniform, nullptr,
       "Fills `self` with uniform numbers in [from, to).\n\n>>> bool((lattis.empty(5).uniform_(2, 3) >= 2).sum() == "
       "5)\nTrue\n"},
      {"normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)", "random",
       method, infer_normal, nullptr,
       "Fills `self` with normal numbers.\n\nRaises:\n    RuntimeError: std is negative\n\n>>> "
       "lattis.empty(5).normal_(0, 2).shape\nlattis.Size([5])\n"},
  };
  return *table;
}

}  // namespace lattis::dispatcher
