// Debug information for Python: entries in a context variable, and the conversion of values.
#include "face.h"

#include <atomic>
#include <new>

namespace lamella::profiler::face {
namespace {

// An object that only Python reads, as a value. It is recognized by the address of its type, since every such object is
// made here.
struct Boxed {
  lamella_object object;
  PyObject* value;
};
void destroy_boxed(lamella_object* o) {
  auto* b = reinterpret_cast<Boxed*>(o);
  python::face().drop(b->value);
  delete b;
}
const lamella_object_type boxed_type = {sizeof boxed_type, 0, "lamella.profiler.PythonObject", destroy_boxed};

struct Entry {
  PyObject_HEAD void* entry;
};
PyTypeObject* entry_type = nullptr;
PyObject* variable = nullptr;  // the ContextVar that holds the innermost Entry
std::atomic<int64_t> entries{0};

void destroy_entry(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  profiler->info_free(reinterpret_cast<Entry*>(self)->entry);
  entries.fetch_sub(1, std::memory_order_relaxed);
  type->tp_free(self);
  Py_DECREF(type);
}

// Returns the innermost entry of this thread's context, which keeps the entry alive meanwhile. Without any entry, and
// on a thread that runs no Python, it returns without waiting for the interpreter's lock.
void* innermost() {
  if (!entries.load(std::memory_order_relaxed) || !Py_IsInitialized() || !PyGILState_GetThisThreadState())
    return nullptr;
  const Gil gil;
  PyObject* value = nullptr;
  if (PyContextVar_Get(variable, nullptr, &value) < 0) PyErr_Clear();
  void* entry = value && Py_TYPE(value) == entry_type ? reinterpret_cast<Entry*>(value)->entry : nullptr;
  Py_XDECREF(value);
  return entry;
}

// _info_entry(kind, value, below); `below` is an entry or None.
PyObject* make_entry(PyObject*, PyObject* args) {
  const char* kind;
  PyObject *object, *below;
  if (!PyArg_ParseTuple(args, "sOO", &kind, &object, &below)) return nullptr;
  auto* e = reinterpret_cast<Entry*>(entry_type->tp_alloc(entry_type, 0));
  if (!e) return nullptr;
  entries.fetch_add(1, std::memory_order_relaxed);
  lamella_value v;
  if (info_to_value(object, &v) < 0) {
    Py_DECREF(e);
    return nullptr;
  }
  void* over = Py_TYPE(below) == entry_type ? reinterpret_cast<Entry*>(below)->entry : nullptr;
  const lamella_status st = profiler->info_make(kind, &v, over, &e->entry);
  api().value_release(&v);
  if (!st) return reinterpret_cast<PyObject*>(e);
  Py_DECREF(e);
  return raise();
}

PyObject* get_info(PyObject*, PyObject* o) {
  const char* kind = PyUnicode_AsUTF8(o);
  if (!kind) return nullptr;
  lamella_value v;
  if (profiler->info_get(kind, &v)) return raise();
  PyObject* r = info_to_python(&v);
  api().value_release(&v);
  return r;
}

lamella_status collect(void* context, const char* kind, const lamella_value* v) {
  PyObject* o = info_to_python(v);
  const int failed = o ? PyDict_SetItemString(static_cast<PyObject*>(context), kind, o) : -1;
  Py_XDECREF(o);
  return failed ? python::face().capture_exception() : LAMELLA_OK;
}

PyObject* all_info(PyObject*, PyObject*) {
  PyObject* all = PyDict_New();
  if (!all) return nullptr;
  if (!profiler->info_each(collect, all)) return all;
  Py_DECREF(all);
  return raise();
}

PyObject* set_variable(PyObject*, PyObject* o) {
  Py_XSETREF(variable, Py_NewRef(o));
  profiler->set_info_reader(innermost);
  Py_RETURN_NONE;
}

}  // namespace

int info_to_value(PyObject* o, lamella_value* out) {
  if (PyBool_Check(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) || PyUnicode_CheckExact(o)) {
    if (python::face().from_python(o, out) == 0) return 0;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError) && !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
    PyErr_Clear();
  }
  auto* b = new (std::nothrow) Boxed{{1, &boxed_type}, o};
  if (!b) return PyErr_NoMemory(), -1;
  Py_INCREF(o);
  *out = {LAMELLA_OBJECT, 0, {0}};
  out->as.object = &b->object;
  return 0;
}

PyObject* info_to_python(const lamella_value* v) {
  if (v->tag == LAMELLA_OBJECT && v->as.object->type == &boxed_type)
    return Py_NewRef(reinterpret_cast<Boxed*>(v->as.object)->value);
  return python::face().to_python(v);
}

PyMethodDef info_methods[] = {{"_info_entry", make_entry, METH_VARARGS, nullptr},
                              {"_get_info", get_info, METH_O, nullptr},
                              {"_all_info", all_info, METH_NOARGS, nullptr},
                              {"_set_info_variable", set_variable, METH_O, nullptr},
                              {nullptr, nullptr, 0, nullptr}};

int add_info(PyObject* module) {
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(destroy_entry)}, {0, nullptr}};
  static PyType_Spec spec = {"lamella.profiler._Entry", sizeof(Entry), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  entry_type = add_type(module, &spec);
  return entry_type ? 0 : -1;
}

}  // namespace lamella::profiler::face
