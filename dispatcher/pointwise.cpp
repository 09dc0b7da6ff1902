#include "dispatcher/pointwise.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "core/promotion.h"
#include "dispatcher/call.h"
#include "dispatcher/explain.h"

namespace lamella::dispatcher {
namespace {

using core::DType;

const char* class_names(int accepts) {
  static const char* const names[16] = {"",
                                        "bool",
                                        "integer",
                                        "bool and integer",
                                        "floating",
                                        "bool and floating",
                                        "integer and floating",
                                        "bool, integer and floating",
                                        "complex",
                                        "bool and complex",
                                        "integer and complex",
                                        "bool, integer and complex",
                                        "floating and complex",
                                        "bool, floating and complex",
                                        "integer, floating and complex",
                                        "all"};
  return names[accepts & 15];
}

DType result_dtype(const lamella_pointwise& p, DType compute) {
  if (p.result == LAMELLA_RESULT_BOOL) return LAMELLA_BOOL;
  if (p.result == LAMELLA_RESULT_REAL && core::dtype_class(compute) == LAMELLA_CLASS_COMPLEX)
    return compute == LAMELLA_COMPLEX64 ? LAMELLA_FLOAT32 : LAMELLA_FLOAT64;
  return compute;
}

// Returns the position of the operand that has a dtype class, for an error that names it.
int operand_of_class(const lamella_pointwise& p, const lamella_value* args, int n, int dtype_class) {
  for (int i = p.condition; i < n; i++) {
    DType t = args[i].tag == LAMELLA_TENSOR ? args[i].as.tensor->dtype : core::number_dtype(args[i]);
    if (t != LAMELLA_NO_DTYPE && core::dtype_class(t) == dtype_class) return i;
  }
  return p.condition;
}

// Returns whether a parameter fits the dtype of the computation. Loops of half precision compute in float32.
bool parameter_fits(const Value& v, DType t) {
  return core::number_in_range(v, t == LAMELLA_FLOAT16 || t == LAMELLA_BFLOAT16 ? LAMELLA_FLOAT32 : t);
}

lamella_status choose_dtypes(lamella_frame* f, const lamella_pointwise& p, const lamella_value* args,
                             lamella_meta* out) {
  core::ResultType r;
  const int n = p.inputs + (p.params_promote ? p.params : 0);
  for (int i = p.condition; i < n; i++)
    if (!r.add(args[i]))
      return core::raise(
          LAMELLA_RUNTIME_ERROR,
          core::format("%s: no dtype holds both %s and %s; convert one with .to(...)", where(f, i).c_str(),
                       core::dtype_info(r.clash[0]).name, core::dtype_info(r.clash[1]).name));
  DType t = r.get();
  if (t == LAMELLA_NO_DTYPE)
    return core::raise(LAMELLA_TYPE_ERROR, where(f, p.condition) + ": expected a tensor or a number, got " +
                                               core::describe(args[p.condition]));
  if (p.compute == LAMELLA_COMPUTE_FLOAT && core::dtype_class(t) <= LAMELLA_CLASS_INTEGRAL) t = core::default_dtype();
  if (!(core::dtype_class(t) & p.accepts)) {
    const int guilty = operand_of_class(p, args, n, core::dtype_class(t));
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       core::format("%s: dtype %s is not supported; it takes %s dtypes", where(f, guilty).c_str(),
                                    core::dtype_info(t).name, class_names(p.accepts)));
  }
  if (p.condition && args[0].tag == LAMELLA_TENSOR && args[0].as.tensor->dtype != LAMELLA_BOOL)
    return core::raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": the condition must be a bool tensor, not " +
                                                  core::dtype_info(args[0].as.tensor->dtype).name);
  for (int i = 0; i < p.inputs + p.params; i++) {
    // A number among the operands wraps, like a tensor's elements. A number above int64, a number that is selected
    // (where) and a parameter must fit.
    const bool must_fit = args[i].tag == LAMELLA_UINT || i >= p.inputs || p.condition;
    if (must_fit && core::is_number(args[i]) && args[i].tag != LAMELLA_COMPLEX && !parameter_fits(args[i], t))
      return core::raise(LAMELLA_RUNTIME_ERROR,
                         core::format("%s: %s does not fit the dtype %s of the computation", where(f, i).c_str(),
                                      core::describe(args[i]).c_str(), core::dtype_info(t).name));
    if (i < p.inputs) continue;
    if (args[i].tag == LAMELLA_NONE) {
      if (p.absent[i - p.inputs] == LAMELLA_ABSENT_ERROR)
        return core::raise(LAMELLA_TYPE_ERROR, where(f, i) + ": expected a number, got None");
    } else if (core::is_number(args[i]) && core::dtype_class(core::number_dtype(args[i])) >
                                               std::max(core::dtype_class(t), int{LAMELLA_CLASS_INTEGRAL})) {
      return core::raise(LAMELLA_RUNTIME_ERROR,
                         core::format("%s: %s does not fit the dtype %s of the result", where(f, i).c_str(),
                                      core::describe(args[i]).c_str(), core::dtype_info(t).name));
    }
  }
  f->compute_dtype = t;
  out->dtype = result_dtype(p, t);
  return LAMELLA_OK;
}

