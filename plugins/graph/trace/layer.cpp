// The layer that records: it stands at `modes`, so that it sees the operators as the program calls them.
#include "trace/layer.h"

#include <algorithm>

#include "trace/recorder.h"

namespace lamella::graph {
namespace {

// The arguments of a call with the real tensors in the place of stand-ins.
class RealArguments {
 public:
  RealArguments(const lamella_value* args, size_t n) : n_(n) {
    std::copy_n(args, n, own_);
    replace([this](lamella_tensor* t) { return real_of(t); });
    if (!recorder_) recorder_ = Recorder::of_thread();
    if (recorder_ && recorder_->by_shape()) replace([this](lamella_tensor* t) { return recorder_->shape_of(t); });
  }
  const lamella_value* values() const { return own_; }
  Recorder* recorder() const { return recorder_; }
  bool has_stand_in() const { return has_stand_in_; }
  // Returns whether there is a stand-in of a recording within which this one runs.
  bool has_outer() const { return has_outer_; }

 private:
  template <class F>
  void replace(F f) {
    for (size_t i = 0; i < n_; i++) {
      lamella_value& v = own_[i];
      if (v.tag == LAMELLA_TENSOR) v.as.tensor = f(v.as.tensor);
      if (v.tag != LAMELLA_TENSOR_LIST) continue;
      auto& list = lists_.emplace_back();
      for (uint32_t k = 0; k < v.length; k++) list.push_back(f(v.as.tensors[k]));
      v.as.tensors = list.data();
    }
  }
  lamella_tensor* real_of(lamella_tensor* t) {
    const StandIn* s = stand_ins.get(t);
    if (!s) return t;
    Recorder* const own = Recorder::of_thread();
    if (own && s->recorder != own) {  // of the recording within which this one runs
      has_outer_ = true;
      return t;
    }
    recorder_ = s->recorder;
    has_stand_in_ = true;
    has_outer_ = has_outer_ || stand_ins.get(s->real.get());
    return s->real.get();
  }
  lamella_value own_[LAMELLA_MAX_ARGUMENTS];
  const size_t n_;
  std::list<std::vector<lamella_tensor*>> lists_;
  Recorder* recorder_ = nullptr;
  bool has_stand_in_ = false, has_outer_ = false;
};

// Calls an operator again from the top of this layer, for the recording within which this one runs.
lamella_status call_in_outer(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  uint64_t& off = api().thread()->exclude;  // has the layers that the call has passed, and this one
  const uint64_t before = off;
  off &= ~(uint64_t{1} << trace_bit);
  const Recorder::InOuter in_outer;
  const lamella_status status = api().call(nullptr, f->op, args, f->num_args, rets, f->num_rets);
  off = before;
  return status;
}

// Operators of category "host" give values of a tensor to the program.
bool is_exit(const lamella_operator* op) { return std::string_view(api().operator_category(op)) == "host"; }

lamella_status see(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return guarded([&] {
    const RealArguments real(args, f->num_args);
    Recorder* const recorder = real.recorder();
    if (recorder && recorder->ended()) recorder->check_open(title(f));
    const bool exit = is_exit(f->op);
    if (exit && real.has_stand_in()) recorder->leave(title(f));
    const lamella_status called = real.has_outer() ? call_in_outer(f, real.values(), rets)
                                                   : api().redispatch(f, real.values(), f->num_args, rets, f->num_rets);
    if (called) return called;
    if (!recorder || exit) return lamella_status{LAMELLA_OK};
    try {
      for (int32_t i = 0; i < f->num_rets && real.has_stand_in(); i++)  // a number that follows from values
        if (rets[i].tag != LAMELLA_NONE && rets[i].tag != LAMELLA_TENSOR && rets[i].tag != LAMELLA_TENSOR_LIST)
          recorder->leave(title(f));
      recorder->record(*signature_of_operator(f->op), args, real.values(), rets);
    } catch (...) {
      for (int32_t i = 0; i < f->num_rets; i++) api().value_release(&rets[i]);
      throw;
    }
    return lamella_status{LAMELLA_OK};
  });
}

}  // namespace

void register_layer(Library& m) {
  static lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = "trace";
  layer.at = "modes";
  layer.fallback = see;
  layer.kernel_flags = LAMELLA_KERNEL_CALLS_OPERATORS;
  m.layer(layer, &trace_bit);
  m.tensor_slot("trace", stand_ins, "trace");
}

}  // namespace lamella::graph
