/* pybind11 modules over Lamella: casters for Tensor, ScalarType, Device, Layout, MemoryFormat, Scalar, Generator and
 * ArrayRef of anything but bool (std::optional and lists come from pybind11's own <pybind11/stl.h>), and the
 * translation of errors into Python's exceptions.
 *
 *   #include <lamella/pybind.h>
 *
 *   lamella::Tensor twice(lamella::Tensor x) { return x * 2; }
 *
 *   PYBIND11_MODULE(LAMELLA_EXTENSION_NAME, m) { m.def("twice", &twice); }
 *
 * The builder defines LAMELLA_EXTENSION_NAME and TORCH_EXTENSION_NAME, the name in sources written for torch. This
 * header tests neither, since a compiler rejects a precompiled header that tested a name which is defined later.
 * The module imports lamella when it is imported itself, and runs the blocks of registrations (LAMELLA_LIBRARY) that
 * it contains. */
#ifndef LAMELLA_PYBIND_H
#define LAMELLA_PYBIND_H

#include <lamella/extension.h>
#include <lamella/python.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#pragma GCC visibility push(hidden)

namespace lamella {
namespace python {

/* Runs before a module's body: finds the tables, registers, and installs the translation of errors. -1 with an
 * exception. */
inline int start() {
  static bool started = false;
  if (started) return 0;
  if (run_registrations(&started) < 0) return -1;
  pybind11::register_local_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Error& e) {
      e.raise();
      face().raise_pending();
    }
  });
  started = true;
  return 0;
}

/* pybind11's own check of the version, saved here before its macro is redefined. */
inline PyObject* check_version() { PYBIND11_CHECK_PYTHON_VERSION return Py_None; }

/* Converts an object by the binding's table. Returns false if there is no conversion, or if the value has another tag
 * than `tag`; LAMELLA_INT stands for any number. */
template <class T>
inline bool from_python(pybind11::handle object, uint32_t tag, std::optional<T>* out) {
  lamella_value v;
  if (face().from_python(object.ptr(), &v) < 0) {
    PyErr_Clear();
    return false;
  }
  const bool fits = v.tag == tag || (tag == LAMELLA_INT &&
                                     ((v.tag >= LAMELLA_BOOLEAN && v.tag <= LAMELLA_COMPLEX) || v.tag == LAMELLA_UINT));
  if (fits) out->emplace(detail::Convert<T>::get(v));
  api().value_release(&v);
  return fits;
}
template <class T>
inline pybind11::handle to_python(const T& x) {
  const lamella_value v = value(x);
  PyObject* o = face().to_python(&v);
  if (!o) throw pybind11::error_already_set();
  return o;
}

}  // namespace python
}  // namespace lamella

/* Every PYBIND11_MODULE first checks the version of Python, so the module is started there. */
#undef PYBIND11_CHECK_PYTHON_VERSION
#define PYBIND11_CHECK_PYTHON_VERSION \
  if (!lamella::python::check_version() || lamella::python::start() < 0) return nullptr;

namespace pybind11 {
namespace detail {

template <>
struct type_caster<lamella::Tensor> {
  PYBIND11_TYPE_CASTER(lamella::Tensor, const_name("lamella.Tensor"));
  bool load(handle source, bool) {
    lamella_tensor* t = lamella::python::face().unwrap(source.ptr());
    value = lamella::Tensor::borrow(t);
    return t != nullptr;
  }
  static handle cast(const lamella::Tensor& t, return_value_policy, handle) {
    if (!t.defined()) return none().release();
    PyObject* o = lamella::python::face().wrap(lamella::TensorRef(t).take());
    if (!o) throw error_already_set();
    return o;
  }
};

#define LAMELLA_CASTER_(T, TAG, NAME)                                                                     \
  template <>                                                                                             \
  struct type_caster<T> {                                                                                 \
    static constexpr auto name = const_name(NAME);                                                        \
    template <class>                                                                                      \
    using cast_op_type = T;                                                                               \
    operator T() const { return *value; }                                                                 \
    bool load(handle source, bool) { return lamella::python::from_python<T>(source, TAG, &value); }       \
    static handle cast(const T& x, return_value_policy, handle) { return lamella::python::to_python(x); } \
    std::optional<T> value;                                                                               \
  };
LAMELLA_CASTER_(lamella::ScalarType, LAMELLA_DTYPE, "lamella.dtype")
LAMELLA_CASTER_(lamella::Device, LAMELLA_DEVICE, "lamella.device")
LAMELLA_CASTER_(lamella::Scalar, LAMELLA_INT, "complex")
LAMELLA_CASTER_(lamella::Generator, LAMELLA_OBJECT, "lamella.Generator")
LAMELLA_CASTER_(lamella::Layout, LAMELLA_LAYOUT, "lamella.layout")
LAMELLA_CASTER_(lamella::MemoryFormat, LAMELLA_MEMORY_FORMAT, "lamella.memory_format")
#undef LAMELLA_CASTER_

/* IntArrayRef, TensorList and their like: the elements live as long as the call. */
template <class T>
struct type_caster<lamella::ArrayRef<T>> {
  static_assert(!std::is_same<T, bool>::value,
                "take a std::vector<bool>: it holds bits, which no ArrayRef<bool> can point to");
  using List = make_caster<std::vector<T>>;
  static constexpr auto name = List::name;
  template <class>
  using cast_op_type = lamella::ArrayRef<T>;
  operator lamella::ArrayRef<T>() { return static_cast<std::vector<T>&>(list); }
  bool load(handle source, bool convert) { return list.load(source, convert); }
  static handle cast(lamella::ArrayRef<T> x, return_value_policy policy, handle parent) {
    return List::cast(x.vec(), policy, parent);
  }
  List list;
};
/* pybind11's own caster would free the elements before the call. So would those of other containers of ArrayRef:
 * take vectors. */
template <class T>
struct type_caster<std::optional<lamella::ArrayRef<T>>> {
  using List = make_caster<lamella::ArrayRef<T>>;
  static constexpr auto name = const_name("Optional[") + List::name + const_name("]");
  template <class>
  using cast_op_type = std::optional<lamella::ArrayRef<T>>;
  operator std::optional<lamella::ArrayRef<T>>() {
    return given ? std::optional<lamella::ArrayRef<T>>(list) : std::nullopt;
  }
  bool load(handle source, bool convert) {
    given = !source.is_none();
    return !given || list.load(source, convert);
  }
  static handle cast(const std::optional<lamella::ArrayRef<T>>& x, return_value_policy policy, handle parent) {
    return x ? List::cast(*x, policy, parent) : none().release();
  }
  bool given = false;
  List list;
};

}  // namespace detail
}  // namespace pybind11

#pragma GCC visibility pop

#endif
