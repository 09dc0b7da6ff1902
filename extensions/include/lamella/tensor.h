/* lamella::Tensor, which owns one reference: its shape, its elements, and, with <lamella/operators.h>, every operator
 * of the catalogue as a method. An undefined one (Tensor()) stands for "none"; any other use of it is an error. */
#ifndef LAMELLA_TENSOR_H
#define LAMELLA_TENSOR_H

#include <lamella/tensor_methods.h>

#include <array>
#include <atomic>
#include <iosfwd>
#include <tuple>

#pragma GCC visibility push(hidden)

namespace lamella {

template <class T, int N>
class TensorAccessor;
class TensorIndex;

class Tensor : public TensorMethods {
 public:
  Tensor() = default;
  Tensor(const TensorRef& t) { static_cast<TensorRef&>(*this) = t; }
  Tensor(TensorRef&& t) noexcept { static_cast<TensorRef&>(*this) = std::move(t); }
  /* Converts an argument that may be absent: undefined if it is. */
  template <class Optional, class = std::enable_if_t<std::is_same<Optional, std::optional<Tensor>>::value>>
  Tensor(const Optional& t) : Tensor(t ? *t : Tensor()) {}
  Tensor(std::nullopt_t) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
#ifndef LAMELLA_NO_OPERATORS
  /* x[i] = y writes the elements: a temporary would be no use as a handle of another tensor. */
  void operator=(const Tensor& from) && { copy_(from); }
  void operator=(Tensor&& from) && { copy_(from); }
  void operator=(const Scalar& x) && { fill_(x); }
#endif
  /* Deleted, as it could mean defined() or item(): call one of them. */
  explicit operator bool() const = delete;
  static Tensor steal(lamella_tensor* t) { return TensorRef::steal(t); }
  static Tensor borrow(lamella_tensor* t) { return TensorRef::borrow(t); }

  /* Gives the reference away: the caller owns it, and this tensor is undefined. */
  lamella_tensor* release() { return static_cast<TensorRef&>(*this).take(); }

  bool defined() const { return get() != nullptr; }
  bool is_same(const Tensor& o) const { return get() == o.get(); }

  int64_t dim() const { return there()->dl.ndim; }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return there()->numel; }
  int64_t nelement() const { return numel(); }
  IntArrayRef sizes() const { return {there()->dl.shape, static_cast<size_t>(get()->dl.ndim)}; }
  IntArrayRef strides() const { return {there()->dl.strides, static_cast<size_t>(get()->dl.ndim)}; }
  int64_t size(int64_t d) const { return there()->dl.shape[wrapped(d)]; }
  int64_t stride(int64_t d) const { return there()->dl.strides[wrapped(d)]; }
  int64_t storage_offset() const { return there()->storage_offset; }
  ScalarType dtype() const { return static_cast<ScalarType>(there()->dtype); }
  ScalarType scalar_type() const { return dtype(); }
  int64_t itemsize() const { return static_cast<uint32_t>(there()->dl.dtype.bits) * there()->dl.dtype.lanes / 8; }
  int64_t element_size() const { return itemsize(); }
  int64_t nbytes() const { return numel() * itemsize(); }
  Device device() const { return Device(device_of(there())); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_meta() const { return device().is_meta(); }
  Layout layout() const { return there(), kStrided; }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
    if (format != MemoryFormat::ChannelsLast) return lamella::is_contiguous(there());
    int64_t expected = 1; /* the stride of the channels, then of the other dimensions from the last */
    for (const int d : {1, 3, 2, 0}) {
      if (dim() != 4 || (size(d) != 1 && stride(d) != expected)) return false;
      expected *= size(d);
    }
    return true;
  }
  MemoryFormat suggest_memory_format() const {
    const bool last = !is_contiguous() && is_contiguous(MemoryFormat::ChannelsLast);
    return last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous;
  }
  /* Returns whether only a layer has its values: Note [Opaque tensors] in <lamella/c_api.h>. */
  bool is_opaque() const { return (there()->flags & LAMELLA_OPAQUE) != 0; }
  bool is_floating_point() const { return lamella::is_floating_point(dtype()); }
  bool is_complex() const { return lamella::is_complex(dtype()); }
  TensorOptions options() const { return TensorOptions(dtype()).device(device()); }

