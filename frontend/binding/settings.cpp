#include "frontend/binding/settings.h"

#include <lamella/profiler.h>

#include "core/caching_pool.h"
#include "core/device.h"
#include "core/dtype.h"
#include "core/object.h"
#include "core/thread.h"
#include "dispatcher/generator.h"
#include "dispatcher/interfaces.h"
#include "dispatcher/parallel.h"
#include "frontend/binding/status.h"
#include "frontend/binding/types.h"

namespace py = pybind11;

namespace lamella::binding {
namespace {

py::object generator_object(core::Ref<lamella_object> g) {
  if (!g) return py::none();
  return py::reinterpret_steal<py::object>(new_generator_object(g.take()));
}

}  // namespace

void add_settings(py::module_& m) {
  m.def(
      "get_num_threads", dispatcher::get_num_threads,
      "get_num_threads()\n--\n\nHow many threads one operator may use.\n\n>>> lamella.get_num_threads() >= 1\nTrue\n");
  m.def("_set_num_threads", dispatcher::set_num_threads);
  m.def(
      "_find_dtype",
      [](const std::string& name) {
        const core::DType t = core::dtype_from_name(name.c_str());
        if (t != LAMELLA_NO_DTYPE) return py::reinterpret_borrow<py::object>(dtype_object(t));
        throw py::value_error("find_dtype: no dtype '" + name + "' is registered; import the package that brings it");
      },
      "find_dtype(name)\n--\n\nThe dtype with this name. It may be of a plugin.\n\nRaises:\n    ValueError: "
      "there is none\n\n>>> lamella.library.find_dtype(\"float32\")\nlamella.float32\n");
  m.def("_set_default_dtype", [](py::object o) {
    core::DType t;
    if (!read_dtype(o.ptr(), &t) || core::dtype_class(t) != LAMELLA_CLASS_FLOATING || !core::is_plain(t))
      throw py::type_error("set_default_dtype: argument 'd' must be a floating dtype, got " + std::string(py::str(o)));
    core::set_default_dtype(t);
  });
  m.def(
      "get_default_dtype", [] { return py::reinterpret_borrow<py::object>(dtype_object(core::default_dtype())); },
      "get_default_dtype()\n--\n\nThe floating dtype that is used where none is given.\n\n>>> "
      "lamella.get_default_dtype()\nlamella.float32\n");
  m.def("_set_default_device", [](py::object o) {
    lamella_device d = {-1, 0};
    if (!o.is_none()) {
      int ok = read_device(o.ptr(), &d);
      if (ok < 0) throw py::error_already_set();
      if (!ok)
        throw py::type_error("set_default_device: argument 'device' must be a device or its name, got " +
                             type_name(o.ptr()));
    }
    core::this_thread().shared.default_device = d;
  });
  m.def("_get_default_device", [] {
    lamella_device d = core::this_thread().shared.default_device;
    if (d.backend < 0) d = {core::host_backend(), 0};
    return py::reinterpret_steal<py::object>(new_device(d));
  });
  m.def("_log_usage", [](const char* key) {  // returns whether a profiler, which keeps the log, is loaded
    const auto* profiler = static_cast<const lamella_profiler*>(dispatcher::find_interface("profiler", 1));
    if (profiler) check(profiler->log_usage_once(key));
    return profiler != nullptr;
  });
  m.def("_seed_all", [](py::object seed) {
    uint64_t s;
    if (!read_seed(seed.ptr(), &s)) throw py::error_already_set();
    dispatcher::seed_all(s);
  });
  m.def(
      "_default_generator",
      [](const py::object& device) {  // None means the host
        lamella_device d = {core::host_backend(), 0};
        if (!device.is_none()) {
          const int read = read_device(device.ptr(), &d);
          if (read < 0) throw py::error_already_set();
          if (!read) throw py::type_error("default_generator: expected a device, got " + type_name(device.ptr()));
          check(core::check_device("default_generator", d));
        }
        return generator_object(core::Ref<lamella_object>::borrow(dispatcher::default_generator(d)));
      },
      py::arg("device") = py::none());
  m.def("_promote", [](py::object a, py::object b) -> py::object {
    core::DType x, y;
    if (!read_dtype(a.ptr(), &x) || !read_dtype(b.ptr(), &y))
      throw py::type_error("promote_types: expected two dtypes, got " + type_name(a.ptr()) + " and " +
                           type_name(b.ptr()));
    core::DType r = core::promote(x, y);
    if (r == LAMELLA_NO_DTYPE)
      throw std::runtime_error(std::string("promote_types: no dtype holds both ") + core::dtype_info(x).name + " and " +
                               core::dtype_info(y).name);
    return py::reinterpret_borrow<py::object>(dtype_object(r));
  });
}

}  // namespace lamella::binding
