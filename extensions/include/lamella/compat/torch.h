/* Operators that were written for torch's C++, compiled unchanged: torch::, at:: and c10:: are this library's C++ by
 * those names, and the macros TORCH_LIBRARY, AT_DISPATCH_*, TORCH_CHECK and their kin are its own.
 *
 *   #include <torch/extension.h>   // which the builder finds with compat="torch": it is this header
 *
 *   at::Tensor twice(const at::Tensor& x) { return x * 2; }
 *   TORCH_LIBRARY(mine, m) { m.def("twice(Tensor self) -> Tensor", &twice); }
 *
 * docs/custom_operators_cpp.md says what is there. Absent are at::native and everything of ATen's insides, the old
 * Variable API, CUDA's streams and guards. A source that uses them does not compile. */
#ifndef LAMELLA_COMPAT_TORCH_H
#define LAMELLA_COMPAT_TORCH_H

/* The source makes a Python module if the builder defines LAMELLA_COMPAT_PYTHON, or if it has included <Python.h>. */
#if defined(LAMELLA_COMPAT_PYTHON) || defined(Py_PYTHON_H)
#include <lamella/python.h>
#endif

#include <lamella/extension.h>

#include <lamella/compat/checks.h>

#include <array>
#include <complex>
#include <cstdio>
#include <iostream> /* torch's header has it, and sources rely on that */

#pragma GCC visibility push(hidden)

namespace lamella {
namespace compat {

/* Translates torch's keys of autograd; the dispatcher translates other keys when kernels are registered. */
constexpr const char* key(const char* torch) {
  const std::string_view k = torch;
  if (k.substr(0, 8) == "Autograd") return "autograd";
  return torch;
}

enum class DispatchKey { CPU, CUDA, Meta, Autograd, CompositeImplicitAutograd, CompositeExplicitAutograd };
/* The tags of operators for torch's compiler, which have no effect here. */
enum class Tag { core, data_dependent_output, dynamic_output_shape, needs_fixed_stride_order, pt2_compliant_tag };

/* Returns the schema that follows from a C++ function's types: name(Tensor _0, float _1) -> (Tensor). */
template <class F>
std::string schema_of(const char* name, const F&) {
  using S = detail::SignatureFor<F>;
  char letter = 'a';
  const auto type_of = [&letter](const detail::CppType& t) {
    std::string text = detail::schema_type({0, t.kind, t.flags, -1, "", {}});
    const std::string mark = std::string("(") + letter + "!)";
    return t.flags & LAMELLA_ARGUMENT_WRITTEN ? (letter++, text.insert(6, mark)) : text; /* after "Tensor" */
  };
  std::string text = name;
  size_t i = 0;
  for (const detail::CppType& t : S::parameters())
    text += (i ? ", " : "(") + type_of(t) + " _" + std::to_string(i), i++;
  text += i ? ") -> (" : "() -> (";
  i = 0;
  for (const detail::CppType& t : S::results()) text += (i++ ? ", " : "") + type_of(t);
  return text + ")";
}

/* Turns autograd on again within a kernel under the key `autograd`, which runs with that layer off: a Function that
 * such a kernel applies is recorded, as in torch. */
class RecordingGuard {
 public:
  RecordingGuard() : thread_(api().thread()), saved_(thread_->exclude) {
    if (const lamella_autograd* a = Tensor::autograd()) thread_->exclude &= ~(uint64_t{1} << a->layer);
  }
  ~RecordingGuard() { thread_->exclude = saved_; }
  RecordingGuard(const RecordingGuard&) = delete;

 private:
  lamella_thread* thread_;
  uint64_t saved_;
};
template <class F, class R, class... P>
auto recorded(F fn, R (*)(P...)) {
  return [fn = std::move(fn)](P... args) -> R {
    const RecordingGuard recorded;
    return fn(std::forward<P>(args)...);
  };
}

/* The `m` of TORCH_LIBRARY: lamella::Library with torch's names. */
class Library {
 public:
  Library(lamella::Library& m, const char* key) : m_(m), autograd_(key && std::strcmp(key, "autograd") == 0) {}
  lamella::Library& own() { return m_; }

