// The elements of tensors as numbers and lists, and tensors from numbers and lists.
#include <lamella/operators.h>

#include <cmath>
#include <cstring>

#include "builtins/arguments.h"
#include "builtins/tables.h"

namespace lamella::graph {
namespace {

// ---- tensors as lists ----

template <class T>
T element(const char* at) {
  T x;
  std::memcpy(&x, at, sizeof x);
  return x;
}

lamella_value number_at(const char* at, ScalarType dtype) {
  switch (dtype) {
    case kBool:
      return made(element<uint8_t>(at) != 0);
    case kByte:
      return made(int64_t{element<uint8_t>(at)});
    case kChar:
      return made(int64_t{element<int8_t>(at)});
    case kShort:
      return made(int64_t{element<int16_t>(at)});
    case kInt:
      return made(int64_t{element<int32_t>(at)});
    case kLong:
      return made(element<int64_t>(at));
    case ScalarType::UInt16:
      return made(int64_t{element<uint16_t>(at)});
    case ScalarType::UInt32:
      return made(int64_t{element<uint32_t>(at)});
    case ScalarType::UInt64: {
      const auto x = element<uint64_t>(at);
      if (x <= INT64_MAX) return made(static_cast<int64_t>(x));
      lamella_value v{LAMELLA_UINT, 0, {0}};
      v.as.u = x;
      return v;
    }
    case kHalf:
      return made(double{static_cast<float>(element<Half>(at))});
    case kBFloat16:
      return made(double{static_cast<float>(element<BFloat16>(at))});
    case kFloat:
      return made(double{element<float>(at)});
    case kDouble:
      return made(element<double>(at));
    case kComplexFloat:
      return new_complex(element<float>(at), element<float>(at + sizeof(float)));
    default:
      return new_complex(element<double>(at), element<double>(at + sizeof(double)));
  }
}

lamella_value list_at(const Tensor& t, size_t dim, const char* at) {
  if (dim == t.sizes().size()) return number_at(at, t.dtype());
  Items items;
  items.values.reserve(static_cast<size_t>(t.sizes()[dim]));
  for (int64_t i = 0; i < t.sizes()[dim]; i++) items.add(list_at(t, dim + 1, at + i * t.strides()[dim] * t.itemsize()));
  return items.list();
}

lamella_value to_list(const lamella_value* a) {
  Tensor t = Tensor::borrow(tensor_argument(a[0]));
  LAMELLA_CHECK_NOT_IMPLEMENTED(!t.is_meta(), "tolist: tensors on device 'meta' have no data");
  if (t.is_opaque()) t = lamella::_materialize(t);
  LAMELLA_CHECK(!t.is_opaque(), "tolist: _materialize returned a tensor without memory");
  const bool plain = static_cast<int>(t.dtype()) < LAMELLA_PLAIN_DTYPES;
  t = t.to(Device(kCPU), plain ? t.dtype() : kFloat);
  return list_at(t, 0, static_cast<const char*>(t.data_ptr()));
}

// ---- lists as tensors ----

// The numbers of nested lists, and the sizes of the lists.
class Numbers {
 public:
  explicit Numbers(const lamella_value& data) {
    const lamella_value* v = &data;
    while (const std::vector<lamella_value>* items = items_of(*v)) {
      LAMELLA_CHECK_VALUE(sizes_.size() < LAMELLA_MAX_DIMS,
                          "tensor: argument 'data': the lists are nested in more than ", LAMELLA_MAX_DIMS, " levels");
      sizes_.push_back(static_cast<int64_t>(items->size()));
      if (items->empty()) break;
      v = &(*items)[0];
    }
    gather(data, 0);
  }

