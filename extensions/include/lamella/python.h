/* Tensors and values between CPython and native code, for an extension module that links no library of Lamella: a C
 * table that the binding publishes as the interface "python", version 1. It needs CPython's headers, and `import
 * lamella` to have run. Start with lamella::python::import() at the end of the file.
 *
 *   PyMODINIT_FUNC PyInit_mine(void) {
 *     if (lamella::python::import() < 0) return NULL;
 *     return PyModule_Create(&module);
 *   }
 *   static PyObject* negative(PyObject*, PyObject* o) {
 *     lamella_tensor* t = lamella::python::face().unwrap(o);
 *     if (!t) return PyErr_Format(PyExc_TypeError, "negative: argument 'self' must be Tensor");
 *     lamella_value args[1] = {lamella::value(t)}, result = lamella::none();
 *     if (lamella::api().call(NULL, lamella::api().find_operator("aten::neg", ""), args, 1, &result, 1))
 *       return lamella::python::face().raise_pending();
 *     return lamella::python::face().wrap(result.as.tensor);
 *   }
 *
 * Note [The lock]  Every function but `drop` is called with the interpreter's lock held. Operators may run without it,
 *   and so may deleters: they drop references to Python's objects through `drop`. */
#ifndef LAMELLA_PYTHON_H
#define LAMELLA_PYTHON_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <lamella/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAMELLA_PYTHON_VERSION 1
/* The capsule whose pointer is a `const lamella_capsule*`. */
#define LAMELLA_PYTHON_CAPSULE "lamella.library.api"

typedef struct {
  uint32_t size;
  uint32_t version; /* of the library: LAMELLA_MAKE_VERSION */
  const char* library_version;
  const lamella_api* (*get_api)(uint32_t version); /* null if no table fits a module built for `version` */
  /* Runs the init function of a library, once for the file. A module that has an init function passes its own path. -1
   * with an exception. */
  int (*load_plugin)(const char* path);
} lamella_capsule;

typedef struct {
  uint32_t size;
  PyTypeObject* tensor_type; /* lamella.Tensor */

  /* Takes over the reference to the tensor; one tensor has one Python object. Null with an exception. */
  PyObject* (*wrap)(lamella_tensor* owned);
  /* Returns the object's tensor, borrowed; null, without an exception, if it is no Tensor. */
  lamella_tensor* (*unwrap)(PyObject*);
  /* Returns the Python object for a borrowed value; lists become lists. Null with an exception. */
  PyObject* (*to_python)(const lamella_value*);
  /* Converts numbers, strings, tensors, None, dtypes, devices, layouts, memory formats, generators, and dictionaries,
   * lists and tuples of these. Tensors (None among them is a null), bools, ints and floats become a list of their kind,
   * an empty list one of ints, and other elements a LAMELLA_VALUE_LIST. The value is owned. -1 with an exception. */
  int (*from_python)(PyObject*, lamella_value* out);

  /* Turns the thread's pending error into the current exception; returns null. An error that was made of a Python
   * exception becomes the same object again. */
  PyObject* (*raise_pending)(void);
  /* Turns the current exception into the thread's pending error; returns its status. */
  lamella_status (*capture_exception)(void);
  /* Releases a reference on any thread; null does nothing. Without the lock, the release is queued. */
  void (*drop)(PyObject*);

  /* Finds an operator by "mine::twice.Tensor", or by a name or an operator packet that has one overload. Null with
   * an exception that lists the overloads. */
  const lamella_operator* (*find_operator)(PyObject* packet_or_name);
} lamella_python;

#ifdef __cplusplus
}

#include <dlfcn.h>
#include <lamella/library.h>

namespace lamella {
namespace python {

LAMELLA_HIDDEN inline const lamella_python*& table() {
  static const lamella_python* t = nullptr;
  return t;
}
LAMELLA_HIDDEN inline const lamella_python& face() { return *table(); }

/* Finds both tables: lamella::api() and face() work from then on. Imports lamella. -1 with an exception. */
LAMELLA_HIDDEN inline int import() {
  if (!Api::table()) {
    const auto* capsule = static_cast<const lamella_capsule*>(PyCapsule_Import(LAMELLA_PYTHON_CAPSULE, 0));
    if (!capsule) return -1;
    const uint32_t has = capsule->version, wants = LAMELLA_TARGET_VERSION;
    Api::table() = capsule->get_api(wants);
    if (!Api::table()) {
      PyErr_Format(PyExc_ImportError,
                   "this module was built for C ABI %d.%d; lamella %s has %d.%d: install a lamella that fits, or build "
                   "the module with the headers of this one",
                   (int)(wants >> 16), (int)(wants & 0xffff), capsule->library_version, (int)(has >> 16),
                   (int)(has & 0xffff));
      return -1;
    }
  }
  table() = static_cast<const lamella_python*>(api().find_interface("python", LAMELLA_PYTHON_VERSION));
  if (table()) return 0;
  PyErr_Format(PyExc_ImportError, "lamella %s publishes no interface \"python\" of version %d", api().library_version,
               LAMELLA_PYTHON_VERSION);
  return -1;
}

/* Does what import() does, and runs the blocks of registrations of the module that `own` lies in: the loader calls the
 * module's init function, once, though Python opened the file. */
LAMELLA_HIDDEN inline int run_registrations(const void* own) {
  if (import() < 0) return -1;
  const auto* capsule = static_cast<const lamella_capsule*>(PyCapsule_Import(LAMELLA_PYTHON_CAPSULE, 0));
  Dl_info module;
  return !capsule || (dladdr(own, &module) && capsule->load_plugin(module.dli_fname) < 0) ? -1 : 0;
}

/* Holds the interpreter's lock while it lives, on any thread: for kernels that call Python. */
class LAMELLA_HIDDEN Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace python
}  // namespace lamella
#endif
#endif
