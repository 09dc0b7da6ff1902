/* The types that operators take beside tensors: views of lists, Scalar, Text, and those of <lamella/devices.h>; and how
 * each becomes a value of the C ABI. */
#ifndef LAMELLA_VALUES_H
#define LAMELLA_VALUES_H

#include <lamella/devices.h>

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#pragma GCC visibility push(hidden)

namespace lamella {

using std::nullopt;

/* ---- lists ---- */

/* A view of elements that another object owns; valid as long as they live. */
template <class T>
class ArrayRef {
 public:
  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(std::initializer_list<T> list) : size_(list.size()) { /* lives as long as the call */
    if (size_) data_ = list.begin();
  }
  /* std::vector, std::array, another list of the same elements */
  template <class List, class = std::enable_if_t<
                            std::is_convertible<decltype(std::declval<const List&>().data()), const T*>::value>>
  constexpr ArrayRef(const List& list) : data_(list.data()), size_(list.size()) {}

  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const {
    LAMELLA_CHECK_INDEX(i < size_, "at: index ", i, " is out of range for ", size_, " elements");
    return data_[i];
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  bool equals(ArrayRef o) const {
    if (size_ != o.size_) return false;
    for (size_t i = 0; i < size_; i++)
      if (!(data_[i] == o.data_[i])) return false;
    return true;
  }
  friend bool operator==(const ArrayRef& a, const ArrayRef& b) { return a.equals(b); }
  friend bool operator!=(const ArrayRef& a, const ArrayRef& b) { return !a.equals(b); }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};
using IntArrayRef = ArrayRef<int64_t>;

/* A list of at most 64 ints that holds its elements itself, to compute sizes, strides or dimensions. The name is
 * torch's. */
class DimVector {
 public:
  DimVector() = default;
  DimVector(std::initializer_list<int64_t> list) : DimVector(IntArrayRef(list)) {}
  explicit DimVector(IntArrayRef list) {
    for (int64_t x : list) push_back(x);
  }
  DimVector(size_t n, int64_t x) {
    for (size_t i = 0; i < n; i++) push_back(x);
  }
  void push_back(int64_t x) {
    LAMELLA_CHECK(size_ < LAMELLA_MAX_DIMS, "a tensor has at most ", LAMELLA_MAX_DIMS, " dimensions");
    data_[size_++] = x;
  }
  void append(IntArrayRef list) {
    for (int64_t x : list) push_back(x);
  }
  void insert(size_t at, int64_t x) {
    push_back(x);
    for (size_t i = size_ - 1; i > at; i--) data_[i] = data_[i - 1];
    data_[at] = x;
  }
  void erase(size_t at) {
    for (size_t i = at + 1; i < size_; i++) data_[i - 1] = data_[i];
    size_--;
  }
  void pop_back() { size_--; }
  void clear() { size_ = 0; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return data_; }
  const int64_t* data() const { return data_; }
  int64_t* begin() { return data_; }
  int64_t* end() { return data_ + size_; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  int64_t& operator[](size_t i) { return data_[i]; }
  int64_t operator[](size_t i) const { return data_[i]; }
  int64_t& back() { return data_[size_ - 1]; }

 private:
  int64_t data_[LAMELLA_MAX_DIMS];
  size_t size_ = 0;
};

/* A list of ints, one int, or nothing: the argument `dim` of many operators. */
class OptionalIntArrayRef {
 public:
  OptionalIntArrayRef() = default;
  OptionalIntArrayRef(std::nullopt_t) {}
  OptionalIntArrayRef(IntArrayRef list) : list_(list), given_(true) {}
  OptionalIntArrayRef(std::initializer_list<int64_t> list) : list_(list), given_(true) {}
  OptionalIntArrayRef(const std::vector<int64_t>& list) : list_(list), given_(true) {}
  OptionalIntArrayRef(const DimVector& list) : list_(list), given_(true) {}
  template <class List, class = std::enable_if_t<std::is_same<List, std::optional<IntArrayRef>>::value>>
  OptionalIntArrayRef(const List& list) : given_(list.has_value()) {
    if (list) list_ = *list;
  }
  OptionalIntArrayRef(int64_t one) : one_(one), single_(true), given_(true) {}
  template <class One, class = std::enable_if_t<std::is_same<One, std::optional<int64_t>>::value>, class = void>
  OptionalIntArrayRef(const One& one) : one_(one.value_or(0)), single_(true), given_(one.has_value()) {}
  OptionalIntArrayRef(int one) : OptionalIntArrayRef(static_cast<int64_t>(one)) {}

  bool has_value() const { return given_; }
  IntArrayRef operator*() const { return single_ ? IntArrayRef(one_) : list_; }

