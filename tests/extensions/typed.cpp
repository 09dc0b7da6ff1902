// Operators of every kind on <lamella/extension.h> alone, in the namespace that a compiler flag gives.
#include <lamella/extension.h>

#include <complex>
#include <stdexcept>

#ifndef NAMESPACE
#define NAMESPACE typed
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

using namespace lamella;

namespace {

std::string shown(const std::optional<int64_t>& x) { return x ? std::to_string(*x) : "none"; }

std::string kinds(const Tensor& a, const std::optional<Tensor>& b, TensorList c,
                  const std::vector<std::optional<Tensor>>& d, int64_t e, std::optional<int64_t> f, double g, bool h,
                  const Scalar& i, std::string_view j, ScalarType k, Device l, IntArrayRef m, ArrayRef<double> n,
                  ArrayRef<bool> o, MemoryFormat p, std::optional<std::vector<int64_t>> q) {
  std::string present;
  for (const auto& t : d) present += t ? '1' : '0';
  return detail::text(a.sizes(), " ", b ? "some" : "none", " ", c.size(), " ", present, " ", e, " ", shown(f), " ", g,
                      " ", h, " ", i.toDouble(), " ", std::string(j), " ", k, " ", l, " ", m, " ", n, " ", o, " ",
                      static_cast<int>(p), " ", q ? detail::text(IntArrayRef(*q)) : std::string("none"));
}

std::tuple<Tensor, int64_t, double, bool, std::string, std::vector<int64_t>, std::vector<Tensor>, Scalar> results(
    Tensor x) {
  return {x, 7, 0.5, true, "text", {1, 2}, {x, x + 1}, Scalar(std::complex<double>(1, 2))};
}

/* Returns the called operator and its callers. */
std::string callers(lamella_frame* f, const Tensor&) {
  std::string all = title(f->op);
  for (f = f->parent; f; f = f->parent) all += " < " + title(f->op);
  return all;
}

void scaled(const Tensor& self, double by, const Tensor& out) {
  const Tensor x = self.contiguous(), y = out.is_contiguous() ? out : empty(out.sizes(), out.options());
  LAMELLA_DISPATCH_ALL_TYPES_AND2(kHalf, kBFloat16, x.dtype(), "scaled", [&] {
    const auto* in = x.const_data_ptr<scalar_t>();
    auto* to = y.mutable_data_ptr<scalar_t>();
    parallel_for(0, x.numel(), 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) to[i] = static_cast<scalar_t>(static_cast<double>(in[i]) * by);
    });
  });
  if (!y.is_same(out)) out.copy_(y);
}

// Returns the sum of the diagonal, read by an accessor.
Tensor diagonal_sum(const Tensor& x) {
  LAMELLA_CHECK_VALUE(x.dim() == 2 && x.size(0) == x.size(-1), "diagonal_sum: argument 'x' must be square, got ",
                      x.sizes());
  const auto a = x.accessor<float, 2>();
  float sum = 0;
  for (int64_t i = 0; i < a.size(0); i++) sum += a[i][i];
  return full({}, sum, x.options());
}

// The catalogue's operators as methods, as functions and as C++ operators.
Tensor methods(const Tensor& x, const Tensor& y) {
  Tensor z = (x + y * 2 - 1) / (2 + x.abs());
  z.add_(lamella::maximum(x, y)).mul_(3);
  z = z.transpose(0, 1).contiguous() - x.t().sum(0, true) * (x > y).to(kFloat);
  lamella::add_out(z, z, z[0], 0.5);
  const auto [values, indices] = z.max(1);
  return lamella::cat({values, indices.to(x.dtype()), std::get<0>(lamella::sort(z, 0))[0]}) + lamella::norm(x) +
         x.mean();
}

