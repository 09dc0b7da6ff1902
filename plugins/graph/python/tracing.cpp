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

struct Place {
  const char* file = nullptr;
  int32_t line = 0;
};

// Returns the name of the file of a frame if it is not lamella's own, else null.
const char* foreign_file(PyFrameObject* frame) {
  PyCodeObject* code = PyFrame_GetCode(frame);
  const char* name = PyUnicode_AsUTF8(code->co_filename);  // the string keeps it, and the frame the string
  Py_DECREF(code);
  return name && std::string_view(name).rfind(package, 0) != 0 ? name : nullptr;
}

// Finds the innermost line of Python that is not lamella's own, from a frame on, which is released. At the frame `end`
// the search ends with `place`.
Place search(PyFrameObject* frame, const PyFrameObject* end, const Place& place) {
  Place found;
  while (frame && !found.file) {
    if (frame == end) {
      found = place;
      break;
    }
    if (const char* name = foreign_file(frame)) found = {shown(name), PyFrame_GetLineNumber(frame)};
    PyFrameObject* back = found.file ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  PyErr_Clear();
  return found;
}

// A frame of lamella's that has started a recorder. The frames behind it stay at their lines as long as it runs, so
// that their place is searched once.
struct Start {
  PyFrameObject* frame;  // owned, or null
  Place place;
};
thread_local std::vector<Start> starts;

void add_start() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  if (frame && foreign_file(frame)) Py_CLEAR(frame);  // its line changes
  starts.push_back({frame, frame ? search(PyFrame_GetBack(frame), nullptr, {}) : Place()});
}
void remove_start() {
  Py_XDECREF(starts.back().frame);
  starts.pop_back();
}

const char* place(void*, int32_t* line) {
  const python::Gil gil;
  const Start last = starts.empty() ? Start() : starts.back();
  const Place found = search(PyThreadState_GetFrame(PyThreadState_Get()), last.frame, last.place);
  *line = found.line;
  return found.file;
}

struct Recorder {
  ProgramRef program;
  ProgramRef recorder;  // a counted object, too
  bool has_places = true;
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

py::object to_object(const Owned& v) {
  PyObject* o = to_python(v.v);
  if (!o) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(o);
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
      .def("start",
           [](const Recorder& r) {
             check(graphs->recorder_start(r.recorder.get()));
             if (r.has_places) add_start();
           })
      .def("stop",
           [](const Recorder& r) {
             check(graphs->recorder_stop(r.recorder.get()));
             if (r.has_places) remove_start();
           })
      .def("end", [](const Recorder& r) { check(graphs->recorder_end(r.recorder.get())); })
      .def("input",
           [](const Recorder& r, py::handle real, const Value& v) {
             lamella_tensor* made = nullptr;
             check(graphs->recorder_input(r.recorder.get(), tensor(real), v.value, &made));
             return wrap(made);
           })
      .def("attributes",
           [](const Recorder& r, const Value& self, const py::list& named) {
             for (const py::handle pair : named) {  // a tensor, and the names on the way to it with dots between them
               const auto [t, text] = pair.cast<std::pair<py::object, std::string>>();
               std::string path = text;
               std::vector<const char*> names = {path.data()};
               for (char& c : path)
                 if (c == '.') {
                   c = 0;
                   names.push_back(&c + 1);
                 }
               check(graphs->recorder_attribute(r.recorder.get(), tensor(t), self.value, names.data(),
                                                static_cast<int32_t>(names.size())));
             }
           })
      .def("value",
           [](const Recorder& r, py::handle o) {
             Owned v;
             if (to_value(o.ptr(), &v.v) < 0) throw py::error_already_set();
             lamella_graph_value* found = nullptr;
             check(graphs->recorder_value(r.recorder.get(), &v.v, &found));
             return Value{r.program, found};
           })
      .def(
          "by_shape",
          [](const Recorder& r) {
            lamella_object *program = nullptr, *made = nullptr;
            check(graphs->recorder_by_shape(r.recorder.get(), &program, &made));
            const ProgramRef p(program);
            return std::pair(Program{p}, Recorder{p, ProgramRef(made), false});
          },
          "Returns a recorder by shape for the same function, and its program.")
      .def_property_readonly("warnings", [](const Recorder& r) {
        Owned list;
        check(graphs->recorder_warnings(r.recorder.get(), &list.v));
        return to_object(list);
      });
  m.def("is_tracing", [] {
    static const int32_t bit = api().find_layer("trace");
    return bit >= 0 && (api().thread()->include >> bit & 1) != 0;
  });
  m.def(
      "replace_sizes",
      [](const Graph& g, const std::vector<Value>& inputs, const std::vector<std::string>& names,
         const std::vector<std::tuple<int32_t, int64_t, int64_t, Graph, Graph>>& others) {
        std::vector<lamella_graph_value*> values;
        std::vector<const char*> texts;
        for (const Value& v : inputs) values.push_back(v.value);
        for (const std::string& name : names) texts.push_back(name.c_str());
        if (values.size() != texts.size()) throw py::value_error("replace_sizes: each input has one name");
        std::vector<lamella_graph_other_sizes> sizes;
        std::vector<const lamella_graph_other_sizes*> all;
        for (const auto& [input, dim, length, twice, thrice] : others)
          sizes.push_back({sizeof(lamella_graph_other_sizes), input, dim, length, twice.graph, thrice.graph});
        for (const lamella_graph_other_sizes& s : sizes) all.push_back(&s);
        Owned reports;
        check(graphs->replace_sizes(g.graph, values.data(), texts.data(), static_cast<int32_t>(values.size()),
                                    all.data(), static_cast<int32_t>(all.size()), &reports.v));
        return to_object(reports);
      },
      "Compares a graph with its recordings for other sizes: an input, a dimension, its size, the two graphs.");
  m.def("real", [](py::handle t) {
    lamella_tensor* found = nullptr;
    check(graphs->recorder_real(tensor(t), &found));
    return wrap(found);
  });
}

}  // namespace lamella::graph::face