 private:
  IntArrayRef list_;
  int64_t one_ = 0;
  bool single_ = false, given_ = false;
};

template <class T>
void append_part(std::string& to, const ArrayRef<T>& list) {
  to += '[';
  for (size_t i = 0; i < list.size(); i++) {
    if (i) to += ", ";
    append_part(to, list[i]);
  }
  to += ']';
}

/* ---- numbers ---- */

/* A number with its kind: bool, integer, floating or complex. */
class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  Scalar(T x) {
    if (std::is_floating_point<T>::value) {
      tag_ = LAMELLA_FLOAT;
      parts_[0] = static_cast<double>(x);
    } else {
      tag_ = std::is_same<T, bool>::value ? LAMELLA_BOOLEAN : LAMELLA_INT;
      if constexpr (std::is_unsigned<T>::value && sizeof(T) == 8)
        if (x > static_cast<T>(INT64_MAX)) tag_ = LAMELLA_UINT;
      integer_ = static_cast<int64_t>(x);
    }
  }
  Scalar(Half x) : Scalar(static_cast<float>(x)) {}
  Scalar(BFloat16 x) : Scalar(static_cast<float>(x)) {}
  template <class T, std::enable_if_t<detail::IsComplex<T>::value, int> = 0>
  Scalar(T x) : tag_(LAMELLA_COMPLEX) {
    parts_[0] = x.real();
    parts_[1] = x.imag();
  }
  explicit Scalar(const lamella_value& v) : tag_(v.tag) {
    if (v.tag == LAMELLA_COMPLEX) {
      parts_[0] = v.as.doubles[0];
      parts_[1] = v.as.doubles[1];
    } else if (v.tag == LAMELLA_FLOAT) {
      parts_[0] = v.as.d;
    } else {
      LAMELLA_CHECK_TYPE(v.tag == LAMELLA_INT || v.tag == LAMELLA_BOOLEAN || v.tag == LAMELLA_UINT,
                         "Scalar: expected a number, got a value with tag ", v.tag);
      integer_ = v.as.i;
    }
  }

  bool isBoolean() const { return tag_ == LAMELLA_BOOLEAN; }
  bool isIntegral(bool with_bool = false) const {
    return tag_ == LAMELLA_INT || tag_ == LAMELLA_UINT || (with_bool && isBoolean());
  }
  bool isFloatingPoint() const { return tag_ == LAMELLA_FLOAT; }
  bool isComplex() const { return tag_ == LAMELLA_COMPLEX; }

  /* Converts the number. Throws for a complex number with an imaginary part that would become a real one, and for a
   * number that does not fit into an integer; negative integers wrap to unsigned ones, as in torch. */
  template <class T>
  T to() const {
    if constexpr (detail::IsComplex<T>::value) {
      using Part = typename T::value_type;
      return isComplex() ? T(static_cast<Part>(parts_[0]), static_cast<Part>(parts_[1])) : T(to<Part>());
    } else {
      LAMELLA_CHECK(!isComplex() || parts_[1] == 0,
                    "Scalar: a complex number cannot become a real one, got imaginary part ", parts_[1]);
      if (tag_ == LAMELLA_UINT) return from_whole<T>(static_cast<uint64_t>(integer_));
      if (tag_ == LAMELLA_INT || tag_ == LAMELLA_BOOLEAN) return from_whole<T>(integer_);
      if constexpr (std::is_same<T, bool>::value)
        return parts_[0] != 0;
      else if constexpr (std::is_integral<T>::value)
        return in_range<T>(parts_[0]);
      else if constexpr (std::is_arithmetic<T>::value)
        return static_cast<T>(parts_[0]);
      else
        return T(static_cast<float>(parts_[0]));
    }
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }

  /* Returns a value that refers to this Scalar, and is valid as long as the Scalar lives. */
  lamella_value value() const {
    lamella_value v{tag_, 0, {integer_}};
    if (tag_ == LAMELLA_FLOAT) v.as.d = parts_[0];
    if (tag_ == LAMELLA_COMPLEX) v.as.doubles = parts_;
    return v;
  }

 private:
  template <class T, class From>
  static T from_whole(From x) {
    if constexpr (std::is_same<T, bool>::value)
      return x != 0;
    else if constexpr (std::is_integral<T>::value)
      return in_range<T>(x);
    else
      return static_cast<T>(x);
  }
  template <class T, class From>
  static T in_range(From x) {
    using Limits = std::numeric_limits<T>;
    constexpr bool wraps = std::is_unsigned<T>::value;
    bool fits;
    if constexpr (std::is_floating_point<From>::value) {
      /* `above`, the smallest number that is too large, is exact in From; T's limits may not be. */
      constexpr From above = 2 * static_cast<From>(T(1) << (Limits::digits - 1));
      fits = x < above && (wraps ? x > -1 : x >= -above);
    } else if constexpr (std::is_unsigned<From>::value) {
      fits = x <= static_cast<uint64_t>(Limits::max());
    } else {
      fits = sizeof(T) >= sizeof x ||
             (x <= static_cast<From>(Limits::max()) &&
              x >= (wraps ? -static_cast<From>(Limits::max()) : static_cast<From>(Limits::min())));
    }
    LAMELLA_CHECK(fits, "Scalar: ", x, " cannot become an integer of ", wraps ? "" : "signed ", sizeof(T) * 8, " bits");
    return static_cast<T>(x);
  }

