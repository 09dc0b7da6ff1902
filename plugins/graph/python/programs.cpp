// `Program`: its text, its constants, its runs.
#include "face.h"

namespace lamella::graph::face {
namespace {

// Calls a function of Python for a program; drops the references of the values behind it.
lamella_status call_python(void* context, const lamella_value* args, int32_t n, lamella_value* result) {
  const python::Gil gil;
  PyObject* tuple = PyTuple_New(n);
  for (int32_t i = 0; tuple && i < n; i++) {
    PyObject* o = to_python(args[i]);
    if (!o) Py_CLEAR(tuple);
    if (o) PyTuple_SET_ITEM(tuple, i, o);
  }
  PyObject* out = tuple ? PyObject_Call(static_cast<PyObject*>(context), tuple, nullptr) : nullptr;
  Py_XDECREF(tuple);
  const int failed = !out || to_value(out, result) < 0;
  Py_XDECREF(out);
  return failed ? python::face().capture_exception() : LAMELLA_OK;
}
void drop(void* o) { python::face().drop(static_cast<PyObject*>(o)); }

Program parse(const std::string& text, const py::sequence& constants, const py::dict& callables) {
  std::vector<lamella_tensor*> tensors;
  for (const py::handle o : constants) {
    lamella_tensor* t = python::face().unwrap(o.ptr());
    if (!t) throw py::type_error("parse: argument 'constants' must be Tensors, got " + std::string(py::repr(o)));
    tensors.push_back(t);
  }
  lamella_object* p = nullptr;
  check(graphs->parse(text.data(), static_cast<int64_t>(text.size()), tensors.data(),
                      static_cast<int32_t>(tensors.size()), &p));
  Program made{ProgramRef(p)};
  for (const auto& [name, f] : callables) {
    const std::string key = py::str(name);
    const lamella_graph_host_function given = {sizeof given, 0, key.c_str(), call_python, drop, f.inc_ref().ptr()};
    check(graphs->add_host_function(p, &given));
  }
  return made;
}

template <class Call>
std::vector<std::string> names(Call call) {
  std::vector<const char*> all(static_cast<size_t>(call(nullptr, 0)));
  call(all.data(), static_cast<int32_t>(all.size()));
  return {all.begin(), all.end()};
}

}  // namespace

py::object run(const Program& p, const char* name, const py::tuple& args) {
  std::vector<lamella_value> values(args.size(), lamella_value{LAMELLA_NONE, 0, {0}});
  struct Release {
    std::vector<lamella_value>& values;
    ~Release() {
      for (lamella_value& v : values) api().value_release(&v);
    }
  } release{values};
  for (size_t i = 0; i < values.size(); i++)
    if (to_value(py::object(args[i]).ptr(), &values[i]) < 0) throw py::error_already_set();
  Owned result;
  check(unlocked(
      [&] { return graphs->run(p.ref.get(), name, values.data(), static_cast<int32_t>(values.size()), &result.v); }));
  PyObject* o = to_python(result.v);
  if (!o) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(o);
}

namespace {

// Returns whether a builtin, by its name with the overload, writes an argument.
bool writes(const std::string& name) {
  const size_t dot = name.find('.', name.find("::"));
  const std::string plain = name.substr(0, dot);
  for (const std::string& text :
       names([&](const char**out, int32_t room) { return graphs->signatures(plain.c_str(), out, room); }))
    if (text.rfind(name + "(", 0) == 0) return text.find('!') != std::string::npos;
  return false;
}

py::dict attributes(const Program& p, const char* class_name) {
  int32_t n = 0;
  check(graphs->attributes(p.ref.get(), class_name, nullptr, nullptr, 0, &n));
  std::vector<lamella_value> keys(static_cast<size_t>(n)), types(static_cast<size_t>(n));
  check(graphs->attributes(p.ref.get(), class_name, keys.data(), types.data(), n, &n));
  py::dict all;
  for (size_t i = 0; i < keys.size(); i++) {
    const Owned key(keys[i]), type(types[i]);
    all[py::str(key.text())] = type.text();
  }
  return all;
}

py::object new_object(const Program& p, const char* class_name, const py::dict& given) {
  int32_t n = 0;
  check(graphs->attributes(p.ref.get(), class_name, nullptr, nullptr, 0, &n));
  std::vector<lamella_value> keys(static_cast<size_t>(n)), items;
  check(graphs->attributes(p.ref.get(), class_name, keys.data(), nullptr, n, &n));
  std::vector<Owned> names(keys.begin(), keys.end());
  for (const Owned& key : names) {
    const py::str name(key.v.as.string, key.v.length);
    PyObject* found = PyDict_GetItemWithError(given.ptr(), name.ptr());
    if (!found) throw py::value_error(std::string(class_name) + ": attribute '" + key.text() + "' is missing");
    lamella_value v;
    if (to_value(found, &v) < 0) throw py::error_already_set();
    items.push_back(v);
  }
  Owned out;
  check(graphs->make(LAMELLA_GRAPH_INSTANCE, items.data(), static_cast<int32_t>(items.size()), p.ref.get(), class_name,
                     &out.v));
  PyObject* o = to_python(out.v);
  if (!o) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(o);
}

}  // namespace

void add_programs(py::module_& m) {
  py::class_<Program>(m, "Program", "Graphs by name, with the classes and the constant tensors that they use.")
      .def(py::init(&parse), py::arg("text"), py::arg("constants") = py::tuple(), py::arg("callables") = py::dict())
      .def("__str__",
           [](const Program& p) {
             Owned text;
             check(graphs->text(p.ref.get(), &text.v));
             return text.line();
           })
      .def(
          "copy",
          [](const Program& p) {
            lamella_object* made = nullptr;
            check(graphs->copy(p.ref.get(), &made));
            return Program{ProgramRef(made)};
          },
          "Returns a program of its own with the same graphs, classes and constants.")
      .def("__eq__",
           [](const Program& a, py::handle b) {
             return py::isinstance<Program>(b) && graphs->same(a.ref.get(), b.cast<const Program&>().ref.get()) == 1;
           })
      .def(
          "verify", [](const Program& p) { check(graphs->verify(p.ref.get())); },
          "Raises a ValueError for a program that is not well formed, with the node and its place.")
      .def(
          "compile", [](const Program& p) { check(graphs->compile(p.ref.get())); },
          "Checks the program, and compiles it, which else its next call does.")
      .def("run", &run, py::arg("name"), py::arg("args"), "Runs a graph by its name with a tuple of arguments.")
      .def("attributes", &attributes, py::arg("class_name"),
           "Returns the types of the attributes of a class, as texts, by their names.")
      .def("new_object", &new_object, py::arg("class_name"), py::arg("attributes"),
           "Makes an instance of a class from the values of its attributes.")
      .def(
          "run_pass",
          [](const Program& p, const char* name) {
            int32_t changed = 0;
            check(graphs->run_pass(name, p.ref.get(), &changed));
            return changed != 0;
          },
          "Runs a pass over all graphs; returns whether it changed one.")
      .def(
          "rewrite",
          [](const Program& p, const char* from, const char* to) {
            int32_t count = 0;
            check(graphs->rewrite(p.ref.get(), from, to, &count));
            return count;
          },
          "Replaces each match of a graph, given as a text, by another one; returns how many there were.")
      .def(
          "add_constant",
          [](const Program& p, py::handle o) {
            lamella_tensor* t = python::face().unwrap(o.ptr());
            if (!t) throw py::type_error("add_constant: expected a Tensor");
            int32_t number = 0;
            check(graphs->add_constant(p.ref.get(), t, &number));
            return number;
          },
          "Adds a constant tensor; returns its number.")
      .def_property_readonly(
          "constants",
          [](const Program& p) {
            std::vector<lamella_tensor*> all(static_cast<size_t>(graphs->constants(p.ref.get(), nullptr, 0)));
            graphs->constants(p.ref.get(), all.data(), static_cast<int32_t>(all.size()));
            py::list list;
            for (lamella_tensor* t : all) {
              api().retain(t);
              PyObject* o = python::face().wrap(t);
              if (!o) throw py::error_already_set();
              list.append(py::reinterpret_steal<py::object>(o));
            }
            return list;
          },
          "The constant tensors, by their numbers.")
      .def_property_readonly(
          "names",
          [](const Program& p) {
            return names([&](const char** out, int32_t room) { return graphs->graphs(p.ref.get(), out, room); });
          },
          "The names of the graphs.")
      .def_property_readonly(
          "classes",
          [](const Program& p) {
            return names([&](const char** out, int32_t room) { return graphs->classes(p.ref.get(), out, room); });
          },
          "The names of the classes.");
  m.def("signatures", [](const char* name) {
    return names([&](const char** out, int32_t room) { return graphs->signatures(name, out, room); });
  });
  m.def("builtin_schemas",
        [] { return names([](const char** out, int32_t room) { return graphs->builtins(out, room); }); });
  m.def("passes", [] { return names([](const char** out, int32_t room) { return graphs->passes(out, room); }); });
  m.def(
      "builtin",
      [](const char* name, const py::tuple& args) {
        std::vector<lamella_value> values;
        std::vector<Owned> own;
        for (const py::handle o : args) {
          lamella_value v;
          if (to_value(o.ptr(), &v) < 0) throw py::error_already_set();
          values.push_back(v);
        }
        Owned out;
        const lamella_status status =
            graphs->call_builtin(name, values.data(), static_cast<int32_t>(values.size()), &out.v);
        for (const lamella_value& v : values) own.emplace_back(v);
        check(status);
        const py::object result = py::reinterpret_steal<py::object>(to_python(out.v));
        if (!writes(name)) return result;
        py::list after;
        for (const Owned& v : own) after.append(py::reinterpret_steal<py::object>(to_python(v.v)));
        return py::object(py::make_tuple(result, after));
      },
      "Calls a builtin; one that writes gives its result and its arguments afterwards.");
}

}  // namespace lamella::graph::face