  // Returns a tensor in host memory, of the widest dtype of its class, and the dtype that the numbers have by
  // themselves.
  std::pair<Tensor, ScalarType> tensor(std::optional<ScalarType> wanted) const {
    const bool unsigned_ints = class_ == LAMELLA_INT && (huge_ || wanted == ScalarType::UInt64);
    ScalarType wide = class_ == LAMELLA_BOOLEAN ? kBool
                      : class_ == LAMELLA_INT   ? kLong
                      : class_ == LAMELLA_FLOAT ? kDouble
                                                : kComplexDouble;
    if (unsigned_ints) wide = ScalarType::UInt64;
    ScalarType natural = huge_ ? wide : class_ == LAMELLA_BOOLEAN ? kBool : kLong;
    if (numbers_.empty() || class_ == LAMELLA_FLOAT || class_ == LAMELLA_COMPLEX)
      natural =
          lamella::full({}, class_ == LAMELLA_COMPLEX ? Scalar(Complex()) : Scalar(0.0), TensorOptions(Device(kMeta)))
              .dtype();
    lamella_tensor* made = nullptr;  // made without an operator, whose result a layer could replace
    check(api().tensor_empty(static_cast<int32_t>(sizes_.size()), sizes_.data(), nullptr, static_cast<int32_t>(wide),
                             Device(kCPU).get(), &made));
    Tensor t = Tensor::steal(made);
    auto* to = static_cast<char*>(t.data_ptr());
    const auto size = static_cast<size_t>(t.itemsize());
    for (size_t i = 0; i < numbers_.size(); i++) {
      if (wanted) check_fits(numbers_[i], *wanted);
      put(numbers_[i], to + i * size);
    }
    return {std::move(t), natural};
  }

 private:
  struct Number {
    uint32_t tag;
    int64_t whole;
    double real, imaginary;
  };

  static const std::vector<lamella_value>* items_of(const lamella_value& v) {
    if (is_object(v, list_type)) return &list_of(v).items;
    return is_object(v, tuple_type) ? &tuple_of(v).items : nullptr;
  }

  void gather(const lamella_value& v, size_t dim) {
    const std::vector<lamella_value>* items = items_of(v);
    if (dim < sizes_.size()) {
      LAMELLA_CHECK_VALUE(items && static_cast<int64_t>(items->size()) == sizes_[dim],
                          "tensor: argument 'data' is ragged: expected a list of length ", sizes_[dim], " at depth ",
                          dim, ", got ", items ? std::to_string(items->size()) : std::string(type_name(v)));
      for (const lamella_value& item : *items) gather(item, dim + 1);
      return;
    }
    LAMELLA_CHECK_VALUE(!items, "tensor: argument 'data' is ragged: a list stands at depth ", dim,
                        " where a number should be");
    if (v.tag == LAMELLA_TENSOR) {
      const OwnedValue one = item_of(v);
      return add(one.get());
    }
    add(v);
  }

  void add(const lamella_value& v) {
    LAMELLA_CHECK_TYPE((v.tag >= LAMELLA_BOOLEAN && v.tag <= LAMELLA_COMPLEX) || v.tag == LAMELLA_UINT,
                       "tensor: argument 'data' must hold numbers, got ", type_name(v));
    const bool inexact = v.tag == LAMELLA_FLOAT || v.tag == LAMELLA_COMPLEX;
    const Complex z = complex_of(v);
    numbers_.push_back({v.tag, inexact ? 0 : v.as.i, z.real(), z.imag()});
    huge_ |= v.tag == LAMELLA_UINT;
    class_ =
        std::max<uint32_t>(class_, v.tag == LAMELLA_UINT ? uint32_t{LAMELLA_INT} : v.tag);  // the tags have this order
  }

  static std::string text_of(const Number& n) {
    lamella_value v{n.tag, 0, {n.whole}};
    if (n.tag == LAMELLA_FLOAT) v.as.d = n.real;
    return repr_of(v);
  }
  static void check_fits(const Number& n, ScalarType dtype) {
    if (n.tag == LAMELLA_COMPLEX) {
      LAMELLA_CHECK_TYPE(is_complex(dtype) || dtype == kBool,
                         "tensor: argument 'data' holds a complex number, and dtype ", dtype,
                         " is real; pass its real part or a complex dtype");
      return;
    }
    if (!is_integral(dtype)) return;
    const bool negative = is_signed(dtype);
    const double end = std::ldexp(1.0, static_cast<int>(8 * itemsize(dtype)) - negative);
    const double x = n.tag == LAMELLA_FLOAT ? std::trunc(n.real) : n.real;
    bool fits = x < end && (negative ? x >= -end : n.tag == LAMELLA_FLOAT ? x >= 0 : x > -end);
    if (n.tag == LAMELLA_INT && dtype == kLong) fits = true;
    if (n.tag == LAMELLA_UINT) fits = dtype == ScalarType::UInt64;
    LAMELLA_CHECK(fits, "tensor: argument 'data': ", text_of(n), " does not fit dtype ", dtype);
  }

