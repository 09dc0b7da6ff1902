// The hooks of saving: functions of Python that take part in every save of the process.
#include "face.h"

namespace lamella::graph::face {
namespace {

using Files = std::map<std::string, std::string>;

lamella_status add_file(void* to, const char* name, const void* bytes, uint64_t n) {
  (*static_cast<Files*>(to))[name] = std::string(static_cast<const char*>(bytes), n);
  return LAMELLA_OK;
}

// Calls a function of Python with the program; it returns a dict of bytes.
lamella_status run_hook(void* function, lamella_object* program, const lamella_graph_files* files) {
  const python::Gil gil;
  try {
    api().retain(program);
    const py::dict added = py::handle(static_cast<PyObject*>(function))(Program{ProgramRef(program)});
    for (const auto& [name, content] : added) {
      const std::string bytes = content.cast<py::bytes>();
      if (const lamella_status status =
              files->add(files->context, name.cast<std::string>().c_str(), bytes.data(), bytes.size()))
        return status;
    }
    return LAMELLA_OK;
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  }
  return python::face().capture_exception();
}

void drop_hook(void* function) {
  const python::Gil gil;
  Py_DECREF(static_cast<PyObject*>(function));
}

}  // namespace

void add_hooks(py::module_& m) {
  m.def("add_export_hook", [](const py::function& f) {
    uint64_t handle = 0;
    const lamella_status status = graphs->add_export_hook(run_hook, f.inc_ref().ptr(), drop_hook, &handle);
    if (status) f.dec_ref();
    check(status);
    return handle;
  });
  m.def("remove_export_hook", [](uint64_t handle) { check(graphs->remove_export_hook(handle)); });
  m.def(
      "run_export_hooks",
      [](const Program& p) {
        Files found;
        const lamella_graph_files files{&found, add_file};
        check(graphs->run_export_hooks(p.ref.get(), &files));
        py::dict all;
        for (const auto& [name, content] : found) all[py::str(name)] = py::bytes(content);
        return all;
      },
      "Calls the hooks of saving with a program; returns the further files that they add, as bytes.");
}

}  // namespace lamella::graph::face