// Returns whether every plain dtype of its class holds a bool, int or float, so that infer_uniform() need not check it.
inline bool is_small(const Value& v) {
  if (v.tag == LAMELLA_FLOAT) return v.as.d > -65504 && v.as.d < 65504;
  return v.tag != LAMELLA_INT || (v.as.i >= 0 && v.as.i < 128);
}

// Returns 1 if dimension `inner` must change places with `outer` to match the operands' strides, -1 if not, 0 if the
// operands do not decide.
int should_swap(const lamella_tensor* const* in, int n, const lamella_meta* out, int inner, int outer) {
  for (int k = 0; k < n; k++) {
    int shift = out->ndim - in[k]->dl.ndim;
    auto stride = [&](int d) {
      return d < shift || in[k]->dl.shape[d - shift] == 1 ? 0 : in[k]->dl.strides[d - shift];
    };
    int64_t a = stride(inner), b = stride(outer);
    if (a == 0 || b == 0) continue;
    if (a != b) return a > b ? 1 : -1;
    if (out->sizes[inner] > out->sizes[outer]) return 1;
  }
  return 0;
}

// A plain loop: shapes are short, and a call of memcmp would cost more.
inline bool same_shape(const lamella_tensor* a, const lamella_tensor* b) {
  if (a->dl.ndim != b->dl.ndim) return false;
  for (int i = 0; i < a->dl.ndim; i++)
    if (a->dl.shape[i] != b->dl.shape[i]) return false;
  return true;
}

lamella_status no_broadcast(lamella_frame* f, const lamella_pointwise& p, const lamella_value* args) {
  std::string s = operator_title(f->op) + ": shapes";
  bool first = true;
  for (int i = 0; i < p.inputs; i++)
    if (args[i].tag == LAMELLA_TENSOR) {
      s += std::string(first ? " " : " and ") + core::shape_string(args[i].as.tensor) + " ('" +
           f->op->schema.load()->args[i].name + "')";
      first = false;
    }
  return core::raise(LAMELLA_RUNTIME_ERROR, s + " do not broadcast");
}

}  // namespace

void choose_layout(const lamella_tensor* const* in, int n, lamella_meta* out) {
  bool all_contiguous = true;
  for (int k = 0; k < n; k++) all_contiguous &= (in[k]->flags & LAMELLA_CONTIGUOUS) != 0;
  if (all_contiguous) return;
  int order[LAMELLA_MAX_DIMS];  // innermost first
  for (int i = 0; i < out->ndim; i++) order[i] = out->ndim - 1 - i;
  for (int i = 1; i < out->ndim; i++)
    for (int at = i, j = i - 1; j >= 0; j--) {
      int c = should_swap(in, n, out, order[j], order[at]);
      if (c < 0) break;
      if (c == 0) continue;
      std::swap(order[j], order[at]);
      at = j;
    }
  int64_t step = 1;
  for (int i = 0; i < out->ndim; i++) {
    out->strides[order[i]] = step;
    step *= std::max<int64_t>(out->sizes[order[i]], 1);
  }
  out->flags = LAMELLA_META_STRIDES;
}

bool broadcast(int* ndim, int64_t* into, int other_ndim, const int64_t* other) {
  int shift = other_ndim - *ndim;
  if (shift > 0) {
    std::memmove(into + shift, into, sizeof(int64_t) * *ndim);
    std::fill(into, into + shift, 1);
    *ndim = other_ndim;
    shift = 0;
  }
  for (int i = 0; i < other_ndim; i++) {
    int64_t& mine = into[i - shift];
    if (mine == other[i] || other[i] == 1) continue;
    if (mine != 1) return false;
    mine = other[i];
  }
  return true;
}