  uint32_t tag_ = LAMELLA_INT;
  int64_t integer_ = 0;
  double parts_[2] = {0, 0};
};

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* A string argument of an operator, as "floor", or none; made of anything that converts to a std::string_view. */
class Text {
 public:
  Text() = default;
  Text(std::nullopt_t) {}
  template <class T, std::enable_if_t<std::is_convertible<const T&, std::string_view>::value &&
                                          !std::is_same<T, std::nullptr_t>::value,
                                      int> = 0>
  Text(const T& text) {
    if constexpr (std::is_pointer<T>::value)
      if (!text) return;
    text_ = std::string(std::string_view(text));
  }
  bool has_value() const { return text_.has_value(); }
  const std::string& operator*() const { return *text_; }

 private:
  std::optional<std::string> text_;
};

/* ---- owned values ------------------------------------------------------------------------------------------------ */

/* A value of any type, for states and results that outlive a call. It is none if it is made of nothing. */
class OwnedValue {
 public:
  OwnedValue() = default;
  explicit OwnedValue(const lamella_value& borrowed) { check(api().value_retain(&borrowed, &v_)); }
  OwnedValue(const OwnedValue& o) : OwnedValue(o.v_) {}
  OwnedValue(OwnedValue&& o) noexcept : v_(o.release()) {}
  OwnedValue& operator=(OwnedValue o) noexcept {
    std::swap(v_, o.v_);
    return *this;
  }
  ~OwnedValue() { api().value_release(&v_); }

  const lamella_value& get() const { return v_; }
  /* Gives the value away: the caller owns it, and this one is none. */
  lamella_value release() { return std::exchange(v_, none()); }

 private:
  lamella_value v_ = none();
};

/* ---- as values, borrowed for the length of a call ---- */

inline lamella_value value(const Scalar& s) { return s.value(); }
inline lamella_value value(ScalarType t) { return {LAMELLA_DTYPE, 0, {static_cast<int64_t>(t)}}; }
inline lamella_value value(Layout l) { return {LAMELLA_LAYOUT, 0, {static_cast<int64_t>(l)}}; }
inline lamella_value value(MemoryFormat f) { return {LAMELLA_MEMORY_FORMAT, 0, {static_cast<int64_t>(f)}}; }
inline lamella_value value(const Device& d) {
  lamella_value v{LAMELLA_DEVICE, 0, {0}};
  v.as.device = d.get();
  return v;
}
inline lamella_value value(const Generator& g) {
  lamella_value v{g.defined() ? static_cast<uint32_t>(LAMELLA_OBJECT) : static_cast<uint32_t>(LAMELLA_NONE), 0, {0}};
  v.as.object = g.get();
  return v;
}
/* The string must end with a zero byte: a literal or a std::string. */
inline lamella_value value(std::string_view s) {
  lamella_value v{LAMELLA_STRING, static_cast<uint32_t>(s.size()), {0}};
  v.as.string = s.data();
  return v;
}
inline lamella_value value(const char* s) { return s ? value(std::string_view(s)) : none(); }
inline lamella_value value(char* s) { return value(static_cast<const char*>(s)); }
inline lamella_value value(const std::string& s) { return value(std::string_view(s)); }
inline lamella_value value(const Text& t) { return t.has_value() ? value(*t) : none(); }
/* Deleted: a value points to the parts of a complex number. Pass a Scalar, which holds them. */
template <class T, std::enable_if_t<detail::IsComplex<T>::value, int> = 0>
lamella_value value(const T&) = delete;
inline lamella_value value(IntArrayRef list) {
  lamella_value v{LAMELLA_INT_LIST, static_cast<uint32_t>(list.size()), {0}};
  v.as.ints = list.data();
  return v;
}
inline lamella_value value(const DimVector& list) { return value(IntArrayRef(list)); }
inline lamella_value value(ArrayRef<double> list) {
  lamella_value v{LAMELLA_FLOAT_LIST, static_cast<uint32_t>(list.size()), {0}};
  v.as.doubles = list.data();
  return v;
}
inline lamella_value value(ArrayRef<bool> list) {
  lamella_value v{LAMELLA_BOOL_LIST, static_cast<uint32_t>(list.size()), {0}};
  v.as.bools = reinterpret_cast<const uint8_t*>(list.data());
  return v;
}
inline lamella_value value(const lamella_value& v) { return v; }
inline lamella_value value(const OwnedValue& v) { return v.get(); }
template <class T>
inline lamella_value value(const std::optional<T>& x) {
  return x ? value(*x) : none();
}

}  // namespace lamella

#pragma GCC visibility pop

#endif