  Library& def(const char* schema, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return m_.def(own_name(schema), file, line), *this;
  }
  Library& def(const char* schema, std::initializer_list<Tag>, const char* file = __builtin_FILE(),
               int line = __builtin_LINE()) {
    return def(schema, file, line);
  }
  template <class F, class = IsFunction<F>>
  Library& def(const char* schema, F fn, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const bool whole = std::strchr(schema, '(') != nullptr;
    const std::string text = whole ? std::string(own_name(schema)) : schema_of(own_name(schema), fn);
    return m_.def(text.c_str(), std::move(fn), file, line), *this;
  }
  template <class F, class = IsFunction<F>>
  Library& impl(const char* op, F fn, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (autograd_)
      m_.impl(op, recorded(std::move(fn), typename detail::PointerOf<F>::type{}), file, line);
    else
      m_.impl(op, std::move(fn), file, line);
    return *this;
  }
  template <class F>
  Library& impl(const char* op, std::pair<const char*, F> keyed, const char* file = __builtin_FILE(),
                int line = __builtin_LINE()) {
    if (std::strcmp(keyed.first, "autograd") == 0)
      m_.impl(op, keyed.first, recorded(std::move(keyed.second), typename detail::PointerOf<F>::type{}), file, line);
    else
      m_.impl(op, keyed.first, std::move(keyed.second), file, line);
    return *this;
  }
  /* m.impl("twice", torch::kCPU, twice) */
  template <class K, class F, class = IsFunction<F>>
  Library& impl(const char* op, K key, F fn, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  /* The module with the operators' Python part: ignored, since the package imports it itself. */
  Library& set_python_module(const char*, const char* = "") { return *this; }
  Library& impl_abstract_pystub(const char*, const char* = "") { return *this; }

 private:
  /* Removes the library's own namespace, as in "mine::twice(...)", which torch takes, too. */
  const char* own_name(const char* schema) const {
    const std::string own = std::string(m_.ns()) + "::";
    return std::strncmp(schema, own.c_str(), own.size()) == 0 ? schema + own.size() : schema;
  }
  lamella::Library& m_;
  bool autograd_;
};

/* m.impl("twice", torch::dispatch(c10::DispatchKey::CPU, twice)) */
template <class F>
std::pair<const char*, F> dispatch(DispatchKey key, F fn) {
  static constexpr const char* names[] = {"cpu", "cuda", "meta", "autograd", "composite", "backend"};
  return {names[static_cast<int>(key)], std::move(fn)};
}
template <class F>
std::pair<const char*, F> dispatch(DeviceType type, F fn) {
  return {type.name(), std::move(fn)};
}

template <class K, class F, class>
Library& Library::impl(const char* op, K key, F fn, const char* file, int line) {
  return impl(op, dispatch(key, std::move(fn)), file, line);
}

/* A typed operator that is called by its name. */
template <class F>
class TypedHandle;
template <class R, class... P>
class TypedHandle<R(P...)> {
 public:
  explicit TypedHandle(const std::string& name) : operator_(name.c_str()) {}
  R call(P... args) const { return operator_(std::forward<P>(args)...); }
  R operator()(P... args) const { return call(std::forward<P>(args)...); }

 private:
  Operator<R(P...)> operator_;
};
template <class R, class... P>
class TypedHandle<R (*)(P...)> : public TypedHandle<R(P...)> {
 public:
  using TypedHandle<R(P...)>::TypedHandle;
};

class OperatorHandle {
 public:
  explicit OperatorHandle(std::string name) : name_(std::move(name)) {}
  template <class F>
  TypedHandle<F> typed() const {
    return TypedHandle<F>(name_);
  }

 private:
  std::string name_;
};

class Dispatcher {
 public:
  static Dispatcher& singleton() {
    static Dispatcher one;
    return one;
  }
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload) const {
    return OperatorHandle(*overload ? std::string(name) + "." + overload : std::string(name));
  }
};

/* Turns autograd off on this thread while it lives, for kernels under `autograd` and the operators that they call. */
class BelowAutograd {
  NoGradGuard guard_;
};

class AutoGradMode {
 public:
  explicit AutoGradMode(bool on) { on ? (void)on_.emplace() : (void)off_.emplace(); }

 private:
  std::optional<RecordingGuard> on_;
  std::optional<NoGradGuard> off_;
};

class GradMode {
 public:
  static bool is_enabled() {
    const lamella_autograd* a = Tensor::autograd();
    return a && !(api().thread()->exclude >> a->layer & 1);
  }
};

inline void warn(const std::string& message) { std::fprintf(stderr, "warning: %s\n", message.c_str()); }

/* The type in which sums of T are accumulated. */
template <class T>
struct Accumulated {
  using type = std::conditional_t<std::is_same<T, Half>::value || std::is_same<T, BFloat16>::value, float,
                                  std::conditional_t<std::is_same<T, float>::value, double,
                                                     std::conditional_t<std::is_integral<T>::value, int64_t, T>>>;
};
template <class T>
struct Computed {
  using type = std::conditional_t<std::is_same<T, Half>::value || std::is_same<T, BFloat16>::value, float, T>;
};

}  // namespace compat
}  // namespace lamella

