// `Recorder`, which records the operators of a function of Python, and the places in its source.
#include "face.h"

#include <filesystem>
#include <set>

#include "handles.h"

namespace lamella::graph::face {
namespace {

std::string package;  // the folder of lamella, whose own lines are no places

// Returns a path relative to the current folder if it is below it, else the name of the file. It stays valid.
const char* shown(const std::string& path) {
  static std::map<std::string, std::string> known;
  const auto [at, fresh] = known.try_emplace(path);
  if (fresh) {
    std::error_code none;
    const std::string here = std::filesystem::current_path(none).string() + "/";
    at->second = path.rfind(here, 0) == 0 ? path.substr(here.size()) : std::filesystem::path(path).filename().string();
  }
  return at->second.c_str();
}

// Finds the innermost line of Python that is not lamella's own.
const char* place(void*, int32_t* line) {
  const python::Gil gil;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  const char* file = nullptr;
  while (frame && !file) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* name = PyUnicode_AsUTF8(code->co_filename);
    if (name && std::string_view(name).rfind(package, 0) != 0) {
      file = shown(name);
      *line = PyFrame_GetLineNumber(frame);
    }
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  PyErr_Clear();
  return file;
}

struct Recorder {
  ProgramRef program;
  ProgramRef recorder;  // a counted object, too
};

py::object wrap(lamella_tensor* owned) {
  PyObject* o = python::face().wrap(owned);
  if (!o) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(o);
}
lamella_tensor* tensor(py::handle o) {
  lamella_tensor* t = python::face().unwrap(o.ptr());
  if (!t) throw py::type_error("expected a Tensor, got " + std::string(py::repr(o)));
  return t;
}

}  // namespace

void add_tracing(py::module_& m, const std::string& package_folder) {
  package = package_folder;
  py::class_<Recorder>(m, "Recorder", "Records the operators of a function of Python as nodes of a graph.")
      .def(py::init([](const Program& p, const char* name, bool strict, bool by_shape) {
             lamella_object* r = nullptr;
             check(graphs->recorder_new(p.ref.get(), name, strict, by_shape, place, nullptr, &r));
             return Recorder{p.ref, ProgramRef(r)};
           }),
           py::arg("program"), py::arg("graph"), py::arg("strict") = true, py::arg("by_shape") = false)
      .def("start", [](const Recorder& r) { check(graphs->recorder_start(r.recorder.get())); })
      .def("stop", [](const Recorder& r) { check(graphs->recorder_stop(r.recorder.get())); })
      .def("end", [](const Recorder& r) { check(graphs->recorder_end(r.recorder.get())); })
      .def("input",
           [](const Recorder& r, py::handle real, const Value& v) {
             lamella_tensor* made = nullptr;
             check(graphs->recorder_input(r.recorder.get(), tensor(real), v.value, &made));
             return wrap(made);
           })
      .def("attribute",
           [](const Recorder& r, py::handle t, const Value& self, const std::vector<std::string>& path) {
             std::vector<const char*> names;
             for (const std::string& name : path) names.push_back(name.c_str());
             check(graphs->recorder_attribute(r.recorder.get(), tensor(t), self.value, names.data(),
                                              static_cast<int32_t>(names.size())));
           })
      .def("value",
           [](const Recorder& r, py::handle o) {
             Owned v;
             if (to_value(o.ptr(), &v.v) < 0) throw py::error_already_set();
             lamella_graph_value* found = nullptr;
             check(graphs->recorder_value(r.recorder.get(), &v.v, &found));
             return Value{r.program, found};
           })
      .def_property_readonly("warnings", [](const Recorder& r) {
        Owned list;
        check(graphs->recorder_warnings(r.recorder.get(), &list.v));
        PyObject* o = to_python(list.v);
        if (!o) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(o);
      });
  m.def("is_tracing", [] {
    static const int32_t bit = api().find_layer("trace");
    return bit >= 0 && (api().thread()->include >> bit & 1) != 0;
  });
  m.def("real", [](py::handle t) {
    lamella_tensor* found = nullptr;
    check(graphs->recorder_real(tensor(t), &found));
    return wrap(found);
  });
}

}  // namespace lamella::graph::face
