// A layer at `modes` as tracers have it: it answers every operator by a stand-in, an opaque tensor whose slot holds the
// result, or by the result itself, and keeps a reference to what it answered. `off` returns the operators it has seen.
// With KEYED stand-ins have the layer's key, so that calls with them reach it on any thread.
#include <lamella/extension.h>
#include <lamella/opaque.h>
#include <lamella/slot.h>

#include <map>

#ifdef KEYED
#define TRACER keyed_tracer
#define NAME "keyed_tracer"
#else
#define TRACER tracer
#define NAME "tracer"
#endif

namespace {

using lamella::Tensor;

struct Held {
  Tensor real;
  std::optional<Held> carry(const Tensor&, const Tensor&, int32_t) const { return *this; }
};

lamella::Slot<Held> slot;
int32_t bit;
bool by_stand_ins, refusing;
std::string names;
std::vector<Tensor> kept;

// Returns the tensor that an opaque one stands for; other tensors stand for themselves.
lamella_tensor* real_of(lamella_tensor* t) {
  const Held* held = slot.get(t);
  return held ? held->real.get() : t;
}

Tensor stand_in(const Tensor& real) {
  Tensor t = lamella::opaque(real.sizes(), real.options(), real.strides());
  slot.set(t, Held{real});
#ifdef KEYED
  lamella::check(lamella::api().tensor_update_keys(t.get(), uint64_t{1} << bit, 0));
#endif
  kept.push_back(t);
  return t;
}

// Returns an owned reference, for a value.
lamella_tensor* owned(const Tensor& t) {
  lamella::api().retain(t.get());
  return t.get();
}

class Arguments {
 public:
  Arguments(const lamella_value* args, int32_t n) : given_(args, args + n), own_(given_) {
    for (int32_t i = 0; i < n; i++) {
      if (own_[i].tag == LAMELLA_TENSOR) own_[i].as.tensor = real_of(own_[i].as.tensor);
      if (own_[i].tag != LAMELLA_TENSOR_LIST) continue;
      std::vector<lamella_tensor*>& list = lists_[i];
      for (uint32_t k = 0; k < own_[i].length; k++) list.push_back(real_of(own_[i].as.tensors[k]));
      own_[i].as.tensors = list.data();
    }
  }
  const lamella_value* own() const { return own_.data(); }
  // Returns what answers a result: for an argument that the operator has written, that argument.
  Tensor answer(const Tensor& result) const {
    for (size_t i = 0; i < own_.size(); i++)
      if (own_[i].tag == LAMELLA_TENSOR && own_[i].as.tensor == result.get())
        return Tensor::borrow(given_[i].as.tensor);
    if (by_stand_ins) return stand_in(result);
    kept.push_back(result);
    return result;
  }

 private:
  std::vector<lamella_value> given_, own_;
  std::map<int32_t, std::vector<lamella_tensor*>> lists_;
};

lamella_status trace(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return lamella::guarded([&] {
    const lamella_api& api = lamella::api();
    const std::string name = api.operator_name(f->op);
    const bool own = name.rfind(NAME "::", 0) == 0, exit = std::string(api.operator_category(f->op)) == "host";
    if (!own) names += names.empty() ? name : " " + name;
    if (exit && refusing) return lamella::fail(LAMELLA_RUNTIME_ERROR, "tracer: " + name + ": a value leaves the trace");
    const Arguments arguments(args, own ? 0 : f->num_args);
    const lamella_value* given = own ? args : arguments.own();
    if (lamella_status st = api.redispatch(f, given, f->num_args, rets, f->num_rets)) return st;
    for (int32_t i = 0; i < f->num_rets && !own && !exit; i++) {
      if (rets[i].tag == LAMELLA_TENSOR) rets[i].as.tensor = owned(arguments.answer(Tensor::steal(rets[i].as.tensor)));
      for (uint32_t k = 0; rets[i].tag == LAMELLA_TENSOR_LIST && k < rets[i].length; k++) {
        lamella_tensor*& t = const_cast<lamella_tensor**>(rets[i].as.tensors)[k];
        t = owned(arguments.answer(Tensor::steal(t)));
      }
    }
    return lamella_status{LAMELLA_OK};
  });
}

}  // namespace

LAMELLA_LIBRARY(TRACER, m) {
  static lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = NAME;
  layer.at = "modes";
#ifndef KEYED
  layer.flags = LAMELLA_LAYER_NEVER_ON_TENSORS;
#endif
  layer.fallback = trace;
  layer.kernel_flags = LAMELLA_KERNEL_CALLS_OPERATORS;
  m.layer(layer, &bit);
#ifdef KEYED
  m.tensor_slot(NAME, slot, NAME);
#else
  m.tensor_slot(NAME, slot);
#endif
  m.def("on(bool stand_ins, bool refuse=False) -> ()", [](bool stand_ins, bool refuse) {
    by_stand_ins = stand_ins;
    refusing = refuse;
    names.clear();
    lamella::api().thread()->include |= uint64_t{1} << bit;
  });
  m.def("off() -> str", [] {
    lamella::api().thread()->include &= ~(uint64_t{1} << bit);
    kept.clear();
    return names;
  });
  m.def("stand_in(Tensor real) -> Tensor", [](const Tensor& real) { return stand_in(real); });
  m.def("real(Tensor t) -> Tensor", [](const Tensor& t) { return Tensor::borrow(real_of(t.get())).alias(); });
}
