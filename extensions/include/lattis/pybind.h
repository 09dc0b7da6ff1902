/* pybind11 modules over Lattis: casters for Tensor, ScalarType, Device, Layout, MemoryFormat, Scalar, Generator and
 * ArrayRef of anything (std::optional and lists come from pybind11's own <pybind11/stl.h>), and errors as the
 * exceptions that they are.
 *
 *   #include <lattis/pybind.h>
 *
 *   lattis::Tensor twice(lattis::Tensor x) { return x * 2; }
 *
 *   PYBIND11_MODULE(LATTIS_EXTENSION_NAME, m) { m.def("twice", &twice); }
 *
 * The builder defines LATTIS_EXTENSION_NAME. The module imports lattis when it is imported itself, and runs the blocks
 * of registrations (LATTIS_LIBRARY) that it contains. */
#ifndef LATTIS_PYBIND_H
#define LATTIS_PYBIND_H

#include <lattis/extension.h>
#include <lattis/python.h>

#include <dlfcn.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

/* The name that sources written for torch use. */
#if defined(LATTIS_EXTENSION_NAME) && !defined(TORCH_EXTENSION_NAME)
#define TORCH_EXTENSION_NAME LATTIS_EXTENSION_NAME
#endif

#pragma GCC visibility push(hidden)

namespace lattis {
namespace python {

/* Before a module's body: the tables, its own registrations, and the translation of errors. -1 with an exception. */
inline int start() {
  static bool started = false;
  if (started) return 0;
  if (import() < 0) return -1;
  const auto* capsule = static_cast<const lattis_capsule*>(PyCapsule_Import(LATTIS_PYTHON_CAPSULE, 0));
  Dl_info own; /* by the loader, which runs the init function once for the file, whoever opened it */
  if (!capsule || (dladdr(&started, &own) && capsule->load_plugin(own.dli_fname) < 0)) return -1;
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

/* pybind11's own check, whose text is taken before it becomes another. */
inline PyObject* check_version() { PYBIND11_CHECK_PYTHON_VERSION return Py_None; }

/* By the tables of the binding; LATTIS_INT stands for any number. */
template <class T>
inline bool from_python(pybind11::handle object, uint32_t tag, std::optional<T>* out) {
  lattis_value v;
  if (face().from_python(object.ptr(), &v) < 0) {
    PyErr_Clear();
    return false;
  }
  const bool fits = v.tag == tag || (tag == LATTIS_INT && v.tag >= LATTIS_BOOLEAN && v.tag <= LATTIS_COMPLEX);
  if (fits) out->emplace(detail::Convert<T>::get(v));
  api().value_release(&v);
  return fits;
}
template <class T>
inline pybind11::handle to_python(const T& x) {
  const lattis_value v = value(x);
  PyObject* o = face().to_python(&v);
  if (!o) throw pybind11::error_already_set();
  return o;
}

}  // namespace python
}  // namespace lattis

/* Every PYBIND11_MODULE checks the version of Python first: that is where the module starts. */
#undef PYBIND11_CHECK_PYTHON_VERSION
#define PYBIND11_CHECK_PYTHON_VERSION \
  if (!lattis::python::check_version() || lattis::python::start() < 0) return nullptr;

namespace pybind11 {
namespace detail {

template <>
struct type_caster<lattis::Tensor> {
  PYBIND11_TYPE_CASTER(lattis::Tensor, const_name("lattis.Tensor"));
  bool load(handle source, bool) {
    lattis_tensor* t = lattis::python::face().unwrap(source.ptr());
    value = lattis::Tensor::borrow(t);
    return t != nullptr;
  }
  static handle cast(const lattis::Tensor& t, return_value_policy, handle) {
    if (!t.defined()) return none().release();
    PyObject* o = lattis::python::face().wrap(lattis::TensorRef(t).take());
    if (!o) throw error_already_set();
    return o;
  }
};

#define LATTIS_CASTER_(T, TAG, NAME)                                                                     \
  template <>                                                                                            \
  struct type_caster<T> {                                                                                \
    static constexpr auto name = const_name(NAME);                                                       \
    template <class>                                                                                     \
    using cast_op_type = T;                                                                              \
    operator T() const { return *value; }                                                                \
    bool load(handle source, bool) { return lattis::python::from_python<T>(source, TAG, &value); }       \
    static handle cast(const T& x, return_value_policy, handle) { return lattis::python::to_python(x); } \
    std::optional<T> value;                                                                              \
  };
LATTIS_CASTER_(lattis::ScalarType, LATTIS_DTYPE, "lattis.dtype")
LATTIS_CASTER_(lattis::Device, LATTIS_DEVICE, "lattis.device")
LATTIS_CASTER_(lattis::Scalar, LATTIS_INT, "complex")
LATTIS_CASTER_(lattis::Generator, LATTIS_OBJECT, "lattis.Generator")
LATTIS_CASTER_(lattis::Layout, LATTIS_LAYOUT, "lattis.layout")
LATTIS_CASTER_(lattis::MemoryFormat, LATTIS_MEMORY_FORMAT, "lattis.memory_format")
#undef LATTIS_CASTER_

/* IntArrayRef, TensorList and their like: the elements live as long as the call. */
template <class T>
struct type_caster<lattis::ArrayRef<T>> {
  static_assert(!std::is_same<T, bool>::value, "take a std::vector<bool>: its elements do not lie in a row");
  using List = make_caster<std::vector<T>>;
  static constexpr auto name = List::name;
  template <class>
  using cast_op_type = lattis::ArrayRef<T>;
  operator lattis::ArrayRef<T>() { return static_cast<std::vector<T>&>(list); }
  bool load(handle source, bool convert) { return list.load(source, convert); }
  static handle cast(lattis::ArrayRef<T> x, return_value_policy policy, handle parent) {
    return List::cast(x.vec(), policy, parent);
  }
  List list;
};
/* pybind11's own would let go of the elements before the call. Other containers of ArrayRef would, too: take vectors.
 */
template <class T>
struct type_caster<std::optional<lattis::ArrayRef<T>>> {
  using List = make_caster<lattis::ArrayRef<T>>;
  static constexpr auto name = const_name("Optional[") + List::name + const_name("]");
  template <class>
  using cast_op_type = std::optional<lattis::ArrayRef<T>>;
  operator std::optional<lattis::ArrayRef<T>>() {
    return given ? std::optional<lattis::ArrayRef<T>>(list) : std::nullopt;
  }
  bool load(handle source, bool convert) {
    given = !source.is_none();
    return !given || list.load(source, convert);
  }
  static handle cast(const std::optional<lattis::ArrayRef<T>>& x, return_value_policy policy, handle parent) {
    return x ? List::cast(*x, policy, parent) : none().release();
  }
  bool given = false;
  List list;
};

}  // namespace detail
}  // namespace pybind11

#pragma GCC visibility pop

#endif
