// Observers that are Python functions, and RecordFunction, the record that is passed to them.
#include "face.h"

#include <structmember.h>

#include <new>

namespace lamella::profiler::face {
namespace {

// RecordFunction: a record in Python. The native record is borrowed while the callback runs; afterwards inputs and
// outputs cannot be read, and parent is None.
struct RecordObject {
  PyObject_HEAD const lamella_record* record;  // null once the callback has returned
  lamella_record kept;                         // a copy for the attributes that stay readable
  PyObject* name;                              // or null
  uint32_t flags;                              // of the observer
};
PyTypeObject* record_type = nullptr;

RecordObject* cast(PyObject* o) { return reinterpret_cast<RecordObject*>(o); }

PyObject* name_of(RecordObject* r) {
  if (!r->name && r->record) r->name = PyUnicode_DecodeUTF8(r->record->name, std::strlen(r->record->name), "replace");
  return Py_XNewRef(r->name);
}

PyObject* get_name(PyObject* self, void*) { return name_of(cast(self)); }
PyObject* get_overload(PyObject* self, void*) {
  const lamella_operator* op = cast(self)->kept.op;
  return PyUnicode_FromString(op ? api().operator_overload(op) : "");
}
PyObject* get_schema(PyObject* self, void*) {
  const lamella_operator* op = cast(self)->kept.op;
  if (!op) Py_RETURN_NONE;
  return PyUnicode_FromString(api().operator_schema(op));
}

PyObject* values(RecordObject* r, const char* what, const char* needs, uint32_t flag) {
  if (!(r->flags & flag))
    return PyErr_Format(PyExc_RuntimeError, "RecordFunction.%s: the callback must be made with .%s()", what, needs);
  if (!r->record)
    return PyErr_Format(PyExc_RuntimeError, "RecordFunction.%s: it can be read only while the callback runs", what);
  const bool inputs = flag == LAMELLA_OBSERVER_NEEDS_INPUTS;
  const lamella_value* v = inputs ? r->record->inputs : r->record->outputs;
  const uint32_t n = !v ? 0 : inputs ? r->record->num_inputs : r->record->num_outputs;
  PyObject* list = PyList_New(n);
  for (uint32_t i = 0; list && i < n; i++) {
    PyObject* o = python::face().to_python(v + i);
    if (!o) Py_CLEAR(list);
    if (list) PyList_SET_ITEM(list, i, o);
  }
  return list;
}
PyObject* get_inputs(PyObject* self, void*) {
  return values(cast(self), "inputs", "needs_inputs", LAMELLA_OBSERVER_NEEDS_INPUTS);
}
PyObject* get_outputs(PyObject* self, void*) {
  return values(cast(self), "outputs", "needs_outputs", LAMELLA_OBSERVER_NEEDS_OUTPUTS);
}
PyObject* get_backend(PyObject* self, void*) {
  const int32_t backend = cast(self)->kept.backend;
  if (backend < 0) Py_RETURN_NONE;
  return PyUnicode_FromString(api().backend_name(backend));
}
PyObject* get_owner(PyObject* self, void*) {
  const lamella_record& r = cast(self)->kept;
  const char* owner = r.op && r.backend >= 0 ? dispatcher->kernel_owner(r.op, r.backend) : nullptr;
  if (!owner) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(owner, static_cast<Py_ssize_t>(std::strlen(owner)), "replace");
}
PyObject* get_parent(PyObject* self, void*) {
  const lamella_record* r = cast(self)->record;
  const char* name = r ? profiler->parent_name(r) : nullptr;
  if (!name) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(name, static_cast<Py_ssize_t>(std::strlen(name)), "replace");
}
PyObject* get_layer(PyObject* self, void*) {
  const int32_t layer = cast(self)->kept.layer;
  if (layer < 0) Py_RETURN_NONE;
  return PyUnicode_FromString(layer == profiler->layer ? "profiler" : "profiler.kernels");
}

template <uint64_t lamella_record::*Field>
PyObject* get_number(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(cast(self)->kept.*Field);
}
PyObject* get_scope(PyObject* self, void*) { return PyLong_FromUnsignedLong(cast(self)->kept.scope); }

PyGetSetDef record_attributes[] = {
    {"name", get_name, nullptr, "the name of the operator (\"aten::add\"), step of backward, or block", nullptr},
    {"overload_name", get_overload, nullptr, "the name of the operator's overload, or an empty text", nullptr},
    {"schema", get_schema, nullptr, "the operator's schema as text, or None", nullptr},
    {"inputs", get_inputs, nullptr, "the arguments, for a callback with needs_inputs()", nullptr},
    {"outputs", get_outputs, nullptr, "the results, for on_exit of a callback with needs_outputs()", nullptr},
    {"scope", get_scope, nullptr, "a number of RecordScope", nullptr},
    {"backend", get_backend, nullptr, "the device type of the first tensor, or None", nullptr},
    {"owner", get_owner, nullptr, "the plugin that owns the operator's kernel for that backend, or None", nullptr},
    {"layer", get_layer, nullptr, "the layer on which the call was seen, or None", nullptr},
    {"parent", get_parent, nullptr, "the name of the observed record around this one, or None", nullptr},
    {"handle", get_number<&lamella_record::id>, nullptr, "the record's number, for a callback with needs_ids(); else 0",
     nullptr},
    {"sequence_nr", get_number<&lamella_record::sequence>, nullptr,
     "autograd's number of a recorded call and of its step of backward, for a callback with needs_ids(); else 0",
     nullptr},
    {"thread_id", get_number<&lamella_record::thread>, nullptr, "the system's number of the thread", nullptr},
    {"forward_thread_id", get_number<&lamella_record::forward_thread>, nullptr,
     "for a step of backward the number of the thread that recorded its call, with needs_ids(); else 0", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

void destroy_record(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(cast(self)->name);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* represent_record(PyObject* self) {
  PyObject* name = name_of(cast(self));
  PyObject* text = PyUnicode_FromFormat("<RecordFunction %V>", name, "without a name");
  Py_XDECREF(name);
  return text;
}

PyObject* no_new(PyTypeObject* type, PyObject*, PyObject*) {
  return PyErr_Format(PyExc_TypeError, "%s is made by the profiler alone", type->tp_name);
}

// ---- callbacks -----------------------------------------------------------------------------------------------------

struct Callback {
  PyObject *enter, *exit;  // owned, or null
  uint32_t flags;
};

PyObject* new_record(const lamella_record* r, uint32_t flags) {
  auto* o = reinterpret_cast<RecordObject*>(record_type->tp_alloc(record_type, 0));
  if (!o) return nullptr;
  o->record = r;
  o->kept = *r;
  o->flags = flags;
  return reinterpret_cast<PyObject*>(o);
}

// Detaches a record object from the native record after the callback has returned. If it is still referenced, it gets a
// copy of the name and numbers.
void close_record(PyObject* o) {
  if (!o) return;
  if (Py_REFCNT(o) > 1) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_XDECREF(name_of(cast(o)));
    PyErr_Restore(type, value, traceback);
  }
  cast(o)->record = nullptr;
  Py_DECREF(o);
}

lamella_status enter(void* context, const lamella_record* r, void** state) {
  if (!Py_IsInitialized()) return LAMELLA_OK;
  const HeldGil gil;
  auto* c = static_cast<Callback*>(context);
  PyObject* record = new_record(r, c->flags);
  PyObject* function = Py_NewRef(c->enter);
  PyObject* made = record ? PyObject_CallOneArg(function, record) : nullptr;
  Py_DECREF(function);
  close_record(record);
  if (!made) return python::face().capture_exception();
  if (c->exit)
    *state = made;
  else
    Py_DECREF(made);
  return LAMELLA_OK;
}

lamella_status leave(void* context, const lamella_record* r, void* state) {
  if (!Py_IsInitialized()) return LAMELLA_OK;
  const HeldGil gil;
  auto* c = static_cast<Callback*>(context);
  auto* made = static_cast<PyObject*>(state);
  PyObject* record = new_record(r, c->flags);
  PyObject* args[2] = {record, made ? made : Py_None};
  PyObject* function = Py_NewRef(c->exit);
  PyObject* result = record ? PyObject_Vectorcall(function, args, 2, nullptr) : nullptr;
  Py_DECREF(function);
  close_record(record);
  Py_XDECREF(made);
  if (!result) return python::face().capture_exception();
  Py_DECREF(result);
  return LAMELLA_OK;
}

void destroy_callback(void* context) {
  auto* c = static_cast<Callback*>(context);
  python::face().drop(c->enter);
  python::face().drop(c->exit);
  delete c;
}

// _add_callback(on_enter, on_exit, flags, scopes, probability, everywhere) -> handle
PyObject* add_callback(PyObject*, PyObject* args) {
  PyObject *on_enter, *on_exit;
  unsigned int flags, scopes;
  double probability;
  int everywhere;
  if (!PyArg_ParseTuple(args, "OOIIdp", &on_enter, &on_exit, &flags, &scopes, &probability, &everywhere))
    return nullptr;
  auto* c = new (std::nothrow) Callback{on_enter == Py_None ? nullptr : Py_NewRef(on_enter),
                                        on_exit == Py_None ? nullptr : Py_NewRef(on_exit), flags};
  if (!c) return PyErr_NoMemory();
  const lamella_observer o = {
      sizeof o,        flags, scopes, 0, probability, c, c->enter ? enter : nullptr, c->exit ? leave : nullptr,
      destroy_callback};
  uint64_t handle;
  if (profiler->add_observer(&o, everywhere, &handle)) {
    destroy_callback(c);
    return raise();
  }
  return PyLong_FromUnsignedLongLong(handle);
}

PyObject* remove_callback(PyObject*, PyObject* o) {
  const unsigned long long handle = PyLong_AsUnsignedLongLong(o);
  if (PyErr_Occurred()) return nullptr;
  if (profiler->remove_observer(handle)) return raise();
  Py_RETURN_NONE;
}

PyObject* enable_callback(PyObject*, PyObject* args) {
  unsigned long long handle;
  int on;
  if (!PyArg_ParseTuple(args, "Kp", &handle, &on)) return nullptr;
  if (profiler->enable_observer(handle, on)) return raise();
  Py_RETURN_NONE;
}

PyObject* enable_records(PyObject*, PyObject* on) {
  const int yes = PyObject_IsTrue(on);
  return yes < 0 ? nullptr : PyBool_FromLong(profiler->enable_records(yes));
}

}  // namespace

PyMethodDef observer_methods[] = {{"_add_callback", add_callback, METH_VARARGS, nullptr},
                                  {"_remove_callback", remove_callback, METH_O, nullptr},
                                  {"_enable_callback", enable_callback, METH_VARARGS, nullptr},
                                  {"_enable_records", enable_records, METH_O, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};

int add_records(PyObject* module) {
  static PyType_Slot slots[] = {{Py_tp_getset, record_attributes},
                                {Py_tp_dealloc, reinterpret_cast<void*>(destroy_record)},
                                {Py_tp_repr, reinterpret_cast<void*>(represent_record)},
                                {Py_tp_new, reinterpret_cast<void*>(no_new)},
                                {0, nullptr}};
  static PyType_Spec spec = {"lamella.profiler.RecordFunction", sizeof(RecordObject), 0, Py_TPFLAGS_DEFAULT, slots};
  record_type = add_type(module, &spec);
  return record_type ? 0 : -1;
}

}  // namespace lamella::profiler::face