std::vector<Tensor> made() {
  static float storage[6] = {0, 1, 2, 3, 4, 5};
  static int64_t deleted = 0;
  auto* numbers = new double[2]{0.25, 4};
  std::vector<Tensor> all;
  all.push_back(from_blob(storage, {2, 3}));
  all.push_back(from_blob(storage, {3, 2}, {1, 3}).clone());
  all.push_back(from_blob(numbers, {2}, [](double* p) {
    deleted++;
    delete[] p;
  }));
  all.push_back(zeros({2}, dtype(kLong)));
  all.push_back(ones({1, 2}, TensorOptions(kBool).device("cpu")));
  all.push_back(full({2}, 2.5));
  all.push_back(arange(3, kShort));
  all.push_back(full({}, deleted, kLong));
  return all;
}

struct Cubed : Function<Cubed> {
  static variable_list forward(AutogradContext* ctx, const Tensor& x, int64_t n, const Tensor& kept) {
    const Tensor square = x * x;
    ctx->save_for_backward({x, square});
    ctx->saved_data["n"] = n;
    const Tensor sign = x.sign();
    ctx->mark_non_differentiable({sign});
    return {square * x * n, sign, kept};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const variable_list saved = ctx->get_saved_variables();
    LAMELLA_CHECK(ctx->needs_input_grad(0) || ctx->needs_input_grad(2), "nobody asked");
    const Tensor factor = saved[0] * saved[0] * (3 * ctx->saved_data["n"].toInt());
    return {grads[0] * factor, Tensor(), grads[2]};
  }
};

struct Halved : Function<Halved> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->mark_dirty({x});
    return x.mul_(0.5);
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 0.5}; }
};

[[noreturn]] void throws(const std::string& what) {
  if (what == "runtime") throw std::runtime_error("thrown here");
  if (what == "memory") throw std::bad_alloc();
  if (what == "number") throw 42;
  if (what == "value") throw Error(LAMELLA_VALUE_ERROR, "a value");
  if (what == "undefined") Tensor().size(0);
  if (what == "undefined operator") add(Tensor(), ones({1}));
  if (what == "undefined element") cat({ones({1}), Tensor()});
  if (what == "dtype") ones({1}).data<double>();
  if (what == "size") ones({2, 3}).size(2);
  if (what == "operator") ones({2}) + ones({3});
  if (what == "device") Device("nowhere");
  if (what == "item") ones({2}).item<float>();
  if (what == "meta") ones({2}, Device("meta")).data<float>();
  if (what == "dispatch") LAMELLA_DISPATCH_FLOATING_TYPES(kLong, "dispatch", [&] { (void)sizeof(scalar_t); });
  if (what == "index") LAMELLA_CHECK_INDEX(false, "index ", 3, " of ", IntArrayRef({1, 2}));
  if (what == "type") LAMELLA_CHECK_TYPE(false);
  if (what == "not implemented") LAMELLA_CHECK_NOT_IMPLEMENTED(what.empty(), "not ", 1.5, ' ', true);
  throw std::logic_error("unknown: " + what);
}

// Throws on the calling thread, or on all threads of a parallel loop.
Tensor fails(const std::string& what, bool in_parallel) {
  if (!in_parallel) throws(what);
  parallel_for(0, 64, 1, [&](int64_t, int64_t) { throws(what); });
  return Tensor();
}

// Catches an operator's error, and calls another operator: no pending error must be left.
std::string survives(const Tensor& x) {
  try {
    x + ones({17});
  } catch (const Error& e) {
    return detail::text(e.kind() == LAMELLA_RUNTIME_ERROR, " ", x.sum().item<double>());
  }
  return "no error";
}

// Computes 2 self, and -self unless that result is not wanted; refuses odd sizes by returning a status.
Status twofold(const Tensor& self, bool, const Tensor& twice, const std::optional<Tensor>& negative) {
  if (self.numel() % 2) return fail(LAMELLA_VALUE_ERROR, "twofold: argument 'self': an odd number of elements");
  twice.copy_(self * 2);
  if (negative) negative->copy_(-self);
  return LAMELLA_OK;
}

int64_t passed = 0; /* counts calls that a layer got */

}  // namespace

