// Operators over lists of tensors: each calls operators of the catalogue for every place of the lists.
//
// Note [Each]  A row below says which lists an operator takes and which single operator it stands for. A call of the
//   single operator gets one element of every list, and every other argument as it is; its further arguments have their
//   defaults. So values, promotion, derivatives and devices are those of the single operator.
#include "core/error.h"
#include "operators/shapes.h"
#include "operators/sharing.h"
#include "operators/singles.h"

namespace lamella::operators {
namespace {

// Raises if a tensor of some place shares memory with the written tensor of that place, unless they are the same
// element by element. A single operator would compute into a temporary; kernels over lists compute in place on every
// device.
void check_apart(const lamella_operator* op, const lamella_value* args, int count, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const Span written = span_of(args[0].as.tensors[i]);
    for (int k = 1; k < count; k++) {
      const bool list = args[k].tag == LAMELLA_TENSOR_LIST;
      if (!list && args[k].tag != LAMELLA_TENSOR) continue;
      const lamella_tensor* t = list ? args[k].as.tensors[i] : args[k].as.tensor;
      if (!written.meets(span_of(t)) || sharing(args[0].as.tensors[i], t) != Sharing::something) continue;
      const std::string at = "[" + std::to_string(i) + "]";
      LAMELLA_CHECK(false, argument((std::string(api().operator_argument(op, k)->name) + (list ? at : "")).c_str()),
                    ": some of its elements and of ",
                    argument((std::string(api().operator_argument(op, 0)->name) + at).c_str()),
                    " refer to a single memory location, which is written; clone() one of them before");
    }
  }
}

// Walks over the lists: makes the arguments of one single call after the other.
class Places {
 public:
  Places(const lamella_operator* op, const lamella_operator* single, const lamella_value* args)
      : args_(args), count_(api().operator_num_args(op)) {
    bool any = false;
    for (int k = 0; k < count_; k++) {
      if (!is_list(args[k])) continue;
      if (!any) n_ = args[k].length;
      any = true;
      LAMELLA_CHECK(args[k].length == n_, argument(api().operator_argument(op, k)->name), ": expected ", n_,
                    " elements, as in the list before, got ", args[k].length);
    }
    LAMELLA_CHECK(n_ > 0, argument(api().operator_argument(op, 0)->name), ": expected at least one tensor");
    for (int k = 0; k < count_; k++)
      if (args[k].tag == LAMELLA_TENSOR && api().operator_argument(single, k)->kind == LAMELLA_KIND_SCALAR)
        read_numbers(api().operator_argument(op, k)->name, k);
  }
  uint32_t size() const { return n_; }
  int count() const { return count_; }
  void fill(uint32_t i, lamella_value* one) const {
    for (int k = 0; k < count_; k++) {
      const lamella_value& v = args_[k];
      if (v.tag == LAMELLA_TENSOR_LIST)
        one[k] = lamella::value(v.as.tensors[i]);
      else if (v.tag == LAMELLA_VALUE_LIST)
        one[k] = v.as.values[i];
      else
        one[k] = k == numbers_at_ ? numbers_[i].value() : v;
    }
  }

 private:
  static bool is_list(const lamella_value& v) { return v.tag == LAMELLA_TENSOR_LIST || v.tag == LAMELLA_VALUE_LIST; }
  // Reads a row of numbers in a tensor, one for each place.
  void read_numbers(const char* name, int k) {
    const Tensor row = Tensor::borrow(args_[k].as.tensor);
    LAMELLA_CHECK(row.dim() == 1 && row.size(0) == n_, argument(name), ": expected a row of ", n_,
                  " numbers, got shape ", shape_text(row));
    numbers_at_ = k;
    for (uint32_t i = 0; i < n_; i++) numbers_.push_back(row.select(0, i).item());
  }