  void put(const Number& n, char* to) const {
    const double parts[] = {n.real, n.imaginary};
    const auto truth = static_cast<uint8_t>(n.whole != 0);
    if (class_ == LAMELLA_COMPLEX)
      std::memcpy(to, parts, sizeof parts);
    else if (class_ == LAMELLA_FLOAT)
      std::memcpy(to, parts, sizeof(double));
    else if (class_ == LAMELLA_BOOLEAN)
      std::memcpy(to, &truth, 1);
    else
      std::memcpy(to, &n.whole, sizeof n.whole);
  }

  std::vector<int64_t> sizes_;
  std::vector<Number> numbers_;
  uint32_t class_ = LAMELLA_BOOLEAN;
  bool huge_ = false;
};

std::optional<ScalarType> wanted_dtype(const lamella_value& v) {
  if (v.tag == LAMELLA_NONE) return {};
  if (v.tag != LAMELLA_DTYPE) raise_kind("a dtype", v);
  return static_cast<ScalarType>(v.as.i);
}
std::optional<Device> wanted_device(const lamella_value& v) {
  if (v.tag == LAMELLA_NONE) return {};
  if (v.tag != LAMELLA_DEVICE) raise_kind("a device", v);
  return Device(v.as.device);
}

Tensor made_of(const lamella_value* a, bool copy) {
  const std::optional<ScalarType> dtype = wanted_dtype(a[1]);
  std::optional<Device> device = wanted_device(a[2]);
  if (a[0].tag == LAMELLA_TENSOR) {
    const Tensor t = Tensor::borrow(tensor_argument(a[0]));
    return (copy ? t.detach() : t).to(device, dtype, false, copy);
  }
  auto [made, natural] = Numbers(a[0]).tensor(dtype);
  const lamella_device own = api().thread()->default_device;
  if (!device && own.backend >= 0) device = Device(own);  // else the host's
  return made.to(device, dtype.value_or(natural));
}
lamella_value given_away(Tensor t) {
  lamella_value v = value(t);
  (void)t.release();
  return v;
}

lamella_value tensor(const lamella_value* a) {
  Tensor t = made_of(a, true);
  if (bool_of(a[3])) t.set_requires_grad(true);
  return given_away(std::move(t));
}

template <class Item>
lamella_value contains(const lamella_value& self, const Item& item) {
  const Tensor t = Tensor::borrow(tensor_argument(self));
  return made(t.eq(item).any().item().toBool());
}

constexpr Builtin tensor_data_rows[] = {
    {"aten::tolist(Tensor self) -> t", to_list},
    {"aten::tensor.t(t data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor",
     tensor},
    {"aten::as_tensor.t(t data, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
     [](const lamella_value* a) { return given_away(made_of(a, false)); }},
    {"aten::__contains__.Tensor(Tensor self, Tensor item) -> bool",
     [](const lamella_value* a) { return contains(a[0], Tensor::borrow(tensor_argument(a[1]))); }},
    {"aten::__contains__.Scalar(Tensor self, Scalar item) -> bool",
     [](const lamella_value* a) { return contains(a[0], Scalar(a[1])); }},
};

}  // namespace

OwnedValue item_of(const lamella_value& tensor) {
  const Scalar one = Tensor::borrow(tensor_argument(tensor)).item();
  return OwnedValue(one.value());
}

BuiltinTable tensor_data_builtins() { return table_of(tensor_data_rows); }

}  // namespace lamella::graph