  /* Returns the elements, which must be of exactly this type. The elements of a const Tensor may be written, too:
   * const protects the handle only. */
  template <class T>
  T* data_ptr() const {
    using Element = std::remove_cv_t<T>;
    if (__builtin_expect(there()->dtype != static_cast<uint8_t>(scalar_type_of<Element>), 0))
      other_dtype(scalar_type_of<Element>);
    if (__builtin_expect(get()->dl.data == nullptr && get()->numel != 0, 0)) no_data();
    return static_cast<T*>(get()->dl.data);
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  void* data_ptr() const { return there()->dl.data; }

  /* Elements by their indices: a[i][j] of x.accessor<float, 2>(), as long as x lives. */
  template <class T, int N>
  TensorAccessor<T, N> accessor() && = delete;
  template <class T, int N>
  TensorAccessor<T, N> accessor() const& {
    LAMELLA_CHECK(dim() == N, "accessor: expected ", N, " dimensions, got ", dim());
    return TensorAccessor<T, N>(data_ptr<T>(), get()->dl.shape, get()->dl.strides);
  }

#ifndef LAMELLA_NO_OPERATORS
  /* Methods that are no operators, under their usual names. */
  Tensor cpu() const { return to(Device(kCPU)); }
  Tensor cuda() const { return to(Device(kCUDA)); }
  Tensor type_as(const Tensor& other) const { return to(other.device(), other.dtype()); }
  Tensor toType(ScalarType t) const { return to(t); }
  Tensor new_empty(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Tensor new_zeros(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Tensor new_ones(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Tensor new_full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {}) const;
  bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) const;
  /* As Python's x[...] and x[...] = y: <lamella/indexing.h>. */
  Tensor index(std::initializer_list<TensorIndex> at) const;
  Tensor index(ArrayRef<TensorIndex> at) const;
  Tensor index(TensorList at) const { return TensorMethods::index(at); }
  const Tensor& index_put_(std::initializer_list<TensorIndex> at, const Tensor& values) const;
  const Tensor& index_put_(std::initializer_list<TensorIndex> at, const Scalar& value) const;
  const Tensor& index_put_(ArrayRef<TensorIndex> at, const Tensor& values) const;
  using TensorMethods::index_put_;
  using TensorMethods::item;
  template <class T>
  T item() const {
    return item().template to<T>();
  }
  Tensor operator[](int64_t i) const { return select(0, i); }
  using TensorMethods::to;
  /* Converts to the dtype and the device of the options. */
  template <class Options, class = std::enable_if_t<std::is_same<Options, TensorOptions>::value>>
  Tensor to(const Options& options, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = {}) const {
    LAMELLA_CHECK_VALUE(!options.requires_grad_set(),
                        "to: the options must not set requires_grad; call requires_grad_() on the result");
    return to(options.device(), options.dtype(), non_blocking, copy, memory_format);
  }
#endif

  /* Reads the plugin that differentiates; without one, no tensor requires a gradient. */
  bool requires_grad() const {
    const lamella_autograd* a = autograd();
    return a && a->requires_grad(there());
  }
  const Tensor& set_requires_grad(bool on) const {
    if (!on && !autograd()) return *this;
    check(needed_autograd().set_requires_grad(there(), on));
    return *this;
  }
  const Tensor& requires_grad_(bool on = true) const { return set_requires_grad(on); }
  Tensor grad() const {
    const lamella_autograd* a = autograd();
    lamella_tensor* found = nullptr;
    if (a) check(a->grad(there(), &found));
    return steal(found);
  }
  bool is_leaf() const { return !autograd() || autograd()->is_leaf(there()); }
  void backward(const Tensor& gradient = Tensor(), bool retain_graph = false, bool create_graph = false) const {
    lamella_tensor *root = there(), *from = gradient.get();
    const uint32_t flags = LAMELLA_BACKWARD_ACCUMULATE | (create_graph ? uint32_t{LAMELLA_BACKWARD_CREATE_GRAPH} : 0) |
                           (retain_graph || create_graph ? uint32_t{LAMELLA_BACKWARD_RETAIN_GRAPH} : 0);
    check(needed_autograd().backward(&root, &from, 1, nullptr, 0, nullptr, flags));
  }

  /* The interface "autograd", or null without a plugin that has it. */
  static const lamella_autograd* autograd() {
    static std::atomic<const lamella_autograd*> found{nullptr};
    const lamella_autograd* a = found.load(std::memory_order_acquire);
    if (!a) found = a = static_cast<const lamella_autograd*>(api().find_interface("autograd", 1));
    return a;
  }

 private:
  static const lamella_autograd& needed_autograd() {
    LAMELLA_CHECK(autograd(), "no plugin computes gradients: install or allow the plugin 'autograd'");
    return *autograd();
  }
  lamella_tensor* there() const {
    if (__builtin_expect(get() == nullptr, 0)) undefined();
    return get();
  }
  int64_t wrapped(int64_t d) const {
    const int64_t n = get()->dl.ndim;
    if (__builtin_expect(d < -n || d >= n, 0)) out_of_range(d);
    return d < 0 ? d + n : d;
  }
  [[noreturn]] __attribute__((cold, noinline)) static void undefined() {
    throw Error(LAMELLA_RUNTIME_ERROR, "this tensor is undefined: it has no shape, no dtype and no elements");
  }
  [[noreturn]] __attribute__((cold, noinline)) void out_of_range(int64_t d) const {
    throw Error(LAMELLA_INDEX_ERROR, detail::text("dimension ", d, " is out of range for a tensor of shape ", sizes()));
  }
  [[noreturn]] __attribute__((cold, noinline)) void other_dtype(ScalarType wanted) const {
    throw Error(LAMELLA_TYPE_ERROR, detail::text("data: the elements are ", dtype(), ", not ", wanted));
  }
  [[noreturn]] __attribute__((cold, noinline)) void no_data() const {
    throw Error(LAMELLA_NOT_IMPLEMENTED, detail::text("data: ", is_opaque() ? "an opaque tensor" : "a tensor",
                                                      " on device ", device(), " has a shape and no elements"));
  }
};
static_assert(sizeof(Tensor) == sizeof(lamella_tensor*), "a list of Tensor is a list of lamella_tensor*");

/* The undefined tensor, which stands for "none". */
inline const Tensor& undefined() {
  static const Tensor none;
  return none;
}

inline void append_part(std::string& to, const Tensor& t) {
  to += t.defined() ? detail::text("Tensor(shape=", t.sizes(), ", dtype=", t.dtype(), ")") : std::string("Tensor()");
}

/* Writes an object of a type of Lamella's into a std::ostream, as it appears in a message. */
template <class Traits, class T,
          class = std::enable_if_t<!std::is_arithmetic<T>::value && !std::is_pointer<std::decay_t<T>>::value &&
                                   !std::is_convertible<const T&, std::string_view>::value>>
auto operator<<(std::basic_ostream<char, Traits>& to, const T& x)
    -> decltype(append_part(std::declval<std::string&>(), x), static_cast<std::basic_ostream<char, Traits>&>(to)) {
  const std::string text = detail::text(x);
  to.write(text.data(), text.size());
  return to;
}

namespace detail {

/* An operator found when it is first called. */
class Callee {
 public:
  constexpr Callee(const char* name, const char* overload) : name_(name), overload_(overload) {}
  const lamella_operator* get() {
    const lamella_operator* op = op_.load(std::memory_order_acquire);
    return __builtin_expect(op != nullptr, 1) ? op : find();
  }

  template <size_t N>
  Tensor tensor(const lamella_value (&args)[N]) {
    lamella_value ret;
    call(args, N, &ret, 1);
    return steal(ret);
  }
  template <size_t N>
  std::vector<Tensor> tensors(const lamella_value (&args)[N]) {
    lamella_value ret;
    call(args, N, &ret, 1);
    return stolen_list(ret);
  }
  template <size_t N>
  std::tuple<Tensor, std::vector<Tensor>> tensor_and_list(const lamella_value (&args)[N]) {
    lamella_value rets[2];
    call(args, N, rets, 2);
    return {steal(rets[0]), stolen_list(rets[1])};
  }
  template <size_t Results, size_t N>
  auto several(const lamella_value (&args)[N]) {
    lamella_value rets[Results];
    call(args, N, rets, Results);
    return stolen(rets, std::make_index_sequence<Results>());
  }
  template <size_t N>
  Scalar scalar(const lamella_value (&args)[N]) {
    lamella_value ret;
    call(args, N, &ret, 1);
    const Scalar s(ret);
    api().value_release(&ret);
    return s;
  }
  /* Calls an in-place or out= form, whose results the caller has. */
  template <size_t Results = 1, size_t N>
  void written(const lamella_value (&args)[N]) {
    lamella_value rets[Results];
    call(args, N, rets, Results);
    for (lamella_value& v : rets) api().value_release(&v);
  }
  template <size_t N>
  void nothing(const lamella_value (&args)[N]) {
    call(args, N, nullptr, 0);
  }

 private:
  void call(const lamella_value* args, int32_t num_args, lamella_value* rets, int32_t num_rets) {
    check(api().call(nullptr, get(), args, num_args, rets, num_rets));
  }
  static Tensor steal(const lamella_value& v) { return Tensor::steal(v.tag == LAMELLA_TENSOR ? v.as.tensor : nullptr); }
  static std::vector<Tensor> stolen_list(lamella_value& v) {
    const TensorList list(reinterpret_cast<const Tensor*>(v.as.tensors), v.tag == LAMELLA_TENSOR_LIST ? v.length : 0);
    std::vector<Tensor> all(list.begin(), list.end());
    api().value_release(&v);
    return all;
  }
  template <size_t... I>
  static auto stolen(const lamella_value* rets, std::index_sequence<I...>) {
    return std::make_tuple(steal(rets[I])...);
  }
  const lamella_operator* find() {
    const lamella_operator* op = api().find_operator(name_, overload_);
    LAMELLA_CHECK(op, "there is no operator ", name_, *overload_ ? "." : "", overload_, " in lamella ",
                  api().library_version);
    op_ = op;
    return op;
  }

  const char *name_, *overload_;
  std::atomic<const lamella_operator*> op_{nullptr};
};

/* Applies requires_grad, the option of a factory that is no argument of its operator. */
inline Tensor finished(Tensor t, const TensorOptions& options) {
  if (options.requires_grad_set()) t.set_requires_grad(true);
  return t;
}

/* Numbers as a list of values. */
struct Scalars {
  explicit Scalars(ArrayRef<Scalar> list) {
    all.reserve(list.size());
    for (const Scalar& x : list) all.push_back(x.value());
  }
  operator lamella_value() const {
    lamella_value v{LAMELLA_VALUE_LIST, static_cast<uint32_t>(all.size()), {0}};
    v.as.values = all.data();
    return v;
  }
  std::vector<lamella_value> all;
};

/* A number for each of n dimensions; a list of one number is repeated. */
template <int N>
struct Repeated {
  explicit Repeated(IntArrayRef list) : list(list) {
    if (list.size() == 1)
      for (int64_t& x : all) x = list[0];
  }
  operator lamella_value() const {
    return list.size() == 1 ? lamella::value(IntArrayRef(all, N)) : lamella::value(list);
  }
  IntArrayRef list;
  int64_t all[N];
};

}  // namespace detail

inline lamella_value value(const OptionalIntArrayRef& list) { return list.has_value() ? value(*list) : none(); }
inline lamella_value value(TensorList list) {
  lamella_value v{LAMELLA_TENSOR_LIST, static_cast<uint32_t>(list.size()), {0}};
  v.as.tensors = reinterpret_cast<lamella_tensor* const*>(list.data());
  return v;
}

namespace detail {
/* The value of an argument whose type is named, with no choice among the overloads above. */
template <class T>
inline lamella_value as(T x) {
  return lamella::value(x);
}
}  // namespace detail

/* A dictionary of names to values, borrowed: an argument of type Dict(str, T). */
class Dict {
 public:
  explicit Dict(const lamella_value& v) : v_(v) {}
  size_t size() const { return v_.length; }
  bool empty() const { return size() == 0; }
  std::string_view key(size_t i) const { return {v_.as.values[2 * i].as.string, v_.as.values[2 * i].length}; }
  const lamella_value& value(size_t i) const { return v_.as.values[2 * i + 1]; }
  /* The value of a name, or null. */
  const lamella_value* find(std::string_view name) const {
    for (size_t i = 0; i < size(); i++)
      if (key(i) == name) return &value(i);
    return nullptr;
  }
  const lamella_value& value() const { return v_; }

 private:
  lamella_value v_;
};

/* ---- elements by their indices ---- */

template <class T, int N>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  IntArrayRef sizes() const { return {sizes_, N}; }
  IntArrayRef strides() const { return {strides_, N}; }
  int64_t size(int d) const { return sizes_[d]; }
  int64_t stride(int d) const { return strides_[d]; }
  T* data() const { return data_; }
  decltype(auto) operator[](int64_t i) const {
    if constexpr (N == 1)
      return static_cast<T&>(data_[i * strides_[0]]);
    else
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }

 private:
  T* data_;
  const int64_t *sizes_, *strides_;
};

/* ---- tensors over memory of the caller ---- */

namespace detail {
inline Tensor over(void* data, IntArrayRef sizes, const int64_t* strides, ScalarType dtype, const TensorOptions& o,
                   void (*deleter)(void*), void* context) {
  const Device device = o.device() ? *o.device() : Device("cpu");
  lamella_tensor* t;
  check(api().tensor_from_blob(data, static_cast<int32_t>(sizes.size()), sizes.data(), strides,
                               static_cast<uint8_t>(o.dtype() ? *o.dtype() : dtype), device.get(), deleter, context,
                               &t));
  return Tensor::steal(t);
}
template <class T>
constexpr ScalarType pointed() {
  if constexpr (std::is_void<T>::value || std::is_same<std::remove_cv_t<T>, char>::value)
    return kFloat;
  else
    return scalar_type_of<T>;
}
}  // namespace detail

/* Makes a tensor over the caller's memory, which must outlive the tensor and its views. The dtype is the pointer's,
 * unless the options have another; for void* and char*, it is float32. */
template <class T>
Tensor from_blob(T* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  return detail::finished(detail::over(data, sizes, nullptr, detail::pointed<T>(), options, nullptr, nullptr), options);
}
template <class T>
Tensor from_blob(T* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {}) {
  LAMELLA_CHECK_VALUE(sizes.size() == strides.size(), "from_blob: ", sizes.size(), " sizes need as many strides, got ",
                      strides.size());
  return detail::finished(detail::over(data, sizes, strides.data(), detail::pointed<T>(), options, nullptr, nullptr),
                          options);
}
/* `deleter(data)` runs once nothing uses the memory any more, on any thread; also if this fails. */
template <class T, class Deleter, class = decltype(std::declval<Deleter&>()(std::declval<T*>()))>
Tensor from_blob(T* data, IntArrayRef sizes, OptionalIntArrayRef strides, Deleter deleter,
                 const TensorOptions& options = {}) {
  struct Owner {
    T* data;
    Deleter deleter;
    ~Owner() { deleter(data); }
  };
  auto* owner = new Owner{data, std::move(deleter)};
  Tensor made;
  try {
    LAMELLA_CHECK_VALUE(!strides.has_value() || sizes.size() == (*strides).size(), "from_blob: ", sizes.size(),
                        " sizes need as many strides, got ", (*strides).size());
    made = detail::over(
        data, sizes, strides.has_value() ? (*strides).data() : nullptr, detail::pointed<T>(), options,
        [](void* o) { delete static_cast<Owner*>(o); }, owner);
  } catch (...) {
    delete owner;
    throw;
  }
  return detail::finished(std::move(made), options); /* the tensor owns the owner now */
}
template <class T, class Deleter, class = decltype(std::declval<Deleter&>()(std::declval<T*>()))>
Tensor from_blob(T* data, IntArrayRef sizes, Deleter deleter, const TensorOptions& options = {}) {
  return from_blob(data, sizes, OptionalIntArrayRef(), std::move(deleter), options);
}

/* ---- work ---- */

/* Calls body(begin, end) for pieces of the range, on all threads. The first exception on any of them is thrown here. */
template <class Body,
          class = std::enable_if_t<std::is_void<decltype(std::declval<Body&>()(int64_t(), int64_t()))>::value>,
          class = void>
void parallel_for(int64_t begin, int64_t end, int64_t grain, Body&& body) {
  check(parallel_for(begin, end, grain, [&](int64_t b, int64_t e) -> lamella_status {
    return guarded([&]() -> lamella_status {
      body(b, e);
      return LAMELLA_OK;
    });
  }));
}

}  // namespace lamella

#pragma GCC visibility pop

#endif