LAMELLA_LIBRARY(NAMESPACE, m) {
  m.def(
      "kinds(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, int e, int? f, float g, bool h, Scalar i, str j, ScalarType "
      "k, "
      "Device l, int[] m, float[] n, bool[] o, MemoryFormat p, int[]? q=None) -> str",
      kinds);
  m.def("holed(Tensor x) -> Tensor[]", [](const Tensor& x) { return std::vector<Tensor>{x, Tensor()}; });
  m.def("results(Tensor x) -> (Tensor, int, float, bool, str, int[], Tensor[], Scalar)", results);
  m.define("scaled(Tensor self, float by) -> Tensor", nullptr, nullptr, "Every element, scaled.",
           LAMELLA_FORM_FUNCTION | LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT);
  m.infer("scaled", [](const Tensor& self, double, Output out) { out.like(self); });
  m.impl("scaled", "cpu", scaled);
  m.define("grown(Tensor self, int times, *, bool exact=False) -> Tensor");
  m.define("grown_into(Tensor self, float by, *, bool exact=False) -> Tensor", nullptr, nullptr, nullptr,
           LAMELLA_FORM_FUNCTION | LAMELLA_FORM_OUT);
  m.infer("grown_into", [](const Tensor& self, double, bool, Output out) { out.like(self); });
  m.define("moved(Tensor self, int by) -> Tensor", nullptr, nullptr, nullptr,
           LAMELLA_FORM_FUNCTION | LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT);
  m.infer("moved", [](const Tensor& self, int64_t, Output out) { out.like(self); });
  m.impl("moved", "cpu", [](const Tensor& self, int64_t by) { return self + by; });  // ignores the output
  m.def("parts(Tensor self) -> (Tensor, Tensor)");
  m.infer("parts", [](const Tensor& self, Output head, Output tail) {
    head.set({1}, self.dtype());
    tail.set(self.sizes(), kDouble);
  });
  m.impl("parts", "cpu", [](const Tensor& self, const Tensor& head, const Tensor& tail) {
    head.copy_(self[0]);
    tail.copy_(self * 2);
  });
  m.def("twofold(Tensor self, bool both) -> (Tensor, Tensor)");
  m.infer("twofold", [](const Tensor& self, bool both, Output twice, Output negative) {
    twice.like(self);
    both ? negative.like(self) : negative.absent();
  });
  m.impl<twofold>("twofold", "cpu");
  m.def("unruled(Tensor self) -> Tensor");
  m.impl("unruled", "cpu", [](const Tensor& self, const Tensor& out) { out.copy_(self); });
  m.def("diagonal_sum(Tensor x) -> Tensor", diagonal_sum);
  m.def("methods(Tensor x, Tensor y) -> Tensor", methods);
  m.def("made() -> Tensor[]", made);
  m.def("count(int n) -> int", [n = int64_t{1}](int64_t by) mutable { return n += by; });
  m.def("grow_(Tensor(a!) self) -> Tensor(a!)", [](Tensor& self) -> Tensor& { return self.add_(1), self; });
  m.def("nothing(Tensor? x) -> Tensor?", [](const std::optional<Tensor>& x) { return x; });
  m.def("draw(Tensor self, Generator? generator=None) -> Tensor",
        [](const Tensor& self, const Generator& g) { return rand(self.sizes(), g, self.options()); });
  m.def("cubed(Tensor x, int n, Tensor kept) -> Tensor[]",
        [](const Tensor& x, int64_t n, const Tensor& kept) { return Cubed::apply(x, n, kept); });
  m.def("halved(Tensor x) -> Tensor", [](const Tensor& x) { return Halved::apply(x); });
  m.def("backward(Tensor x) -> Tensor", [](const Tensor& x) {
    const Tensor leaf = x.detach().clone().requires_grad_();
    LAMELLA_CHECK(leaf.requires_grad() && leaf.is_leaf());
    (leaf * leaf).sum().backward();
    NoGradGuard off;
    LAMELLA_CHECK(!(leaf * 2).requires_grad());
    return leaf.grad();
  });
  m.def("scaled_by_name(Tensor x) -> Tensor", [](const Tensor& x) {
    static const Operator<Tensor(const Tensor&, const Tensor&, const Scalar&)> add("aten::add.Tensor");
    return add(x, x, 3);
  });
  m.def("fails(str what, bool in_parallel=False) -> Tensor", fails);
  m.def("survives(Tensor x) -> str", survives);
  m.def("through(Tensor x, bool caught) -> Tensor", [](const Tensor& x, bool caught) {
    const Operator<Tensor(const Tensor&)> fail("typed_python::fail");
    try {
      return fail(x);
    } catch (const Error& e) {
      if (caught) survives(x); /* raises another error meanwhile */
      throw;
    }
  });
  m.def("passed() -> int", [] { return passed; });
  m.def("callers(Tensor self) -> str", callers);
  m.def("calls(Tensor self) -> str", [](const Tensor& self) {
    static const Operator<std::string(const Tensor&)> inner(TEXT(NAMESPACE) "::callers");
    return inner(self);
  });
  m.def("raw(Tensor self) -> Tensor",
        [](lamella_frame*, const lamella_value* args, lamella_value* rets) -> lamella_status {
          return api().value_retain(&args[0], &rets[0]);
        });
}

