// Slots whose states are C++ objects, and attributes of every type of a value, on <lamella/extension.h> alone.
#include <lamella/extension.h>

#include <complex>
#include <stdexcept>

#ifndef LAYER
#define LAYER "slots_layer"
#endif

namespace {

using namespace lamella;

std::atomic<int64_t> live{0};  // the number of marks
std::string last;              // what a setter got

// A state with all members. Its text decides what they do.
struct Mark {
  std::string text;

  explicit Mark(std::string t) : text(std::move(t)) { live++; }
  Mark(const Mark& o) : Mark(o.text) {}
  Mark& operator=(const Mark&) = delete;
  ~Mark() { live--; }

  std::optional<Mark> carry(const Tensor& from, const Tensor& to, int32_t how) const {
    LAMELLA_CHECK_VALUE(text != "stuck", "mark: it is stuck");
    if (text == "left") return std::nullopt;
    return Mark(detail::text(text, " ", how, " ", from.sizes(), to.sizes()));
  }
  std::string save(const Tensor& of) const {
    if (text == "unsaved") throw std::runtime_error("mark: it cannot be saved");
    return detail::text(text, " of ", of.dim());
  }
  static std::optional<Mark> load(const Tensor& to, const lamella_value& saved) {
    LAMELLA_CHECK_TYPE(saved.tag == LAMELLA_STRING, "mark: expected a text, got a value with tag ", saved.tag);
    if (!saved.length) return std::nullopt;
    return Mark(detail::text(saved.as.string, " to ", to.dim()));
  }
};
Slot<Mark> marks;

// A state without members stays behind.
struct Plain {
  int64_t number;
  Tensor tensor;
};
Slot<Plain> plains;

void set_mark(const Tensor& self, const std::optional<std::string>& text) {
  marks.set(self, text ? std::optional<Mark>(*text) : std::nullopt);
}

// Adds the attribute of a type, whose setter shows what it got.
template <class T>
void add(Library& m, const char* name, std::string (*shown)(const T&)) {
  m.attribute(
      name, [](const Tensor&) { return last; }, [shown](const Tensor&, const T& x) { last = shown(x); });
}
template <class T>
std::string printed(const T& x) {
  return detail::text(x);
}

}  // namespace

LAMELLA_LIBRARY(slots, m) {
  m.tensor_slot("slots_mark", marks).tensor_slot("slots_plain", plains, LAYER);
  m.attribute("slots_mark", marks.member(&Mark::text), set_mark);
  m.attribute("slots_plain", plains.member(&Plain::number), [](const Tensor& self, int64_t number) {
    plains.set(self, Plain{number, self.detach()});
  });
  m.attribute("slots_tensor", plains.member(&Plain::tensor));
  m.attribute("slots_throws", [](const Tensor& self) -> int64_t {
    LAMELLA_CHECK_INDEX(false, "slots_throws: got ", self.dim(), " dimensions");
    return 0;
  });
  m.def("live() -> int", [] { return live.load(); });
  m.def("undefined(Tensor? x) -> bool", [](const Tensor& x) { return !marks.get(x); });
  add<int64_t>(m, "slots_int", printed);
  add<double>(m, "slots_float", printed);
  add<bool>(m, "slots_bool", printed);
  add<std::string_view>(m, "slots_str", printed);
  add<ScalarType>(m, "slots_dtype", printed);
  add<Device>(m, "slots_device", printed);
  add<Layout>(m, "slots_layout", [](const Layout& x) { return std::to_string(static_cast<int>(x)); });
  add<MemoryFormat>(m, "slots_format", [](const MemoryFormat& x) { return std::to_string(static_cast<int>(x)); });
  add<std::complex<double>>(m, "slots_complex",
                            [](const std::complex<double>& x) { return detail::text(x.real(), " ", x.imag()); });
  add<Scalar>(m, "slots_scalar", [](const Scalar& x) { return std::to_string(x.toDouble()); });
  add<Tensor>(m, "slots_any_tensor", [](const Tensor& x) { return detail::text(x.sizes()); });
  add<std::optional<int64_t>>(
      m, "slots_maybe", [](const std::optional<int64_t>& x) { return x ? std::to_string(*x) : std::string("none"); });
  add<lamella_value>(m, "slots_value", [](const lamella_value& x) { return std::to_string(x.tag); });
}
