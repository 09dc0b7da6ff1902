// The Python face of a reducer: a hook for buckets is an object with methods begin(bucket, last, gradients) and
// end(bucket, gradients), of which the reducer keeps a weak reference.
#include "python/face.h"

#include <vector>

namespace lamella::distributed {
namespace {

PyTypeObject* reducer_type;

PyObject* new_reducer(PyObject*, PyObject* args) {
  PyObject* list;
  lamella_reducer_options o{};
  o.size = sizeof o;
  long long first, others;
  if (!PyArg_ParseTuple(args, "O!sLL", &PyList_Type, &list, &o.group, &first, &others)) return nullptr;
  o.first_bucket_bytes = first;
  o.bucket_bytes = others;
  std::vector<lamella_tensor*> leaves;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
    lamella_tensor* t = python::face().unwrap(PyList_GET_ITEM(list, i));
    if (!t) return PyErr_Format(PyExc_TypeError, "new_reducer: expected a list of tensors");
    leaves.push_back(t);
  }
  lamella_object* made = nullptr;
  if (!call([&] { return table->reducer(leaves.data(), static_cast<int32_t>(leaves.size()), &o, &made); }))
    return nullptr;
  return handle_to(reducer_type, made);
}

PyObject* sync(PyObject* o, PyObject* arg) {
  const int on = PyObject_IsTrue(arg);
  if (on < 0 || !call([&] { return table->reducer_sync(object_of(o), on); })) return nullptr;
  Py_RETURN_NONE;
}
PyObject* factor(PyObject* o, PyObject* arg) {
  const double number = PyFloat_AsDouble(arg);
  if (PyErr_Occurred() || !call([&] { return table->reducer_factor(object_of(o), number); })) return nullptr;
  Py_RETURN_NONE;
}
PyObject* shadow(PyObject* o, PyObject*) {
  if (!call([&] { return table->reducer_shadow(object_of(o)); })) return nullptr;
  Py_RETURN_NONE;
}
PyObject* bucket(PyObject* o, PyObject* arg) {
  const long i = PyLong_AsLong(arg);
  if (i == -1 && PyErr_Occurred()) return nullptr;
  lamella_tensor* gradients = nullptr;
  const int32_t* leaves = nullptr;
  int32_t n = 0;
  if (!call([&] { return table->reducer_bucket(object_of(o), static_cast<int32_t>(i), &gradients, &leaves, &n); }))
    return nullptr;
  if (!gradients) Py_RETURN_NONE;
  PyObject* numbers = PyList_New(n);
  for (int32_t k = 0; numbers && k < n; k++) PyList_SET_ITEM(numbers, k, PyLong_FromLong(leaves[k]));
  return Py_BuildValue("(NN)", python::face().wrap(gradients), numbers);
}

// Calls a method of the object behind a weak reference, with arguments of which the last is a tensor.
template <class Make>
lamella_status call_hook(void* context, const char* method, lamella_tensor* gradients, Make&& call_method) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* hook = Py_XNewRef(PyWeakref_GetObject(static_cast<PyObject*>(context)));
  PyObject* result = nullptr;
  if (hook && hook != Py_None) {
    api().retain(gradients);
    PyObject* tensor = python::face().wrap(gradients);
    result = tensor ? call_method(hook, method, tensor) : nullptr;
    Py_XDECREF(tensor);
  } else {
    PyErr_SetString(PyExc_RuntimeError, "the object with the hook of this reducer has gone");
  }
  Py_XDECREF(hook);
  const lamella_status status = result ? LAMELLA_OK : python::face().capture_exception();
  Py_XDECREF(result);
  PyGILState_Release(state);
  return status;
}

PyObject* set_hook(PyObject* o, PyObject* hook) {
  PyObject* weak = PyWeakref_NewRef(hook, nullptr);
  if (!weak) return nullptr;
  lamella_bucket_hook h{};
  h.size = sizeof h;
  h.context = weak;
  h.begin = [](void* context, int32_t bucket, int32_t last, lamella_tensor* gradients) {
    return call_hook(context, "begin", gradients, [&](PyObject* hook, const char* method, PyObject* tensor) {
      return PyObject_CallMethod(hook, method, "iOO", bucket, last ? Py_True : Py_False, tensor);
    });
  };
  h.end = [](void* context, int32_t bucket, lamella_tensor* gradients) {
    return call_hook(context, "end", gradients, [&](PyObject* hook, const char* method, PyObject* tensor) {
      return PyObject_CallMethod(hook, method, "iO", bucket, tensor);
    });
  };
  h.destroy = [](void* context) {
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(static_cast<PyObject*>(context));
    PyGILState_Release(state);
  };
  if (!call([&] { return table->reducer_hook(object_of(o), &h); })) {
    Py_DECREF(weak);
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"sync", sync, METH_O, nullptr},          {"factor", factor, METH_O, nullptr},
                         {"shadow", shadow, METH_NOARGS, nullptr}, {"bucket", bucket, METH_O, nullptr},
                         {"set_hook", set_hook, METH_O, nullptr},  {}};
PyMethodDef functions[] = {{"new_reducer", new_reducer, METH_VARARGS, nullptr}, {}};

}  // namespace

bool add_reducer(PyObject* module) {
  reducer_type = make_type("lamella.plugins.distributed._python.Reducer", methods);
  return reducer_type && PyModule_AddType(module, reducer_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace lamella::distributed