// The usual case: contiguous tensors of one dtype and shape, numbers of no higher class, nothing to decide. Returns
// false in any other case.
static inline bool infer_uniform(lamella_frame* f, const lamella_pointwise& p, const lamella_value* args,
                                 lamella_meta* out) {
  if (args[0].tag != LAMELLA_TENSOR || p.condition || p.params_promote) return false;
  const lamella_tensor* x = args[0].as.tensor;
  const int dtype_class = core::dtype_class(x->dtype);
  const uint32_t highest = dtype_class == LAMELLA_CLASS_FLOATING ? LAMELLA_FLOAT : LAMELLA_INT;  // a number's tag
  uint32_t flags = x->flags;
  for (int i = 1; i < p.inputs; i++) {
    if (args[i].tag != LAMELLA_TENSOR) {
      if (args[i].tag > highest) return false;
      continue;
    }
    const lamella_tensor* y = args[i].as.tensor;
    if (y->dtype != x->dtype || !same_shape(y, x)) return false;
    flags &= y->flags;
  }
  for (int i = p.inputs; i < p.inputs + p.params; i++)
    if (args[i].tag > highest || args[i].tag == LAMELLA_NONE || !is_small(args[i])) return false;
  if (!(flags & LAMELLA_CONTIGUOUS) || !(dtype_class & p.accepts) ||
      dtype_class < (p.compute == LAMELLA_COMPUTE_FLOAT ? LAMELLA_CLASS_FLOATING : LAMELLA_CLASS_INTEGRAL))
    return false;
  f->compute_dtype = x->dtype;
  out->dtype = result_dtype(p, x->dtype);
  out->ndim = x->dl.ndim;
  for (int i = 0; i < x->dl.ndim; i++) out->sizes[i] = x->dl.shape[i];
  return true;
}

lamella_status infer_pointwise(lamella_frame* f, const lamella_value* args, lamella_meta* out) {
  const auto& p = *static_cast<const lamella_pointwise*>(f->context);
  if (infer_uniform(f, p, args, out)) return LAMELLA_OK;
  const lamella_tensor* in[4];
  int n = 0;
  for (int i = 0; i < p.inputs; i++)
    if (args[i].tag == LAMELLA_TENSOR) in[n++] = args[i].as.tensor;
  if (lamella_status st = choose_dtypes(f, p, args, out)) return st;
  out->ndim = n ? in[0]->dl.ndim : 0;
  if (n) std::copy(in[0]->dl.shape, in[0]->dl.shape + out->ndim, out->sizes);
  for (int k = 1; k < n; k++)
    if (!broadcast(&out->ndim, out->sizes, in[k]->dl.ndim, in[k]->dl.shape)) return no_broadcast(f, p, args);
  choose_layout(in, n, out);
  return LAMELLA_OK;
}

namespace {

std::array<const char**, 6> texts_of(lamella_pointwise& p) {
  lamella_expressions& e = p.expressions;
  return {&e.of_bools, &e.of_integers, &e.of_floats, &e.of_complex, &p.fault, &p.fault_condition};
}

}  // namespace

const lamella_pointwise* copy_meaning(const lamella_pointwise& p) {
  auto* copy = new lamella_pointwise(p);
  for (const char** text : texts_of(*copy))
    if (*text) *text = static_cast<const char*>(core::checked(strdup(*text)));
  return copy;
}

void free_meaning(const lamella_pointwise* p) {
  lamella_pointwise texts = *p;
  for (const char** text : texts_of(texts)) std::free(const_cast<char*>(*text));
  delete p;
}

lamella_status check_meaning(const lamella_pointwise& m) {
  struct Field {
    const char* name;
    uint8_t value, largest;
  };
  const Field fields[] = {{"accepts", m.accepts, 15},
                          {"compute", m.compute, LAMELLA_COMPUTE_FLOAT},
                          {"result", m.result, LAMELLA_RESULT_REAL},
                          {"condition", m.condition, 1},
                          {"params_promote", m.params_promote, 1},
                          {"reserved", *std::max_element(m.reserved, std::end(m.reserved)), 0}};
  for (const Field& f : fields)
    if (f.value > f.largest)
      return core::raise(LAMELLA_VALUE_ERROR,
                         core::format("define: 'pointwise.%s' is %d; %d is the largest that is known here", f.name,
                                      f.value, f.largest));
  for (uint8_t absent : m.absent)
    if (absent > LAMELLA_ABSENT_HIGHEST)
      return core::raise(LAMELLA_VALUE_ERROR, core::format("define: 'pointwise.absent' has %d; %d is the largest that "
                                                           "is known here",
                                                           absent, LAMELLA_ABSENT_HIGHEST));
  return LAMELLA_OK;
}
}  // namespace lamella::dispatcher
