// Values of running programs as Python's objects, and back.
#include "face.h"

namespace lamella::graph::face {
namespace {

// An instance of a class of a program.
struct Instance {
  Owned value;
};
// The result of a function that runs beside its caller.
struct Future {
  Owned value;
};

int to_plain_value(PyObject* o, lamella_value* out);  // of an object that contains no others
PyObject* to_object(const lamella_value& v);

int add_items(PyObject* fast, int32_t kind, lamella_value* out) {
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
  std::vector<lamella_value> items;
  items.reserve(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; i++) {
    lamella_value v;
    if (to_value(PySequence_Fast_GET_ITEM(fast, i), &v) < 0) {
      for (lamella_value& x : items) api().value_release(&x);
      return -1;
    }
    items.push_back(v);
  }
  if (!graphs->make(kind, items.data(), static_cast<int32_t>(n), nullptr, nullptr, out)) return 0;
  python::face().raise_pending();
  return -1;
}

int dict_to_value(PyObject* o, lamella_value* out) {
  PyObject* pairs = PyList_New(0);
  if (!pairs) return -1;
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(o, &at, &key, &value);)
    if (PyList_Append(pairs, key) < 0 || PyList_Append(pairs, value) < 0) {
      Py_DECREF(pairs);
      return -1;
    }
  const int failed = add_items(pairs, LAMELLA_GRAPH_DICT, out);
  Py_DECREF(pairs);
  return failed;
}

}  // namespace

int to_value(PyObject* o, lamella_value* out) {
  if (!PyList_Check(o) && !PyTuple_Check(o) && !PyDict_Check(o)) return to_plain_value(o, out);
  if (Py_EnterRecursiveCall(" in a value for a program")) return -1;  // such as a list that contains itself
  const int failed = PyList_Check(o)    ? add_items(o, LAMELLA_GRAPH_LIST, out)
                     : PyTuple_Check(o) ? add_items(o, LAMELLA_GRAPH_TUPLE, out)
                                        : dict_to_value(o, out);
  Py_LeaveRecursiveCall();
  return failed;
}

PyObject* to_python(const lamella_value& v) {
  if (Py_EnterRecursiveCall(" in a value of a program")) return nullptr;
  PyObject* made = to_object(v);
  Py_LeaveRecursiveCall();
  return made;
}

namespace {

int to_plain_value(PyObject* o, lamella_value* out) {
  if (lamella_tensor* t = python::face().unwrap(o)) {
    api().retain(t);
    *out = value(t);
    return 0;
  }
  if (PyLong_CheckExact(o) || PyFloat_CheckExact(o) || PyBool_Check(o) || o == Py_None || PyUnicode_CheckExact(o))
    return python::face().from_python(o, out);
  if (py::isinstance<Instance>(o) || py::isinstance<Future>(o)) {
    const lamella_value& v =
        py::isinstance<Instance>(o) ? py::handle(o).cast<Instance&>().value.v : py::handle(o).cast<Future&>().value.v;
    if (!api().value_retain(&v, out)) return 0;
    python::face().raise_pending();
    return -1;
  }
  return python::face().from_python(o, out);
}

PyObject* to_object(const lamella_value& v) {
  const int32_t kind = graphs->kind_of(&v);
  if (kind == LAMELLA_GRAPH_NO_CONTAINER) return python::face().to_python(&v);
  if (kind == LAMELLA_GRAPH_INSTANCE || kind == LAMELLA_GRAPH_FUTURE) {
    lamella_value own;
    if (api().value_retain(&v, &own)) return python::face().raise_pending();
    try {
      return (kind == LAMELLA_GRAPH_INSTANCE ? py::cast(Instance{Owned(own)}) : py::cast(Future{Owned(own)}))
          .release()
          .ptr();
    } catch (py::error_already_set& e) {
      e.restore();
      return nullptr;
    }
  }
  Owned items;
  if (graphs->items(&v, &items.v)) return python::face().raise_pending();
  const uint32_t n = items.v.length;
  PyObject* made = kind == LAMELLA_GRAPH_LIST    ? PyList_New(n)
                   : kind == LAMELLA_GRAPH_TUPLE ? PyTuple_New(n)
                                                 : PyDict_New();
  if (!made) return nullptr;
  for (uint32_t i = 0; i < n; i++) {
    PyObject* o = to_python(items.v.as.values[i]);
    int failed = !o;
    if (o && kind == LAMELLA_GRAPH_LIST) {
      PyList_SET_ITEM(made, i, o);
    } else if (o && kind == LAMELLA_GRAPH_TUPLE) {
      PyTuple_SET_ITEM(made, i, o);
    } else if (o) {  // a key, and its value
      PyObject* value = to_python(items.v.as.values[++i]);
      failed = !value || PyDict_SetItem(made, o, value) < 0;
      Py_DECREF(o);
      Py_XDECREF(value);
    }
    if (failed) {
      Py_DECREF(made);
      return nullptr;
    }
  }
  return made;
}

py::object attribute(const Instance& self, const char* name) {
  Owned out;
  if (graphs->get_attribute(&self.value.v, name, &out.v)) {
    const std::string why = api().error_message();
    api().error_clear();
    throw py::attribute_error(why);
  }
  PyObject* o = to_python(out.v);
  if (!o) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(o);
}

}  // namespace

void add_instances(py::module_& m) {
  py::class_<Instance>(m, "Object", "An instance of a class of a program; its attributes are those of the class.")
      .def_property_readonly("_class", [](const Instance& self) { return graphs->class_of(&self.value.v); })
      .def("__getattr__", [](const Instance& self, const char* name) { return attribute(self, name); })
      .def(
          "_values",
          [](const Instance& self, const py::iterable& names) {
            py::dict all;
            for (const py::handle name : names) all[name] = attribute(self, name.cast<std::string>().c_str());
            return all;
          },
          "Returns attributes by name, faster than one by one.")
      .def("__setattr__",
           [](const Instance& self, const char* name, py::handle o) {
             Owned given;
             if (to_value(o.ptr(), &given.v) < 0) throw py::error_already_set();
             check(graphs->set_attribute(&self.value.v, name, &given.v));
           })
      .def("__eq__",
           [](const Instance& a, py::handle b) {
             return py::isinstance<Instance>(b) && a.value.v.as.object == b.cast<Instance&>().value.v.as.object;
           })
      .def("__hash__", [](const Instance& self) { return reinterpret_cast<Py_ssize_t>(self.value.v.as.object) >> 4; })
      .def("__repr__",
           [](const Instance& self) { return "<" + std::string(graphs->class_of(&self.value.v)) + " object>"; });
  py::class_<Future>(m, "Future", "The result of a function that runs beside its caller.")
      .def(
          "wait",
          [](const Future& self) {
            Owned out;
            check(unlocked([&] { return graphs->wait(&self.value.v, &out.v); }));
            PyObject* o = to_python(out.v);
            if (!o) throw py::error_already_set();
            return py::reinterpret_steal<py::object>(o);
          },
          "Waits for the function; returns its result, or raises its error.");
}

}  // namespace lamella::graph::face
