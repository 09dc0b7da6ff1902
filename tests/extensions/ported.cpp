// C++ as torch programs write it: strings of any kind, writes through x[i], functions that take arguments by value,
// results by reference, limits of half floats.
#include <lamella/extension.h>

#include <complex>
#include <limits>
#include <sstream>

using lamella::Tensor;
using lamella::variable_list;

static_assert(!std::is_constructible<bool, Tensor>::value, "a tensor is not true or false");
template <class T, class = void>
struct HasAccessor : std::false_type {};
template <class T>
struct HasAccessor<T, std::void_t<decltype(std::declval<T>().template accessor<float, 1>())>> : std::true_type {};
static_assert(HasAccessor<const Tensor&>::value && !HasAccessor<Tensor>::value, "it would point at what has gone");
static_assert(std::is_nothrow_move_assignable<Tensor>::value && std::is_copy_assignable<Tensor>::value,
              "as a variable");

namespace {

enum { ELEVEN = 11 };

struct ByValue : lamella::Function<ByValue> {
  static Tensor forward(lamella::AutogradContext*, Tensor x) { return x.exp(); }
  static variable_list backward(lamella::AutogradContext*, variable_list grads) { return {grads[0] * 3}; }
};
struct Reassigned : lamella::Function<Reassigned> {
  static Tensor forward(lamella::AutogradContext*, Tensor& x) {
    x = x.clone();
    return x * 1;
  }
  static variable_list backward(lamella::AutogradContext*, variable_list grads) { return {grads[0] * 5}; }
};
struct OfMany : lamella::Function<OfMany> {
  static bool wrong;
  static Tensor forward(lamella::AutogradContext*, const std::vector<std::optional<Tensor>>& list,
                        std::array<Tensor, 2> pair) {
    return (*list[1] + pair[0]) * pair[1];
  }
  static variable_list backward(lamella::AutogradContext* ctx, variable_list grads) {
    return {wrong ? grads[0] : Tensor(), ctx->needs_input_grad(1) ? grads[0] * 7 : Tensor(), grads[0] * 11,
            grads[0] * 13};
  }
};

bool OfMany::wrong = false;
struct Weighted : lamella::Function<Weighted> {
  static Tensor forward(lamella::AutogradContext* ctx, const Tensor& x, double weight, bool wrong) {
    ctx->saved_data["weight"] = weight;
    ctx->saved_data["wrong"] = wrong;
    return x * weight;
  }
  static variable_list backward(lamella::AutogradContext* ctx, variable_list grads) {
    const bool wrong = ctx->saved_data["wrong"].toBool();
    return {grads[0] * ctx->saved_data["weight"].toDouble(), wrong ? grads[0] : Tensor(), Tensor()};
  }
};

int deleted = 0;
Tensor kept[2];

// Returns lowest, max, min, epsilon, denorm_min, infinity, and whether there is a NaN.
template <class T>
std::vector<double> limits() {
  using L = std::numeric_limits<T>;
  constexpr T lowest = L::lowest();
  static_assert(L::is_specialized && L::has_infinity && std::numeric_limits<const T>::is_signed, "");
  const T all[] = {lowest, L::max(), L::min(), L::epsilon(), L::denorm_min(), L::infinity(), -L::infinity()};
  std::vector<double> numbers(std::begin(all), std::end(all));
  numbers.push_back(static_cast<float>(L::quiet_NaN()) != static_cast<float>(L::quiet_NaN()));
  numbers.insert(numbers.end(),
                 {double(L::digits), double(L::digits10), double(L::max_exponent), double(L::min_exponent)});
  return numbers;
}

}  // namespace