namespace c10 {
using namespace lamella;
using lamella::compat::Dispatcher;
using std::in_place;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::string_view;
template <class T>
using List = std::vector<T>;
template <class T>
using complex = std::complex<T>;
using DispatchKey = lamella::compat::DispatchKey;
using SymInt = int64_t;
using SymIntArrayRef = IntArrayRef;
/* for (const auto i : c10::irange(n)), which counts in the type of the end */
template <class T>
class IntegerRange {
 public:
  IntegerRange(T begin, T end) : begin_(begin), end_(end < begin ? begin : end) {}
  struct Iterator {
    T at;
    T operator*() const { return at; }
    Iterator& operator++() { return ++at, *this; }
    bool operator!=(const Iterator& o) const { return at != o.at; }
  };
  Iterator begin() const { return {begin_}; }
  Iterator end() const { return {end_}; }

 private:
  T begin_, end_;
};
template <class End>
IntegerRange<End> irange(End end) {
  return {End(0), end};
}
template <class Begin, class End>
IntegerRange<End> irange(Begin begin, End end) {
  return {static_cast<End>(begin), end};
}
inline const char* toString(ScalarType t) { return name(t); }
inline bool isFloatingType(ScalarType t) { return is_floating_point(t); }
inline bool isIntegralType(ScalarType t, bool include_bool = false) { return is_integral(t, include_bool); }
inline bool isComplexType(ScalarType t) { return is_complex(t); }
inline size_t elementSize(ScalarType t) { return static_cast<size_t>(itemsize(t)); }
inline ScalarType typeMetaToScalarType(ScalarType t) { return t; }
inline int64_t maybe_wrap_dim(int64_t dim, int64_t dims, bool wrap_scalar = true) {
  const int64_t n = dims == 0 && wrap_scalar ? 1 : dims;
  LAMELLA_CHECK_INDEX(n > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  LAMELLA_CHECK_INDEX(dim >= -n && dim < n, "Dimension out of range (expected to be in range of [", -n, ", ", n - 1,
                      "], but got ", dim, ")");
  return dim < 0 ? dim + n : dim;
}
template <class T>
constexpr ScalarType CppTypeToScalarType_v = scalar_type_of<T>;
template <class T>
struct CppTypeToScalarType : std::integral_constant<ScalarType, scalar_type_of<T>> {};
}  // namespace c10

namespace at {
using namespace c10;
using namespace lamella::compat::arguments;
template <class T, bool Device = false>
using acc_type = typename lamella::compat::Accumulated<T>::type;
template <class T>
using opmath_type = typename lamella::compat::Computed<T>::type;
template <class T, size_t N>
using GenericPackedTensorAccessor = TensorAccessor<T, static_cast<int>(N)>;
using AutoDispatchBelowAutograd = lamella::compat::BelowAutograd;
using AutoDispatchBelowADInplaceOrView = lamella::compat::BelowAutograd;
using AutoNonVariableTypeMode = lamella::compat::BelowAutograd;
using Tag = lamella::compat::Tag;
using AutoGradMode = lamella::compat::AutoGradMode;
using GradMode = lamella::compat::GradMode;
namespace internal {
constexpr int64_t GRAIN_SIZE = 32768; /* the least number of elements for a further thread */
}
inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }
inline int get_num_threads() { return api().num_threads(); }
/* Combines the results of the pieces in their order. There are at most four pieces for each thread. */
template <class T, class F, class Combine>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain, T identity, const F& f, const Combine& combine) {
  struct Piece { /* a vector of these has an address for each element, also for bools */
    T value;
  };
  const int64_t step = std::max({grain, int64_t{1}, divup(end - begin, 4 * std::max(get_num_threads(), 1))});
  const int64_t pieces = begin < end ? divup(end - begin, step) : 0;
  std::vector<Piece> found(static_cast<size_t>(pieces), Piece{identity});
  parallel_for(0, pieces, 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++)
      found[static_cast<size_t>(i)].value = f(begin + i * step, std::min(end, begin + (i + 1) * step), identity);
  });
  T all = identity;
  for (const Piece& x : found) all = combine(all, x.value);
  return all;
}
namespace indexing = lamella::indexing;
}  // namespace at

