/* Tensors and values between CPython and native code, for an extension module that links nothing of ours: a C table
 * that the binding publishes as the interface "python", version 1. It needs CPython's headers, and `import lattis` to
 * have run. Start with lattis::python::import() at the end of the file.
 *
 *   PyMODINIT_FUNC PyInit_mine(void) {
 *     if (lattis::python::import() < 0) return NULL;
 *     return PyModule_Create(&module);
 *   }
 *   static PyObject* negative(PyObject*, PyObject* o) {
 *     lattis_tensor* t = lattis::python::face().unwrap(o);
 *     if (!t) return PyErr_Format(PyExc_TypeError, "negative: argument 'self' must be Tensor");
 *     lattis_value args[1] = {lattis::value(t)}, result = lattis::none();
 *     if (lattis::api().call(NULL, lattis::api().find_operator("aten::neg", ""), args, 1, &result, 1))
 *       return lattis::python::face().raise_pending();
 *     return lattis::python::face().wrap(result.as.tensor);
 *   }
 *
 * Note [The lock]  Every function but `drop` is called with the interpreter's lock held. Operators may run without it,
 *   and other people's deleters may: what they hold of Python's goes through `drop`. */
#ifndef LATTIS_PYTHON_H
#define LATTIS_PYTHON_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <lattis/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATTIS_PYTHON_VERSION 1
/* The capsule whose pointer is a `const lattis_capsule*`. */
#define LATTIS_PYTHON_CAPSULE "lattis.library.api"

typedef struct {
  uint32_t size;
  uint32_t version; /* of the library: LATTIS_MAKE_VERSION */
  const char* library_version;
  const lattis_api* (*get_api)(uint32_t version); /* null if it cannot serve a module built for that version */
  /* Runs the init function of a library, once for the file; a module that has one calls it for itself. -1 with an
   * exception. */
  int (*load_plugin)(const char* path);
} lattis_capsule;

typedef struct {
  uint32_t size;
  PyTypeObject* tensor_type; /* lattis.Tensor */

  /* Takes over the reference to the tensor; one tensor has one Python object. Null with an exception. */
  PyObject* (*wrap)(lattis_tensor* owned);
  /* Borrowed from the object; null, without an exception, if it is no Tensor. */
  lattis_tensor* (*unwrap)(PyObject*);
  /* Of a borrowed value; lists become lists. Null with an exception. */
  PyObject* (*to_python)(const lattis_value*);
  /* Numbers, strings, tensors, None, dtypes, devices, layouts, memory formats, generators, and lists or tuples of
   * tensors (None among them is a null), bools, ints or floats. The value is owned. -1 with an exception. */
  int (*from_python)(PyObject*, lattis_value* out);

  /* The thread's pending error becomes the current exception; always null. One that came from Python is the same
   * object. */
  PyObject* (*raise_pending)(void);
  /* The current exception becomes the thread's pending error; its status. */
  lattis_status (*capture_exception)(void);
  /* Releases a reference on any thread, with the lock or without; null is nothing. Without, it is queued. */
  void (*drop)(PyObject*);

  /* "mine::twice.Tensor"; a name without its overload, or an operator packet, where there is only one. Null with an
   * exception that lists the overloads. */
  const lattis_operator* (*find_operator)(PyObject* packet_or_name);
} lattis_python;

#ifdef __cplusplus
}

#include <lattis/library.h>

namespace lattis {
namespace python {

LATTIS_HIDDEN inline const lattis_python*& table() {
  static const lattis_python* t = nullptr;
  return t;
}
LATTIS_HIDDEN inline const lattis_python& face() { return *table(); }

/* Finds both tables: lattis::api() and face() work from then on. Imports lattis. -1 with an exception. */
LATTIS_HIDDEN inline int import() {
  if (!Api::table()) {
    const auto* capsule = static_cast<const lattis_capsule*>(PyCapsule_Import(LATTIS_PYTHON_CAPSULE, 0));
    if (!capsule) return -1;
    const uint32_t has = capsule->version, wants = LATTIS_TARGET_VERSION;
    Api::table() = capsule->get_api(wants);
    if (!Api::table()) {
      PyErr_Format(PyExc_ImportError, "this module was built for C ABI %d.%d; lattis %s has %d.%d", (int)(wants >> 16),
                   (int)(wants & 0xffff), capsule->library_version, (int)(has >> 16), (int)(has & 0xffff));
      return -1;
    }
  }
  table() = static_cast<const lattis_python*>(api().find_interface("python", LATTIS_PYTHON_VERSION));
  if (table()) return 0;
  PyErr_Format(PyExc_ImportError, "lattis %s publishes no interface \"python\" of version %d", api().library_version,
               LATTIS_PYTHON_VERSION);
  return -1;
}

/* Holds the interpreter's lock while it lives, on any thread: for kernels that call Python. */
class LATTIS_HIDDEN Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace python
}  // namespace lattis
#endif
#endif
