// A CPython extension module of another package on <lamella/python.h>: it links neither Lamella nor Python.
#include <lamella/python.h>

#include <string>
#include <thread>
#include <vector>

using lamella::api;
using lamella::python::face;

// Returns the negative of a tensor, by a call through the C ABI.
static PyObject* negative(PyObject*, PyObject* o) {
  lamella_tensor* t = face().unwrap(o);
  if (!t) return PyErr_Format(PyExc_TypeError, "negative: argument 'self' must be Tensor");
  lamella_value args[1] = {lamella::value(t)}, result = lamella::none();
  if (api().call(nullptr, api().find_operator("aten::neg", ""), args, 1, &result, 1)) return face().raise_pending();
  return face().wrap(result.as.tensor);
}

// Converts an object to a value and back; returns (tag, length, object).
static PyObject* through(PyObject*, PyObject* o) {
  lamella_value v;
  if (face().from_python(o, &v) < 0) return nullptr;
  PyObject* back = face().to_python(&v);
  PyObject* all = back ? Py_BuildValue("IIN", v.tag, v.length, back) : nullptr;
  api().value_release(&v);
  return all;
}

// Calls f; its exception becomes a pending error, and an exception again. Without an exception, raises another error.
static PyObject* errors(PyObject*, PyObject* f) {
  PyObject* result = PyObject_CallNoArgs(f);
  if (result) {
    Py_DECREF(result);
    lamella::fail(LAMELLA_INDEX_ERROR, "face: out of range");
    return face().raise_pending();
  }
  if (face().capture_exception() != LAMELLA_HOST_ERROR || PyErr_Occurred()) Py_RETURN_NONE;
  return face().raise_pending();
}

// Releases a reference on a thread without the lock.
static PyObject* drop(PyObject*, PyObject* o) {
  Py_INCREF(o);
  std::thread([o] { face().drop(o); }).join();
  Py_RETURN_NONE;
}

static PyObject* name(PyObject*, PyObject* o) {
  const lamella_operator* op = face().find_operator(o);
  if (!op) return nullptr;
  return PyUnicode_FromFormat("%s.%s", api().operator_name(op), api().operator_overload(op));
}

// The keyword `scaled`: multiplies the new tensor, which must be float32; zero is an error.
static lamella_library* library = nullptr;
static lamella_status scale(const lamella_operator*, void*, lamella_tensor** to, const lamella_value* value) {
  const lamella_tensor* result = *to;
  if (lamella::as_double(*value) == 0) return lamella::fail(LAMELLA_VALUE_ERROR, "scaled: argument 'scaled' is zero");
  for (int64_t i = 0; i < result->numel; i++)
    static_cast<float*>(result->dl.data)[i] *= static_cast<float>(lamella::as_double(*value));
  return LAMELLA_OK;
}
static const lamella_keyword_def scaled = {sizeof scaled, 0, "scaled", nullptr, scale, nullptr, nullptr};
static const lamella_library_def def = {sizeof def, LAMELLA_TARGET_VERSION, "face", "face.cpp", LAMELLA_EXTENDS, 0};
// Registers an attribute of Tensor that gives the number of elements; its name is the argument.
static PyObject* attribute(PyObject*, PyObject* name) {
  auto get = [](lamella_frame*, void*, lamella_tensor* self, lamella_value* out) -> lamella_status {
    *out = lamella::value(self->numel);
    return LAMELLA_OK;
  };
  lamella_library* l;
  if (api().library_open(&def, &l) || api().attribute(l, PyUnicode_AsUTF8(name), get, nullptr, nullptr, nullptr))
    return face().raise_pending();
  return PyCapsule_New(l, nullptr, [](PyObject* c) {
    api().library_close(static_cast<lamella_library*>(PyCapsule_GetPointer(c, nullptr)));
  });
}
static PyObject* keyword(PyObject*, PyObject* on) {
  if (on == Py_False) {
    api().library_close(library);
  } else if (api().library_open(&def, &library) || api().keyword(library, &scaled, nullptr)) {
    return face().raise_pending();
  }
  Py_RETURN_NONE;
}

// Resolves `first` to the first dimension and `last` to the last one. For `far` it answers a number that is no
// dimension of any tensor, so that the binding must refuse the answer.
static lamella_status resolve(void*, lamella_tensor* self, const char* name, int64_t* dim) {
  const std::string text = name;
  if (text != "first" && text != "last" && text != "far")
    return lamella::fail(LAMELLA_INDEX_ERROR, "there is no dimension '" + text + "'");
  *dim = text == "first" ? 0 : text == "far" ? 99 : self->dl.ndim - 1;
  return LAMELLA_OK;
}
// Takes unknown keywords whose values are ints for the sizes of dimensions; other keywords stay in.
static lamella_status expand(const lamella_operator*, void*, const lamella_value* given, lamella_value* out) {
  std::vector<int64_t> sizes;
  lamella_value size = {LAMELLA_STRING, 4, {0}};
  size.as.string = "size";
  std::vector<lamella_value> pairs = {size, lamella::none()};
  for (uint32_t i = 0; i < given->length; i++) {
    const lamella_value *key = given->as.values + 2 * i, *value = key + 1;
    if (value->tag == LAMELLA_INT)
      sizes.push_back(value->as.i);
    else
      pairs.insert(pairs.end(), {*key, *value});
  }
  pairs[1] = lamella::value(sizes);
  lamella_value made = {LAMELLA_DICT, static_cast<uint32_t>(pairs.size() / 2), {0}};
  made.as.values = pairs.data();
  return api().value_retain(&made, out);
}
static lamella_library* dims_library = nullptr;
static PyObject* resolver(PyObject*, PyObject* on) {
  if (on == Py_False) {
    api().library_close(dims_library);
  } else if (api().library_open(&def, &dims_library) || api().dim_resolver(dims_library, resolve, nullptr, nullptr)) {
    return face().raise_pending();
  }
  Py_RETURN_NONE;
}
static lamella_library* rest_library = nullptr;
static PyObject* rest(PyObject*, PyObject* on) {
  static const lamella_keyword_def sizes = {sizeof sizes, LAMELLA_KEYWORD_REST, "sizes", nullptr, nullptr, nullptr,
                                            expand};
  if (on == Py_False) {
    api().library_close(rest_library);
  } else if (api().library_open(&def, &rest_library) || api().keyword(rest_library, &sizes, nullptr)) {
    return face().raise_pending();
  }
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"negative", negative, METH_O, nullptr},   {"through", through, METH_O, nullptr},
                                {"errors", errors, METH_O, nullptr},       {"drop", drop, METH_O, nullptr},
                                {"name", name, METH_O, nullptr},           {"keyword", keyword, METH_O, nullptr},
                                {"attribute", attribute, METH_O, nullptr}, {"resolver", resolver, METH_O, nullptr},
                                {"rest", rest, METH_O, nullptr},           {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "face", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_face(void) {
  if (lamella::python::import() < 0) return nullptr;
  PyObject* m = PyModule_Create(&module);
  if (m) PyModule_AddObjectRef(m, "Tensor", reinterpret_cast<PyObject*>(face().tensor_type));
  return m;
}