namespace torch {
using namespace at;
using Dtype = ScalarType;
using at::AutoGradMode;
namespace indexing = lamella::indexing;
using lamella::compat::dispatch;
namespace autograd {
using namespace lamella;
using AutoGradMode = lamella::compat::AutoGradMode;
using tensor_list = variable_list;
using Variable = Tensor;
}  // namespace autograd
using Library = lamella::compat::Library;
/* A tensor of numbers, as torch::tensor({1.0, 2.0}). */
template <class T>
Tensor tensor(ArrayRef<T> data, const TensorOptions& options = {}) {
  const bool number = std::is_same<T, float>::value || std::is_same<T, double>::value;
  const ScalarType own = number                        ? empty(0).scalar_type() /* the default dtype */
                         : std::is_same<T, int>::value ? kLong
                                                       : scalar_type_of<T>;
  const Tensor over = from_blob(const_cast<T*>(data.data()), {static_cast<int64_t>(data.size())});
  const Tensor made = over.to(options.dtype().value_or(own), false, true).to(options.device());
  return options.requires_grad_set() ? made.set_requires_grad(true) : made;
}
template <class T>
Tensor tensor(std::initializer_list<T> data, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(data), options);
}
template <class T>
Tensor tensor(const std::vector<T>& data, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(data), options);
}
template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
Tensor tensor(T x, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(x), options).reshape(IntArrayRef());
}
}  // namespace torch

#ifdef Py_PYTHON_H
namespace lamella {
namespace compat {
/* Makes a module that the source defines itself, after it has run the file's registrations. */
inline PyObject* create_module(PyModuleDef* def) {
  static const char here = 0;
  return lamella::python::run_registrations(&here) < 0 ? nullptr : PyModule_Create2(def, PYTHON_API_VERSION);
}
}  // namespace compat
}  // namespace lamella
#undef PyModule_Create
#define PyModule_Create(def) ::lamella::compat::create_module(def)
#endif

#pragma GCC visibility pop

/* ---- registration ---- */

#define TORCH_LIBRARY(ns, m) LAMELLA_TORCH_(ns, nullptr, LAMELLA_DEFINES, m, __COUNTER__)
#define TORCH_LIBRARY_FRAGMENT(ns, m) LAMELLA_TORCH_(ns, nullptr, LAMELLA_EXTENDS, m, __COUNTER__)
#define TORCH_LIBRARY_IMPL(ns, k, m) LAMELLA_TORCH_(ns, ::lamella::compat::key(#k), LAMELLA_IMPLEMENTS, m, __COUNTER__)
#define LAMELLA_TORCH_(ns, key, kind, m, id) LAMELLA_TORCH_NUMBERED_(ns, key, kind, m, id)
#define LAMELLA_TORCH_NUMBERED_(ns, key, kind, m, id)                       \
  static void LAMELLA_CAT(torch_body_, id)(::lamella::compat::Library & m); \
  LAMELLA_BLOCK_(ns, 0, key, kind, lamella_library, id) {                   \
    ::lamella::compat::Library own(lamella_library, key);                   \
    LAMELLA_CAT(torch_body_, id)(own);                                      \
  }                                                                         \
  static void LAMELLA_CAT(torch_body_, id)(::lamella::compat::Library & m)
#define TORCH_FN(f) (&f)
#define TORCH_SELECTIVE_NAME(name) name
#define TORCH_SELECTIVE_SCHEMA(schema) schema

/* ---- checks ---- */

#define TORCH_CHECK(...) LAMELLA_CHECK(__VA_ARGS__)
#define TORCH_CHECK_VALUE(...) LAMELLA_CHECK_VALUE(__VA_ARGS__)
#define TORCH_CHECK_TYPE(...) LAMELLA_CHECK_TYPE(__VA_ARGS__)
#define TORCH_CHECK_INDEX(...) LAMELLA_CHECK_INDEX(__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(...) LAMELLA_CHECK_NOT_IMPLEMENTED(__VA_ARGS__)
#define TORCH_CHECK_EQ(a, b) LAMELLA_CHECK((a) == (b), "expected " #a " == " #b)
#define TORCH_CHECK_NE(a, b) LAMELLA_CHECK((a) != (b), "expected " #a " != " #b)
#define TORCH_CHECK_LT(a, b) LAMELLA_CHECK((a) < (b), "expected " #a " < " #b)
#define TORCH_CHECK_LE(a, b) LAMELLA_CHECK((a) <= (b), "expected " #a " <= " #b)
#define TORCH_CHECK_GT(a, b) LAMELLA_CHECK((a) > (b), "expected " #a " > " #b)
#define TORCH_CHECK_GE(a, b) LAMELLA_CHECK((a) >= (b), "expected " #a " >= " #b)
#define TORCH_INTERNAL_ASSERT(...) LAMELLA_CHECK(__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) static_cast<void>(0)
#define TORCH_WARN(...) ::lamella::compat::warn(::lamella::detail::text(__VA_ARGS__))
#define TORCH_WARN_ONCE(...)                                                   \
  do {                                                                         \
    [[maybe_unused]] static const bool told = (TORCH_WARN(__VA_ARGS__), true); \
  } while (0)