LAMELLA_LIBRARY(ported, m) {
  m.def("texts(Tensor x, Tensor y, str mode) -> Tensor[]", [](const Tensor& x, const Tensor& y, std::string_view mode) {
    const std::string text(mode);
    return variable_list{x.div(y, mode),
                         x.div(y, text),
                         x.div(y, "floor"),
                         x.div(y, std::nullopt),
                         x.norm(0),
                         lamella::searchsorted(x, y),
                         lamella::einsum(std::string("i,i->"), {x, y})};
  });
  m.def("writes(Tensor x, Tensor y) -> ()", [](const Tensor& x, const Tensor& y) {
    x[0] = y;
    x.select(0, 1) = y + 1;
    x[2] = 7.0;
    Tensor z = x;
    z = y;  // z now names the tensor y; no element is written
  });
  m.def("by_value(Tensor x) -> Tensor", [](const Tensor& x) { return ByValue::apply(x * 2); });
  m.def("reassigned(Tensor x) -> Tensor", [](const Tensor& x) {
    Tensor own = x * 2;
    return Reassigned::apply(own);
  });
  m.def("of_many(Tensor x, Tensor y, Tensor z) -> Tensor", [](const Tensor& x, const Tensor& y, const Tensor& z) {
    return OfMany::apply(std::vector<std::optional<Tensor>>{std::nullopt, x}, std::array<Tensor, 2>{y, z});
  });
  m.def("of_many_wrongly(bool yes) -> ()", [](bool yes) { OfMany::wrong = yes; });
  m.def("weighted(Tensor x, float weight, bool wrong) -> Tensor",
        [](const Tensor& x, double weight, bool wrong) { return Weighted::apply(x, weight, wrong); });
  m.def("twice_(Tensor(a!) x) -> Tensor(a!)", [](Tensor& x) -> Tensor& {
    x.mul_(2);
    return x;
  });
  m.def("both_(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
        [](Tensor& x, Tensor& y) { return std::tuple<Tensor&, Tensor&>(x, y); });
  m.def("cached(Tensor x) -> (Tensor, Tensor)", [](const Tensor& x) {
    for (Tensor& t : kept)
      if (!t.defined()) t = x.clone();
    return std::tuple<Tensor&, const Tensor&>(kept[0], kept[1]);
  });
  m.def("blob() -> ()", [] {
    static int64_t memory[2] = {1, 2};
    lamella::from_blob(
        memory, {2}, [](int64_t*) { deleted++; }, lamella::TensorOptions().requires_grad());
  });
  m.def("deleted() -> int", [] { return int64_t{deleted}; });
  m.def("bytes() -> Tensor", [] {
    static float memory[2] = {1, 2};
    return lamella::from_blob(reinterpret_cast<char*>(memory), {2}, lamella::kFloat).clone();
  });
  m.def("limits(bool brain) -> float[]",
        [](bool brain) { return brain ? limits<lamella::BFloat16>() : limits<lamella::Half>(); });
  m.def("conjugate(complex z, complex? w=None) -> complex",
        [](std::complex<double> z, std::optional<std::complex<double>> w) { return std::conj(z) + w.value_or(0.0); });
  m.def("through(complex z) -> complex", [](std::complex<double> z) {
    using Complex = std::complex<double>;
    static const lamella::Operator<Complex(Complex, std::optional<Complex>)> conjugate("ported::conjugate");
    return conjugate(z, Complex(1, 2));
  });
  m.def("made(Generator g) -> Tensor[]", [](const lamella::Generator& g) {
    const auto options = lamella::dtype(lamella::kDouble).device(lamella::kCPU, 0);
    const Tensor x = lamella::rand({2, 3}, options);
    return std::vector<Tensor>{x, lamella::randn({2}, options), lamella::randn({2}, g, options),
                               x.to(options.dtype(lamella::kInt)), lamella::rand({2})};
  });
  m.def("where(Tensor x) -> str", [](const Tensor& x) {
    const lamella::Device d = x.device();
    return std::string(x.is_cpu() && d.is_cpu() && d == lamella::kCPU && d == "cpu:0" && d != "cpu:1" ? "cpu"
                                                                                                      : "no cpu") +
           (x.is_cuda() || d.is_cuda() || d == lamella::kCUDA || d == "cuda:0" ? " cuda" : "");
  });
  m.def("sum_of(Tensor x) -> int", [](const Tensor& x) {
    double sum = 0;
    LAMELLA_DISPATCH_ALL_TYPES_AND3(lamella::kHalf, lamella::kBFloat16, lamella::kBool, x.dtype(), "sum_of", [&] {
      const auto a = x.accessor<scalar_t, 2>();
      LAMELLA_CHECK(a.sizes() == x.sizes() && a[0].strides() == x.strides().vec().back());
      for (int64_t i = 0; i < a.sizes()[0]; i++)
        for (int64_t j = 0; j < a[i].sizes()[0]; j++) sum += static_cast<double>(a[i][j]);
    });
    return static_cast<int64_t>(sum);
  });
  m.def("message() -> ()", [] {
    const int number = 1, *null = nullptr;
    LAMELLA_CHECK_VALUE(!number, "parts: ", &number, ' ', null, ' ', true, ' ', 'x', ' ', lamella::Half(1.5f), ' ',
                        ELEVEN);
  });
  m.def("flipped(bool[] bits) -> bool[]", [](std::vector<bool> bits) {
    bits.flip();
    return bits;
  });
  m.def("plain() -> str", [] {
    using namespace lamella;
    std::ostringstream to;
    to.precision(12);
    to << 1.0 / 3 << ' ' << true << ' ' << std::hex << 255 << " text " << std::string("more");
    return to.str();
  });
  m.def("flipped_by_name(bool[] bits) -> bool[]", [](const std::vector<bool>& bits) {
    static const lamella::Operator<std::vector<bool>(const std::vector<bool>&)> flipped("ported::flipped");
    return flipped(bits);
  });
  m.def("streamed(Tensor x) -> str", [](const Tensor& x) {
    std::ostringstream to;
    to << x << ' ' << x.sizes() << ' ' << x.dtype() << ' ' << x.device() << ' ' << lamella::Half(1.5f);
    return to.str();
  });
  m.def("byte_of(Scalar s) -> int", [](const lamella::Scalar& s) { return int64_t{s.to<uint8_t>()}; });
  m.def("short_of(Tensor x) -> int", [](const Tensor& x) { return int64_t{x.item<int16_t>()}; });
  m.def("long_of(Scalar s) -> int", [](const lamella::Scalar& s) { return s.to<int64_t>(); });
  m.def("large(Tensor x) -> Tensor", [](const Tensor& x) { return x + uint64_t{1} - UINT64_MAX; });
  m.def("inverse(Tensor x) -> Tensor", [](const Tensor& x) { return 2 / x; });
  m.def("late(Tensor x) -> (Tensor, Tensor)");
  m.infer("late", [](const Tensor& x, lamella::Output first, lamella::Output second) {
    first.dynamic();
    second.like(x);
  });
  m.impl("late", "cpu", [](const Tensor& x) { return std::make_tuple(x + 1, x + 2); });
  m.def("indexed(Tensor x, Tensor?[] at) -> Tensor", [](const Tensor& x, const std::vector<std::optional<Tensor>>& at) {
    static const lamella::Operator<Tensor(const Tensor&, const std::vector<std::optional<Tensor>>&)> index(
        "aten::index.Tensor");
    return index(x, at);
  });
  // behind_memory and behind_arguments read out of bounds; a test requires the sanitizer's report.
  m.def("behind_memory() -> int", [] {
    const std::vector<int64_t> one(1);
    const volatile size_t behind = 1;
    return one.data()[behind];
  });
  m.def("behind_arguments(int n) -> int",
        [](lamella_frame* frame, const lamella_value* args, lamella_value* rets) -> lamella_status {
          rets[0] = args[frame->num_args];
          return LAMELLA_OK;
        });
  m.def("strided(Tensor x) -> Tensor", [](const Tensor& x) { return x.clone(); });
  m.infer("strided", [](const Tensor& x, lamella::Output out) { out.set(x.sizes(), x.dtype(), {1, 2, 3}); });
}
