// The values of literals.
#include "run/constants.h"

#include "signatures/builtins.h"

namespace lamella::graph {
namespace {

lamella_value with(uint32_t tag, int64_t i) { return {tag, 0, {i}}; }

lamella_value dtype_value(const std::string& name) {
  int32_t dtype = 0;
  check(api().find_dtype(name.c_str(), &dtype));
  return with(LAMELLA_DTYPE, dtype);
}

lamella_value device_value(const std::string& text) {
  const size_t colon = text.find(':');
  lamella_value v{LAMELLA_DEVICE, 0, {0}};
  check(api().find_backend(text.substr(0, colon).c_str(), &v.as.device.backend));
  v.as.device.index = colon == std::string::npos ? 0 : std::atoi(text.c_str() + colon + 1);
  return v;
}

lamella_value word_value(const Literal::Word& w) {
  switch (w.kind) {
    case Kind::dtype:
      return dtype_value(w.text);
    case Kind::device:
      return device_value(w.text);
    case Kind::memory_format: {
      const int64_t format = memory_format_of_word(w.text);
      LAMELLA_CHECK_VALUE(format >= 0, "there is no memory format '", w.text, "'");
      return with(LAMELLA_MEMORY_FORMAT, format);
    }
    default:
      LAMELLA_CHECK_VALUE(w.text == "strided", "there is no layout '", w.text, "'");
      return with(LAMELLA_LAYOUT, 0);
  }
}

// Returns the flat list of the C ABI that has these items, which are borrowed.
lamella_value flat_list(const std::vector<lamella_value>& items, const Type& type) {
  const Kind kind = type.inner[0]->kind;
  const auto n = static_cast<uint32_t>(items.size());
  lamella_value borrowed{LAMELLA_VALUE_LIST, n, {0}}, out;
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  std::vector<uint8_t> bools;
  borrowed.as.values = items.data();
  if (kind == Kind::integer || items.empty()) {
    for (const lamella_value& v : items) ints.push_back(v.as.i);
    borrowed = {LAMELLA_INT_LIST, n, {0}};
    borrowed.as.ints = ints.data();
  } else if (kind == Kind::floating) {
    for (const lamella_value& v : items) doubles.push_back(as_double(v));
    borrowed = {LAMELLA_FLOAT_LIST, n, {0}};
    borrowed.as.doubles = doubles.data();
  } else if (kind == Kind::boolean) {
    for (const lamella_value& v : items) bools.push_back(v.as.i != 0);
    borrowed = {LAMELLA_BOOL_LIST, n, {0}};
    borrowed.as.bools = bools.data();
  }
  check(api().value_retain(&borrowed, &out));
  return out;
}

}  // namespace

lamella_value Constants::number_tensor(const Literal& x, const Type& type) const {
  // No layer sees the constant: it is the program's, and not of the call that compiles the program.
  const ExcludeGuard off(~uint64_t{0});
  const lamella_value number = value(x, *x.type(), false);
  const std::string dtype =
      type.tensor.dtype.empty() ? (number.tag == LAMELLA_INT ? "int64" : "float32") : type.tensor.dtype;
  lamella_tensor* made = nullptr;
  check(api().tensor_empty(0, nullptr, nullptr, static_cast<int32_t>(dtype_value(dtype).as.i), Device(kCPU).get(),
                           &made));
  const TensorRef owned = TensorRef::steal(made);
  const lamella_value args[] = {lamella::value(made), number};
  lamella_value out = none();
  check(api().call(nullptr, api().find_operator("aten::fill_", "Scalar"), args, 2, &out, 1));
  return out;
}

lamella_value Constants::value(const Literal& x, const Type& type, bool flat) const {
  if (type.kind == Kind::optional) {
    if (std::holds_alternative<Literal::None>(x.value)) return none();
    return value(x, *type.inner[0], flat);
  }
  if (type.kind == Kind::tensor && !std::holds_alternative<Literal::Tensor>(x.value)) return number_tensor(x, type);
  struct Make {
    const Constants& self;
    const Type& type;
    const bool flat;
    lamella_value operator()(const Literal::None&) const { return none(); }
    lamella_value operator()(bool b) const { return lamella::value(b); }
    lamella_value operator()(int64_t i) const {
      return type.kind == Kind::floating ? lamella::value(static_cast<double>(i)) : lamella::value(i);
    }
    lamella_value operator()(double d) const { return lamella::value(d); }
    lamella_value operator()(const std::complex<double>& c) const { return new_complex(c.real(), c.imag()); }
    lamella_value operator()(const std::string& s) const { return new_string(s); }
    lamella_value operator()(const Literal::Word& w) const { return word_value(w); }
    lamella_value operator()(const Literal::Tensor& t) const {
      LAMELLA_CHECK_VALUE(t.number >= 0 && t.number < static_cast<int64_t>(self.tensors_.size()), "the program has ",
                          self.tensors_.size(), " constant tensors, and names <data/", t.number, ">");
      return copy_of(self.tensors_[static_cast<size_t>(t.number)]);
    }
    lamella_value operator()(const Literal::List& l) const {
      std::vector<lamella_value> items;
      for (size_t i = 0; i < l.size(); i++) {
        const Type& element = type.kind == Kind::tuple && i < type.inner.size() ? *type.inner[i]
                              : type.kind == Kind::list                         ? *type.inner[0]
                                                                                : *Type::of(Kind::any);
        items.push_back(self.value(l[i], element, false));
      }
      if (type.kind == Kind::tuple) return new_tuple(std::move(items));
      if (!flat) return new_list(std::move(items));
      const lamella_value list = flat_list(items, type);
      for (lamella_value& v : items) release(v);
      return list;
    }
  };
  return std::visit(Make{*this, type, flat}, x.value);
}

lamella_value Constants::value(const Node& constant, bool flat) const {
  const Literal* x = constant.attribute("value");
  return x ? value(*x, *constant.outputs[0]->type, flat) : none();
}

}  // namespace lamella::graph