#define AT_ASSERT(...) LAMELLA_CHECK(__VA_ARGS__)
#define AT_ASSERTM(...) LAMELLA_CHECK(__VA_ARGS__)
#define AT_CHECK(...) LAMELLA_CHECK(__VA_ARGS__)
#define AT_ERROR(...) LAMELLA_CHECK(false, __VA_ARGS__)
#define C10_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)
#define C10_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define C10_HOST_DEVICE
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))

/* ---- dtypes ---- */

#define AT_DISPATCH_SWITCH LAMELLA_DISPATCH_SWITCH
#define AT_DISPATCH_CASE LAMELLA_DISPATCH_CASE
#define AT_DISPATCH_CASE_FLOATING_TYPES LAMELLA_DISPATCH_CASE_FLOATING_TYPES
#define AT_DISPATCH_CASE_INTEGRAL_TYPES LAMELLA_DISPATCH_CASE_INTEGRAL_TYPES
#define AT_DISPATCH_CASE_ALL_TYPES LAMELLA_DISPATCH_CASE_ALL_TYPES
#define AT_DISPATCH_CASE_COMPLEX_TYPES LAMELLA_DISPATCH_CASE_COMPLEX_TYPES
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES LAMELLA_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX LAMELLA_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX
#define AT_DISPATCH_FLOATING_TYPES LAMELLA_DISPATCH_FLOATING_TYPES
#define AT_DISPATCH_FLOATING_TYPES_AND LAMELLA_DISPATCH_FLOATING_TYPES_AND
#define AT_DISPATCH_FLOATING_TYPES_AND2 LAMELLA_DISPATCH_FLOATING_TYPES_AND2
#define AT_DISPATCH_FLOATING_TYPES_AND3 LAMELLA_DISPATCH_FLOATING_TYPES_AND3
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF LAMELLA_DISPATCH_FLOATING_TYPES_AND_HALF
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(dtype, what, ...)                   \
  LAMELLA_DISPATCH_SWITCH(dtype, what,                                         \
                          LAMELLA_DISPATCH_CASE(::lamella::kHalf, __VA_ARGS__) \
                              LAMELLA_DISPATCH_CASE(::lamella::kBFloat16, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES LAMELLA_DISPATCH_INTEGRAL_TYPES
#define AT_DISPATCH_INTEGRAL_TYPES_AND LAMELLA_DISPATCH_INTEGRAL_TYPES_AND
#define AT_DISPATCH_ALL_TYPES LAMELLA_DISPATCH_ALL_TYPES
#define AT_DISPATCH_ALL_TYPES_AND LAMELLA_DISPATCH_ALL_TYPES_AND
#define AT_DISPATCH_ALL_TYPES_AND2 LAMELLA_DISPATCH_ALL_TYPES_AND2
#define AT_DISPATCH_ALL_TYPES_AND3 LAMELLA_DISPATCH_ALL_TYPES_AND3
#define AT_DISPATCH_COMPLEX_TYPES LAMELLA_DISPATCH_COMPLEX_TYPES
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES LAMELLA_DISPATCH_FLOATING_AND_COMPLEX_TYPES
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND LAMELLA_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1 LAMELLA_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2 LAMELLA_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3 LAMELLA_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX LAMELLA_DISPATCH_ALL_TYPES_AND_COMPLEX
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND LAMELLA_DISPATCH_ALL_TYPES_AND_COMPLEX_AND
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2 LAMELLA_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3 LAMELLA_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3
/* In the body, the integer type is called index_t. */
#define AT_DISPATCH_INDEX_TYPES(dtype, what, ...)                     \
  [&] {                                                               \
    const ::lamella::ScalarType lamella_dispatched = (dtype);         \
    switch (lamella_dispatched) {                                     \
      case ::lamella::kInt: {                                         \
        using index_t [[maybe_unused]] = int32_t;                     \
        return __VA_ARGS__();                                         \
      }                                                               \
      case ::lamella::kLong: {                                        \
        using index_t [[maybe_unused]] = int64_t;                     \
        return __VA_ARGS__();                                         \
      }                                                               \
      default:                                                        \
        ::lamella::detail::dispatch_failed(what, lamella_dispatched); \
    }                                                                 \
  }()

#endif
