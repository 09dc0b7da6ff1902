#include "layer.h"

#include "policy.h"
#include "state.h"

namespace lamella::autocast {
namespace {

bool is_on(const State* s, const lamella_tensor* t) {
  return t && t->backend < most_devices && s->enabled >> t->backend & 1;
}

bool is_float8(int32_t dtype) { return dtype == LAMELLA_FLOAT8_E4M3FN || dtype == LAMELLA_FLOAT8_E5M2; }

bool is_castable(const lamella_tensor* t, int32_t low) {
  return t->dtype == LAMELLA_FLOAT32 || t->dtype == LAMELLA_FLOAT16 || t->dtype == LAMELLA_BFLOAT16 ||
         is_float8(t->dtype) || t->dtype == low;
}

// Calls f(tensor) for each tensor among the arguments, in lists too.
template <class F>
void each_tensor(const lamella_value* args, int n, F&& f) {
  for (int i = 0; i < n; i++) {
    if (args[i].tag == LAMELLA_TENSOR) f(args[i].as.tensor);
    if (args[i].tag == LAMELLA_TENSOR_LIST)
      for (uint32_t k = 0; k < args[i].length; k++) f(args[i].as.tensors[k]);
  }
}

// The arguments of a call, with casts in the place of some tensors. It owns the casts.
class Arguments {
 public:
  Arguments(lamella_frame* f, const lamella_value* args, State* s, const Chosen& c, int32_t backend, int32_t dtype)
      : f_(f), s_(s), backend_(backend), dtype_(dtype), low_(s->dtypes[backend]), given_(args) {
    for (int i = 0; i < f->num_args && !status_; i++) {
      if (i < 64 && c.written >> i & 1) continue;
      if (args[i].tag == LAMELLA_TENSOR && differs(args[i].as.tensor)) {
        if (lamella_tensor* made = cast_of(args[i].as.tensor)) own(i).as.tensor = made;
      } else if (args[i].tag == LAMELLA_TENSOR_LIST) {
        list(i);
      }
    }
  }
  Arguments(const Arguments&) = delete;
  lamella_status status() const { return status_; }
  const lamella_value* get() const { return copied_ ? copy() : given_; }

 private:
  bool differs(const lamella_tensor* t) const {
    return t && t->backend == backend_ && t->dtype != dtype_ && is_castable(t, low_);
  }
  // Returns the cast of a tensor; null if it stays as it is. A tensor that is two arguments, as in attention to itself,
  // is cast once.
  lamella_tensor* cast_of(lamella_tensor* t) {
    if (t == last_) return last_made_;
    TensorRef made;
    status_ = cast(f_, s_, t, dtype_, &made);
    lamella_tensor* out = made.get();
    last_ = t;
    last_made_ = out;
    if (made && count_ < few)
      few_owned_[count_++] = std::move(made);
    else if (made)
      more_owned_.push_back(std::move(made));
    return out;
  }
  void list(int i) {
    const lamella_value& v = given_[i];
    bool any = false;
    for (uint32_t k = 0; k < v.length; k++) any |= differs(v.as.tensors[k]);
    if (!any) return;
    auto& tensors = lists_.emplace_back(v.as.tensors, v.as.tensors + v.length);
    for (lamella_tensor*& t : tensors)
      if (!status_ && differs(t))
        if (lamella_tensor* made = cast_of(t)) t = made;
    own(i).as.tensors = tensors.data();
  }
  const lamella_value* copy() const { return many_.empty() ? few_ : many_.data(); }
  lamella_value& own(int i) {
    if (!copied_) {
      copied_ = true;
      if (f_->num_args > few)
        many_.assign(given_, given_ + f_->num_args);
      else
        std::copy(given_, given_ + f_->num_args, few_);
    }
    return many_.empty() ? few_[i] : many_[static_cast<size_t>(i)];
  }

  static constexpr int few = 12;
  lamella_frame* f_;
  State* s_;
  int32_t backend_, dtype_, low_;
  const lamella_value* given_;
  lamella_status status_ = LAMELLA_OK;
  bool copied_ = false;
  int count_ = 0;
  lamella_tensor *last_ = nullptr, *last_made_ = nullptr;
  lamella_value few_[few];
  TensorRef few_owned_[few];
  std::vector<lamella_value> many_;
  std::vector<TensorRef> more_owned_;
  std::vector<std::vector<lamella_tensor*>> lists_;  // the vectors within may move, and their elements do not
};

// Returns a dtype that holds two castable ones; one of 8 bits gives way to any other.
int32_t wider(int32_t a, int32_t b, int32_t low) {
  if (a == LAMELLA_NO_DTYPE || a == b) return b;
  if (is_float8(a) || is_float8(b)) return is_float8(a) && is_float8(b) ? low : is_float8(a) ? b : a;
  return LAMELLA_FLOAT32;
}

int32_t widest_dtype(const lamella_frame* f, const lamella_value* args, int32_t backend, int32_t low) {
  int32_t found = LAMELLA_NO_DTYPE;
  each_tensor(args, f->num_args, [&](const lamella_tensor* t) {
    if (t && t->backend == backend && is_castable(t, low)) found = wider(found, t->dtype, low);
  });
  return found;
}

lamella_status go_on(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return api().redispatch(f, args, f->num_args, rets, f->num_rets);
}

lamella_status refused(const lamella_frame* f, const Part& p, int32_t backend) {
  const std::string instead = p.instead.empty() ? "" : "call " + p.instead + ", which is safe, or ";
  return api().raise(LAMELLA_RUNTIME_ERROR, (title(f) + ": its result is not safe in a dtype that autocast chooses; " +
                                             instead + "wrap the call in autocast(\"" + api().backend_name(backend) +
                                             "\", enabled=False) and pass float32 tensors")
                                                .c_str());
}

// Serves every operator. The context is its Policy.
lamella_status follow(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  const Chosen* c = static_cast<const Policy*>(f->context)->chosen.load(std::memory_order_acquire);
  State* s = c ? state_of_thread() : nullptr;
  if (!s || !s->enabled) return go_on(f, args, rets);
  const lamella_tensor* first = nullptr;
  each_tensor(args, f->num_args, [&](const lamella_tensor* t) {
    if (!first && is_on(s, t)) first = t;
  });
  if (!first) return go_on(f, args, rets);
  const int32_t backend = first->backend;
  const Part& policy = c->at(backend);
  const uint16_t action = policy.action;
  if (action == keep) return go_on(f, args, rets);
  if (action == refuse) return refused(f, policy, backend);
  const int32_t low = s->dtypes[backend];
  const int32_t dtype = action == lower     ? low
                        : action == widest  ? LAMELLA_FLOAT32
                        : action == promote ? widest_dtype(f, args, backend, low)
                                            : action - to_dtype;
  return guarded([&]() -> lamella_status {
    const Arguments casts(f, args, s, *c, backend, dtype);
    return casts.status() ? casts.status() : go_on(f, casts.get(), rets);
  });
}

}  // namespace

void register_layer(Library& m) {
  lamella_layer l{};
  l.size = sizeof l;
  l.name = layer_name;
  l.at = "autocast";
  l.flags = LAMELLA_LAYER_NOT_IN_BACKWARD | LAMELLA_LAYER_NEVER_ON_TENSORS | LAMELLA_LAYER_PREPARES_ALL;
  l.fallback = follow;
  l.prepare = prepare;
  int32_t bit = -1;
  m.layer(l, &bit);
  if (bit >= 0) layer_bit = uint64_t{1} << bit;
}

}  // namespace lamella::autocast