LAMELLA_LIBRARY_FRAGMENT(NAMESPACE, m) {
  m.def("watched(Tensor self) -> Tensor", [](const Tensor& self) { return self.clone(); });
  m.def("both(Tensor self) -> (Tensor, Tensor)",
        [](const Tensor& self) { return std::tuple<Tensor, Tensor>(self + 1, self + 2); });
  m.derivative("scaled", "self: grad * by");
}

/* Functions that were written before the argument `exact` existed. */
LAMELLA_LIBRARY_IMPL(NAMESPACE, cpu, m) {
  m.impl("grown", [](const Tensor& self, int64_t times) { return self * times; });
  m.impl("grown_into", scaled);
}

#ifdef WITH_LAYER /* for one library of a process: bits are few */
static std::tuple<Tensor, Tensor> both(lamella_frame* f, const Tensor& self) {
  const int32_t layer = f->layer;
  auto results = redispatch<std::tuple<Tensor, Tensor>>(f, self);
  LAMELLA_CHECK(f->layer == layer && layer >= 0, "the frame is not this kernel's any more");
  return results;
}
static Tensor watched(lamella_frame* f, const Tensor& self) {
  passed++;
  return redispatch<Tensor>(f, self);
}
static lamella_status watch_all(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  passed += 100;
  return api().redispatch(f, args, f->num_args, rets, f->num_rets);
}

// Returns lists and a dictionary of values that it was given.
static std::tuple<std::vector<std::string>, std::vector<std::optional<int64_t>>, std::vector<Scalar>> values(
    const std::vector<std::string>& names, const std::vector<Scalar>& numbers,
    const std::vector<std::optional<int64_t>>& holes, const lamella::Dict& weights) {
  std::vector<std::string> all = names;
  for (size_t i = 0; i < weights.size(); i++)
    all.push_back(std::string(weights.key(i)) + "=" + std::to_string(lamella::as_int(weights.value(i))));
  if (const lamella_value* a = weights.find("a")) all.push_back("a is " + std::to_string(lamella::as_int(*a)));
  std::vector<std::optional<int64_t>> turned(holes.rbegin(), holes.rend());
  return {all, turned, numbers};
}

LAMELLA_LIBRARY_FRAGMENT(NAMESPACE, m) {
  m.def("values(str[] names, Scalar[] numbers, int?[] holes, Dict(str, float) weights) -> (str[], int?[], Scalar[])",
        values);
  static lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = "typed_watch";
  layer.flags = LAMELLA_LAYER_FALLTHROUGH;
  static int32_t bit;
  m.layer(layer, &bit);
  m.def("watch(bool on) -> int", [](bool on) {
    auto& include = api().thread()->include;
    include = on ? include | uint64_t{1} << bit : include & ~(uint64_t{1} << bit);
    return passed;
  });
}
LAMELLA_LIBRARY_IMPL(NAMESPACE, typed_watch, m) {
  m.impl("watched", watched);
  m.impl("both", both);
  m.impl_category("matmul", [](lamella_frame* f, const lamella_value* args, lamella_value* rets) -> lamella_status {
    passed += 10;
    return api().redispatch(f, args, f->num_args, rets, f->num_rets);
  });
  m.fallback(watch_all);
}
#endif
