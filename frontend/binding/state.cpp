#include "frontend/binding/overrides.h"
#include "frontend/binding/state.h"

#include <pybind11/stl.h>

#include <memory>
#include <utility>

#include "core/thread.h"
#include "dispatcher/layer.h"
#include "dispatcher/slots.h"
#include "dispatcher/thread_state.h"
#include "frontend/binding/conversion.h"
#include "frontend/binding/plugin_keywords.h"
#include "frontend/binding/status.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/types.h"

namespace py = pybind11;

namespace lamella::binding {
namespace {

Tensor* tensor_of(const char* name, const py::object& o) {
  if (!is_tensor(o.ptr())) throw py::type_error(std::string(name) + ": expected a Tensor, got " + type_name(o.ptr()));
  return unwrap(o.ptr());
}

// _save_slots(tensor) -> [(name, value)]: the slots' values for a pickle.
py::list save_slots(const py::object& tensor) {
  std::vector<dispatcher::SavedSlot> saved;
  check(dispatcher::save_slots(tensor_of("_save_slots", tensor), &saved));
  py::list out;
  for (const dispatcher::SavedSlot& s : saved) {
    const auto value = py::reinterpret_steal<py::object>(borrowed_to_python(s.value));
    if (!value) throw py::error_already_set();  // a text that is not UTF-8
    out.append(py::make_tuple(s.name, value));
  }
  return out;
}

// _load_slot(tensor, name, value) -> whether a plugin has the slot.
bool load_slot(const py::object& tensor, const std::string& name, const py::object& value) {
  Arena arena;
  arena.saved = true;
  Value v;
  if (!convert_any(value.ptr(), &v, arena) || v.tag == LAMELLA_OBJECT) {
    if (PyErr_Occurred()) throw py::error_already_set();
    throw py::type_error("_load_slot: no slot saves a " + type_name(value.ptr()));
  }
  bool found;
  check(dispatcher::load_slot(tensor_of("_load_slot", tensor), name.c_str(), v, &found));
  return found;
}

// _opaque(dtype, size, stride, device, cls): makes an opaque tensor, to be filled by `_load_slot`, or of a class with a
// __torch_dispatch__.
py::object new_opaque(const py::object& dtype, const std::vector<int64_t>& size, const std::vector<int64_t>& stride,
                      const py::object& device, const py::object& cls) {
  core::DType t;
  lamella_device d;
  auto* type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  if (!cls.is_none() && !(PyType_Check(cls.ptr()) && PyType_IsSubtype(type, tensor_type) && has_dispatch(type)))
    throw py::type_error(
        "_make_wrapper_subclass: argument 'cls' must be a subclass of Tensor that defines "
        "__torch_dispatch__, a class method, got " +
        text_of(py::repr(cls).ptr()));
  if (!read_dtype(dtype.ptr(), &t)) throw py::type_error("_opaque: expected a dtype, got " + type_name(dtype.ptr()));
  const int read = read_device(device.ptr(), &d);
  if (read < 0) throw py::error_already_set();
  if (!read || size.size() != stride.size())
    throw py::value_error("_opaque: expected a device and as many strides as sizes, got " + type_name(device.ptr()) +
                          ", " + std::to_string(stride.size()) + " strides and " + std::to_string(size.size()) +
                          " sizes");
  const int ndim = static_cast<int>(size.size());
  check(core::check_device("_opaque", d));
  check(core::check_sizes("_opaque", ndim, size.data(), core::itemsize(t), nullptr));
  for (int64_t s : stride)
    if (s < 0) throw py::value_error("_opaque: strides must not be negative, got " + std::to_string(s));
  check(core::check_span(ndim, size.data(), stride.data(), core::itemsize(t)));
  PyObject* o = wrap(core::new_opaque(ndim, size.data(), stride.data(), t, d));
  if (o && !cls.is_none()) o = of_class(o, type);
  if (!o) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(o);
}

// Exchanges the tensors and the attributes of two Python objects.
void swap_tensors(const py::object& a, const py::object& b) {
  Tensor *x = tensor_of("swap_tensors", a), *y = tensor_of("swap_tensors", b);
  auto *first = reinterpret_cast<TensorObject*>(a.ptr()), *second = reinterpret_cast<TensorObject*>(b.ptr());
  if (first->weakrefs || second->weakrefs)
    throw std::runtime_error("swap_tensors: a tensor has weak references, which would lead to the other tensor");
  std::swap(first->tensor, second->tensor);
  std::swap(first->dict, second->dict);
  std::swap(x->host, y->host);
  check(mark_class(y, Py_TYPE(a.ptr())));
  check(mark_class(x, Py_TYPE(b.ptr())));
}

// The captured state of a thread; each thread that uses it at the same time needs a copy.
class ThreadState {
 public:
  ThreadState() { check(dispatcher::capture_thread(&held_)); }
  ThreadState(const ThreadState& o) { check(dispatcher::copy_captured(o.held_, &held_)); }
  ThreadState& operator=(const ThreadState&) = delete;
  ~ThreadState() { dispatcher::discard_captured(held_); }
  void swap() { check(dispatcher::swap_captured(held_)); }

 private:
  lamella_captured* held_ = nullptr;
};

}  // namespace

void add_state(py::module_& m) {
  m.def("_save_slots", save_slots);
  m.def("_load_slot", load_slot);
  m.def("_opaque", new_opaque, py::arg("dtype"), py::arg("size"), py::arg("stride"), py::arg("device"),
        py::arg("cls") = py::none());
  m.def("_swap_tensors", swap_tensors);
  // Returns the tensor, or the name of an unknown keyword.
  m.def("_apply_keywords", [](py::object tensor, py::dict keywords) {
    PyObject* unknown = nullptr;
    PyObject* made = apply_keywords(tensor.ptr(), keywords.ptr(), &unknown);
    if (!made && !unknown) throw py::error_already_set();
    return made ? py::reinterpret_steal<py::object>(made) : py::reinterpret_borrow<py::object>(unknown);
  });
  m.def("_is_claimed", [](const std::string& keyword) {
    const dispatcher::Keyword* k = dispatcher::find_keyword(keyword);
    return k && k->claims;
  });
  m.def("_thread_layers",
        [] { return py::make_tuple(core::this_thread().shared.include, core::this_thread().shared.exclude); });
  m.def("_layers_not_in_backward", [] { return dispatcher::layers_not_in_backward.load(); });
  m.def("_in_kernel", [] { return core::this_thread().shared.frame != nullptr; });
  m.def("_set_thread_layers", [](uint64_t include, uint64_t exclude) {
    core::this_thread().shared.include = include;
    core::this_thread().shared.exclude = exclude;
  });
  py::class_<ThreadState>(m, "_ThreadState")
      .def(py::init())
      .def("copy", [](const ThreadState& s) { return std::make_unique<ThreadState>(s); })
      .def("swap", &ThreadState::swap);
}

}  // namespace lamella::binding