  const lamella_value* args_;
  int count_, numbers_at_ = -1;
  uint32_t n_ = 0;
  std::vector<Scalar> numbers_;
};

lamella_status each(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return detail::guarded_in(f, [&]() -> lamella_status {
    const lamella_operator* single = single_of(f->op);
    const Places places(f->op, single, args);
    const bool functional = api().operator_num_returns(f->op) == 1;
    if (!functional) check_apart(f->op, args, places.count(), places.size());
    std::vector<Tensor> results;
    if (functional) results.reserve(places.size());
    for (uint32_t i = 0; i < places.size(); i++) {
      lamella_value one[LAMELLA_MAX_ARGUMENTS], made = lamella::none();
      places.fill(i, one);
      if (lamella_status st = api().call(f, single, one, places.count(), &made, 1)) {
        if (st > 0) core::pending_error().message += " (in place " + std::to_string(i) + " of the lists)";
        return st;
      }
      if (functional)
        results.push_back(Tensor::steal(made.as.tensor));
      else
        api().value_release(&made);
    }
    return functional ? detail::Convert<std::vector<Tensor>>::put(std::move(results), rets) : LAMELLA_OK;
  });
}

std::vector<Tensor> norms(TensorList self, const Scalar& ord, std::optional<ScalarType> dtype) {
  LAMELLA_CHECK(self.size() > 0, argument("self"), ": expected at least one tensor");
  std::vector<Tensor> all;
  for (const Tensor& x : self) all.push_back(x.linalg_vector_norm(ord, std::nullopt, false, dtype));
  return all;
}

std::vector<Tensor> power_sums(TensorList self, const Scalar& ord, std::optional<ScalarType> dtype) {
  LAMELLA_CHECK(self.size() > 0, argument("self"), ": expected at least one tensor");
  std::vector<Tensor> all;
  for (const Tensor& x : self) all.push_back((dtype ? as(x, *dtype) : x).abs().pow(ord).sum());
  return all;
}

// ---- rows ----

struct Row {
  const char* names;  // without "_foreach_"
  const char* overload;
  const char* rest;    // the arguments after `self`
  const char* single;  // the single operator; "*" stands for the name
  // The example's arguments after x, in the call with lists and in the single call; for a single operator that is in
  // place, `in_single` is its whole result. Null: the row has no documentation.
  const char *in_lists, *in_single;
};

#define NUMBER ", Scalar scalar"
#define NUMBERS ", Scalar[] scalars"
#define OTHERS ", Tensor[] other"
#define TWO_LISTS ", Tensor[] tensor1, Tensor[] tensor2"

const Row both_forms[] = {
    {"abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round "
     "rsqrt sigmoid sign sin sinh sqrt tan tanh trunc",
     "", "", "*", "", ""},
    {"add sub mul div", "Scalar", NUMBER, "*.Scalar", ", 2", ", 2"},
    {"add", "Tensor", ", Tensor other, *, Scalar alpha=1", "*.Tensor", nullptr, nullptr},
    {"add sub", "List", OTHERS ", *, Scalar alpha=1", "*.Tensor", nullptr, nullptr},
    {"mul div", "List", OTHERS, "*.Tensor", nullptr, nullptr},
    {"add sub mul div", "ScalarList", NUMBERS, "*.Scalar", nullptr, nullptr},
    {"mul div", "Tensor", ", Tensor other", "*.Tensor", nullptr, nullptr},
    {"clamp_min clamp_max", "Scalar", NUMBER, "*", ", 1", ", 1"},
    {"clamp_min clamp_max", "List", OTHERS, "*.Tensor", nullptr, nullptr},
    {"clamp_min clamp_max", "ScalarList", NUMBERS, "*", nullptr, nullptr},
    {"maximum", "Scalar", NUMBER, "clamp_min", ", 1", ", lamella.tensor([1.])"},
    {"maximum", "List", OTHERS, "clamp_min.Tensor", nullptr, nullptr},
    {"maximum", "ScalarList", NUMBERS, "clamp_min", nullptr, nullptr},
    {"minimum", "Scalar", NUMBER, "clamp_max", ", 1", ", lamella.tensor([1.])"},
    {"minimum", "List", OTHERS, "clamp_max.Tensor", nullptr, nullptr},
    {"minimum", "ScalarList", NUMBERS, "clamp_max", nullptr, nullptr},
    {"addcmul addcdiv", "Scalar", TWO_LISTS ", Scalar value=1", "*", ", [x], [x]", ", x, x"},
    {"addcmul addcdiv", "ScalarList", TWO_LISTS NUMBERS, "*", nullptr, nullptr},
    {"addcmul addcdiv", "Tensor", TWO_LISTS ", Tensor scalars", "*", nullptr, nullptr},
    {"lerp", "List", ", Tensor[] tensors1, Tensor[] weights", "*.Tensor", ", [x], [x]", ", x, x"},
    {"lerp", "Scalar", ", Tensor[] tensors1, Scalar weight", "*.Scalar", nullptr, nullptr},
    {"lerp", "ScalarList", ", Tensor[] tensors1, Scalar[] weight", "*.Scalar", nullptr, nullptr},
    {"pow", "List", ", Tensor[] exponent", "*.Tensor_Tensor", ", [x]", ", x"},
    {"pow", "Scalar", ", Scalar exponent", "*.Tensor_Scalar", nullptr, nullptr},
    {"pow", "ScalarList", ", Scalar[] exponent", "*.Tensor_Scalar", nullptr, nullptr},
};
const Row functions_alone[] = {
    {"max", "", "", "*", "", ""},
    {"clone", "", ", *, MemoryFormat? memory_format=None", "*", "", ""},
    {"mm", "", ", Tensor[] mat2", "*", ", [x]", ", x"},
};
const Row in_place_alone[] = {
    {"zero", "", "", "*_", "", "lamella.zeros(1)"},
    {"copy", "", ", Tensor[] src, bool non_blocking=False", "*_", ", [x + 1]", "x + 1"},
};

std::string page(const std::string& name, const Row& row, bool in_place) {
  const std::string single = name + (row.single[1] == '_' ? "_" : "");
  const std::string x = name == "mm" ? "lamella.tensor([[0.5]])" : "lamella.tensor([0.5])";
  const std::string call = "lamella._foreach_" + name + (in_place ? "_" : "");
  const std::string what = row.single[1] == '_' ? row.in_single : "lamella." + single + "(x" + row.in_single + ")";
  std::string text = "`" + single + "` for every place of the lists";
  text += in_place ? ", in place" : "; the results";
  text +=
      ". Lists, of tensors or of numbers, have one length, and what is no list\nholds for all.\n\nRaises:\n    "
      "RuntimeError: lists without tensors, or of different lengths\n\n>>> x = " +
      x + "\n";
  if (in_place)
    text += ">>> y = [x.clone()]\n>>> " + call + "(y" + row.in_lists + ")\n>>> y[0].equal(" + what + ")\nTrue\n";
  else
    text += ">>> " + call + "([x]" + row.in_lists + ")[0].equal(" + what + ")\nTrue\n";
  return text;
}

// Returns a copy that lives as long as the catalogue.
const char* kept(const std::string& text) { return (new std::string(text))->c_str(); }

void add(std::vector<Declaration>& table, const Row& row, const std::string& name, bool in_place) {
  const std::string overload = *row.overload ? std::string(".") + row.overload : "";
  const std::string whole = "_foreach_" + name + (in_place ? "_" : "") + overload;
  std::string single = row.single;
  if (single[0] == '*') single = name + single.substr(1);
  if (in_place && single.find('_', name.size()) != name.size()) {
    const size_t dot = std::min(single.find('.'), single.size());
    single.insert(dot, "_");
  }
  stand_for(whole, single);
  const std::string schema =
      whole + "(Tensor" + (in_place ? "(a!)" : "") + "[] self" + row.rest + ") -> " + (in_place ? "()" : "Tensor[]");
  const char* doc = row.in_lists ? kept(page(name, row, in_place)) : nullptr;
  table.push_back({.schema = kept(schema), .category = "lists", .forms = function, .composite = each, .doc = doc});
}

template <size_t N>
void add_all(std::vector<Declaration>& table, const Row (&rows)[N], bool functional, bool in_place) {
  for (const Row& row : rows) {
    const std::string names = std::string(row.names) + " ";
    for (size_t at = 0, end; (end = names.find(' ', at)) != names.npos; at = end + 1) {
      const std::string name = names.substr(at, end - at);
      if (functional) add(table, row, name, false);
      if (in_place) add(table, row, name, true);
    }
  }
}

}  // namespace

LAMELLA_FAMILY(foreach) {
  static const auto* table = [] {
    auto* all = new std::vector<Declaration>;
    add_all(*all, both_forms, true, true);
    add_all(*all, functions_alone, true, false);
    add_all(*all, in_place_alone, false, true);
    stand_for("_foreach_pow.ScalarAndTensor", "pow.Scalar");
    all->push_back({.schema = "_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]",
                    .category = "lists",
                    .forms = function,
                    .composite = each});
    all->push_back({.schema = "_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
                    .category = "lists",
                    .forms = function,
                    .composite = composite<norms>,
                    .doc = "The norm of every tensor, as `linalg.vector_norm` of all its elements.\n\n>>> "
                           "lamella._foreach_norm([lamella.tensor([3., 4.])])\n(tensor(5.),)\n"});
    all->push_back({.schema = "_foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
                    .category = "lists",
                    .forms = function,
                    .composite = composite<power_sums>,
                    .doc = "The sum of the powers of the sizes of every tensor's elements: the norm before the root is "
                           "drawn.\n\n>>> lamella._foreach_powsum([lamella.tensor([3., 4.])])\n(tensor(25.),)\n"});
    return all;
  }();
  return *table;
}

}  // namespace lamella::operators
