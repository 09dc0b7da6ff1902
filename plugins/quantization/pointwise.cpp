// The rule of pointwise operators. See Note [Ways] in calls.h.
#include <algorithm>
#include <cmath>

#include "calls.h"
#include "rules.h"

namespace lamella::quantization {
namespace {

constexpr int64_t tile = 1 << 16;  // elements that are dequantized at a time

struct Call {
  const lamella_operator* op;          // in the form of the call
  const lamella_operator* functional;  // its functional form
  const lamella_value* args;
  int num_args, num_functional;
  const Scheme* first = nullptr;               // of the first quantized argument
  lamella_tensor* target = nullptr;            // the tensor that is written, or null
  std::vector<const lamella_tensor*> tensors;  // the arguments that are computed with
};

Call read(lamella_frame* f, const lamella_value* args) {
  Call c{f->op, api().operator_functional(f->op), args, f->num_args, 0};
  if (!c.functional) c.functional = c.op;
  c.num_functional = api().operator_num_args(c.functional);
  for (int i = 0; i < c.num_args; i++) {
    if (args[i].tag != LAMELLA_TENSOR) continue;
    lamella_tensor* t = args[i].as.tensor;
    const lamella_argument* a = api().operator_argument(c.op, i);
    if (a->flags & LAMELLA_ARGUMENT_WRITTEN) c.target = t;
    if (i < c.num_functional) c.tensors.push_back(t);
    const Scheme* s = scheme_of(t);
    if (s && !c.first) c.first = s;
  }
  return c;
}

// Calls the functional form with other tensors: change(tensor) for each.
template <class Change>
Tensor computed(const Call& c, Change change) {
  std::vector<lamella_value> args(c.args, c.args + c.num_functional);
  std::vector<Tensor> held;
  for (lamella_value& v : args) {
    if (v.tag != LAMELLA_TENSOR) continue;
    held.push_back(change(Tensor::borrow(v.as.tensor)));
    v.as.tensor = held.back().get();
  }
  lamella_value ret = none();
  check(api().call(nullptr, c.functional, args.data(), c.num_functional, &ret, 1));
  return Tensor::steal(ret.as.tensor);
}

// Returns whether all tensors are on the host, of one shape and without gaps, so that pieces of their memory belong
// together.
bool lie_alike(const Call& c) {
  const lamella_tensor* first = c.tensors[0];
  for (const lamella_tensor* t : c.tensors) {
    const bool same =
        t->dl.ndim == first->dl.ndim && std::equal(t->dl.shape, t->dl.shape + t->dl.ndim, first->dl.shape);
    if (!same || !lamella::is_contiguous(t) || !Device(device_of(t)).is_cpu()) return false;
  }
  return c.tensors[0]->numel > 0;
}

// Computes piece by piece: give(codes or values of the piece, place).
template <class Give>
void by_pieces(const Call& c, Give give) {
  const int64_t numel = c.tensors[0]->numel;
  for (int64_t at = 0; at < numel; at += tile) {
    const int64_t n = std::min(tile, numel - at);
    give(computed(c,
                  [&](const Tensor& t) {
                    if (const Scheme* s = scheme_of(t)) return s->values(t.storage_offset() + at, n, t.dtype());
                    return t.as_strided({n}, {1}, t.storage_offset() + at);
                  }),
         at, n);
  }
}

// ---- native: limits of codes, and comparisons ----------------------------------------------------------------------

struct Limits {
  std::optional<double> low, high;
};

// Returns the limits that an operator sets to its first argument, if it does nothing else.
std::optional<Limits> limits_of(const Call& c) {
  const std::string_view name = api().operator_name(c.functional);
  const auto number = [&](int i) -> std::optional<double> {
    return i < c.num_functional && c.args[i].tag != LAMELLA_NONE ? std::optional(Scalar(c.args[i]).toDouble())
                                                                 : std::nullopt;
  };
  for (int i = 1; i < c.num_functional; i++)
    if (c.args[i].tag == LAMELLA_TENSOR) return std::nullopt;
  if (name == "aten::relu") return Limits{0.0, {}};
  if (name == "aten::relu6") return Limits{0.0, 6.0};
  if (name == "aten::clamp" || name == "aten::hardtanh") return Limits{number(1), number(2)};
  if (name == "aten::clamp_min") return Limits{number(1), {}};
  if (name == "aten::clamp_max") return Limits{{}, number(1)};
  return std::nullopt;
}

// Returns the code of a number by a scheme of one scale, as _quantize computes it.
int64_t code_of(const Scheme& s, double number) {
  const double q =
      std::nearbyint(static_cast<float>(number) / static_cast<float>(s.scale)) + static_cast<double>(s.zero);
  const auto low = static_cast<double>(s.low), high = static_cast<double>(s.high);
  return q > low ? static_cast<int64_t>(std::min(q, high)) : s.low;
}

// Limits the codes, since the codes of one scale have the order of the values.
Tensor limited(const Tensor& codes, const Scheme& s, const Limits& l) {
  return codes.clamp(l.low ? code_of(s, *l.low) : s.low, l.high ? code_of(s, *l.high) : s.high);
}

bool have_one_scale(const Call& c) {
  for (const lamella_tensor* t : c.tensors) {
    const Scheme* s = scheme_of(t);
    if (!s || s->scales.defined() || !s->type->is_integer() || s->type != c.first->type || s->scale != c.first->scale ||
        s->zero != c.first->zero)
      return false;
  }
  return true;
}

bool compares(const Call& c) {
  const std::string_view name = api().operator_name(c.functional);
  for (const char* n : {"aten::eq", "aten::ne", "aten::lt", "aten::le", "aten::gt", "aten::ge"})
    if (name == n) return true;
  return false;
}

bool is_nan(const Limits& l) { return (l.low && std::isnan(*l.low)) || (l.high && std::isnan(*l.high)); }

// Returns codes, or a plain result; an undefined tensor if integers do not suffice.
Tensor by_integers(const Call& c) {
  if (!have_one_scale(c)) return {};
  if (c.tensors.size() == 2 && compares(c)) return computed(c, codes_of);
  if (c.tensors.size() != 1) return {};
  const std::optional<Limits> l = limits_of(c);
  return l && !is_nan(*l) ? limited(codes_of(Tensor::borrow(const_cast<lamella_tensor*>(c.tensors[0]))), *c.first, *l)
                          : Tensor();
}

// ---- the rule ------------------------------------------------------------------------------------------------------

bool needs_scale(const Tensor& result) { return result.is_floating_point(); }

lamella_value given(const Tensor& t) {
  lamella_value v = value(t);
  lamella_value owned;
  check(api().value_retain(&v, &owned));
  return owned;
}

// Writes values into the target of an in-place or out= form, and returns the target.
lamella_value written(const Call& c, const Tensor& values) {
  const Tensor target = Tensor::borrow(c.target);
  if (scheme_of(target)) {
    LAMELLA_CHECK(values.sizes() == target.sizes(), title(c.op), ": the result has shape ", values.sizes(),
                  ", and the quantized tensor that it is written to has shape ", target.sizes());
    store(target, values);
  } else {
    LAMELLA_CHECK(target.is_floating_point() || target.is_complex() || !values.is_floating_point(), title(c.op),
                  ": argument 'out' has dtype ", target.dtype(), ", which cannot hold the result's ", values.dtype());
    target.resize_(values.sizes());
    target.copy_(values);
  }
  return given(target);
}

lamella_value computed_call(const Call& c) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(c.first, "no argument is quantized");
  if (const Tensor native = by_integers(c); native.defined()) {
    const bool plain = compares(c), own = c.target && c.target == c.tensors[0];
    record(c.op, plain || !c.target || own ? Way::native : Way::composite, *c.first);
    if (plain) return c.target ? written(c, native) : given(native);
    const auto limited = [&] {
      return from_codes(native, without_memory(*c.first), static_cast<ScalarType>(c.tensors[0]->dtype));
    };
    if (!c.target) return given(limited());
    if (!own) return written(c, dequantized(limited()));
    const Tensor target = Tensor::borrow(c.target);
    const Scheme& s = *c.first;
    const Span span(target);
    const Tensor all = s.codes(span.begin, span.n);
    all.as_strided(target.sizes(), target.strides(), all.storage_offset()).copy_(native);
    if (s.type->bits == 4) s.write(all, span.begin);
    return given(target);
  }
  const bool pieces = lie_alike(c);
  if (!c.target) {
    const std::shared_ptr<Scheme> s = result_scheme(*c.first);
    if (!pieces) {
      const Tensor result = computed(c, dequantized);
      if (needs_scale(result) && !s) no_result_scheme(c.op, *c.first);
      record(c.op, Way::composite, *c.first);
      return given(needs_scale(result) ? from_values(result, s, result.dtype()) : result);
    }
    // The dtype of the first piece says whether the result needs a scale.
    Tensor out;
    const lamella_tensor* like = c.tensors[0];
    const IntArrayRef sizes(like->dl.shape, like->dl.ndim);
    ScalarType dtype = kFloat;
    bool floats = false;
    by_pieces(c, [&](const Tensor& piece, int64_t at, int64_t n) {
      if (!at) {
        dtype = piece.dtype();
        floats = needs_scale(piece);
        if (floats && !s) no_result_scheme(c.op, *c.first);
        record(c.op, Way::fused, *c.first);
        out = lamella::empty({like->numel},
                             TensorOptions().dtype(!floats ? dtype : s->type->code).device(piece.device()));
      }
      out.narrow(0, at, n).copy_(floats ? s->rounded(piece, at) : piece);
    });
    return given(floats ? from_codes(out.view(sizes), s, dtype) : out.view(sizes));
  }
  const Scheme* to = scheme_of(c.target);
  const lamella_tensor* like = c.tensors[0];
  const bool same = c.target->dl.ndim == like->dl.ndim &&
                    std::equal(like->dl.shape, like->dl.shape + like->dl.ndim, c.target->dl.shape);
  const bool in_pieces = pieces && same && lamella::is_contiguous(c.target) && (to || c.target->dtype == like->dtype);
  record(c.op, in_pieces ? Way::fused : Way::composite, *c.first);
  if (!in_pieces) return written(c, computed(c, dequantized));
  const Tensor target = Tensor::borrow(c.target);
  by_pieces(c, [&](const Tensor& piece, int64_t at, int64_t n) {
    if (to)
      to->write(to->rounded(piece, target.storage_offset() + at), target.storage_offset() + at);
    else
      target.as_strided({n}, {1}, target.storage_offset() + at).copy_(piece);
  });
  return given(target);
}

}  // namespace

lamella_status pointwise_rule(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return guarded([&]() -> lamella_status {
    if (!by_own_kernel(f, args, rets)) rets[0] = computed_call(read(f, args));
    return LAMELLA_OK;
  });
}

}  // namespace lamella::quantization
