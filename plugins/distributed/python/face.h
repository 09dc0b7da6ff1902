// Objects of the interface "distributed" as objects of Python. Calls that may wait run without the interpreter's lock.
#pragma once

#include <lamella/distributed.h>
#include <lamella/python.h>

namespace lamella::distributed {

inline const lamella_distributed* table = nullptr;

struct Handle {
  PyObject_HEAD lamella_object* object;
};
inline lamella_object* object_of(PyObject* o) { return reinterpret_cast<Handle*>(o)->object; }
inline lamella_store* store_of(PyObject* o) { return reinterpret_cast<lamella_store*>(object_of(o)); }

// Takes the reference over.
inline PyObject* handle_to(PyTypeObject* type, void* owned) {
  PyObject* o = type->tp_alloc(type, 0);
  if (!o)
    api().release(owned);
  else
    reinterpret_cast<Handle*>(o)->object = static_cast<lamella_object*>(owned);
  return o;
}
inline void destroy(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  lamella_object* object = object_of(o);
  Py_BEGIN_ALLOW_THREADS;  // the end of a server's store waits for its thread
  api().release(object);
  Py_END_ALLOW_THREADS;
  type->tp_free(o);
  Py_DECREF(type);
}
inline PyTypeObject* make_type(const char* name, PyMethodDef* methods) {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(destroy)}, {Py_tp_methods, methods}, {}};
  PyType_Spec spec = {name, sizeof(Handle), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

// Calls a function of the table without the lock. Returns false with an exception if it failed.
template <class F>
bool call(F&& f) {
  lamella_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = f();
  Py_END_ALLOW_THREADS;
  if (!status) return true;
  python::face().raise_pending();
  return false;
}

// Adds the type Reducer and the function that makes one.
bool add_reducer(PyObject* module);

}  // namespace lamella::distributed
