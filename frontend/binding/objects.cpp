#include "frontend/binding/objects.h"

#include <map>

#include "core/object.h"
#include "frontend/binding/python.h"

namespace lamella::binding {
namespace {

PyTypeObject* object_type;
PyObject* wrapper;
PyObject* attribute;  // "__lamella_object__"

struct ObjectObject {
  PyObject_HEAD lamella_object* value;
};
lamella_object* value_of(PyObject* o) { return reinterpret_cast<ObjectObject*>(o)->value; }

// ---- payloads that Python made --------------------------------------------------------------------------------------

struct Payload : lamella_object {
  PyObject* held;
};

void destroy_payload(lamella_object* o) {
  auto* p = static_cast<Payload*>(o);
  drop_anywhere(p->held);
  delete p;
}

// Returns the type table of a kind that Python makes. The caller holds the interpreter's lock.
const lamella_object_type* type_of(const std::string& kind) {
  static auto* types = new std::map<std::string, lamella_object_type>;
  auto [at, fresh] = types->try_emplace(kind);
  if (fresh) at->second = {sizeof(lamella_object_type), 0, at->first.c_str(), destroy_payload};
  return &at->second;
}

// ---- the Python type ----

PyObject* wrap_plain(lamella_object* owned) {
  PyObject* o = object_type->tp_alloc(object_type, 0);
  if (o)
    reinterpret_cast<ObjectObject*>(o)->value = owned;
  else
    core::release(owned);
  return o;
}

PyObject* object_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"kind", "payload", nullptr};
  const char* kind;
  PyObject* payload;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sO:Object", const_cast<char**>(names), &kind, &payload))
    return nullptr;
  if (!*kind || !std::strcmp(kind, "Generator"))
    return PyErr_Format(PyExc_ValueError, "Object: argument 'kind': expected a name such as 'mine.Work', got '%s'",
                        kind);
  auto* made = new Payload{};
  made->refcount = 1;
  made->type = type_of(kind);
  made->held = Py_NewRef(payload);
  return wrap_plain(made);
}
// Returns the payload if this object alone holds it, else null; only then may the garbage collector visit it.
PyObject** own_payload(PyObject* o) {
  lamella_object* value = value_of(o);
  if (value->type->destroy != destroy_payload || __atomic_load_n(&value->refcount, __ATOMIC_ACQUIRE) != 1)
    return nullptr;
  return &static_cast<Payload*>(value)->held;
}
int object_traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  if (PyObject** held = own_payload(o)) Py_VISIT(*held);
  return 0;
}
int object_clear(PyObject* o) {
  if (PyObject** held = own_payload(o)) Py_SETREF(*held, Py_NewRef(Py_None));
  return 0;
}
void object_dealloc(PyObject* o) {
  PyObject_GC_UnTrack(o);
  core::release(value_of(o));
  PyTypeObject* t = Py_TYPE(o);
  t->tp_free(o);
  Py_DECREF(t);
}
PyObject* object_repr(PyObject* o) {
  return PyUnicode_FromFormat("<lamella.library.Object %s>", value_of(o)->type->name);
}
Py_hash_t object_hash(PyObject* o) { return _Py_HashPointer(value_of(o)); }
PyObject* object_compare(PyObject* a, PyObject* b, int op) {
  if (Py_TYPE(b) != object_type || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((value_of(a) == value_of(b)) == (op == Py_EQ));
}
PyObject* object_kind(PyObject* o, void*) { return PyUnicode_FromString(value_of(o)->type->name); }
PyObject* object_payload(PyObject* o, void*) {
  const lamella_object* value = value_of(o);
  if (value->type->destroy != destroy_payload)
    return PyErr_Format(PyExc_AttributeError,
                        "payload: this %s was made by a native library, so it has no payload in Python",
                        value->type->name);
  return Py_NewRef(static_cast<const Payload*>(value)->held);
}

PyGetSetDef object_getset[] = {
    {"kind", object_kind, nullptr, "The name of its kind, as schemas have it.", nullptr},
    {"payload", object_payload, nullptr, "Its payload. AttributeError if a native library made the object.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot object_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(object_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(object_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(object_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(object_clear)},
    {Py_tp_repr, reinterpret_cast<void*>(object_repr)},
    {Py_tp_hash, reinterpret_cast<void*>(object_hash)},
    {Py_tp_richcompare, reinterpret_cast<void*>(object_compare)},
    {Py_tp_getset, object_getset},
    {Py_tp_doc, const_cast<char*>("Object(kind, payload)\n--\n\nAn object that operators pass on, of a kind that their "
                                  "schemas name. Two are equal if they are the same\nobject.\n\n"
                                  ">>> lamella.library.Object(\"mine.Work\", [1, 2]).payload\n[1, 2]\n")},
    {0, nullptr}};
PyType_Spec object_spec = {"lamella.library.Object", sizeof(ObjectObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                           object_slots};

}  // namespace

PyObject* new_object(lamella_object* owned) {
  PyObject* plain = wrap_plain(owned);
  if (!plain || !wrapper) return plain;
  PyObject* wrapped = PyObject_CallOneArg(wrapper, plain);
  Py_DECREF(plain);
  return wrapped;
}

bool read_object(PyObject* o, const std::string& kind, lamella_object** borrowed, Arena& arena) {
  if (Py_TYPE(o) != object_type) {
    PyObject* held = PyObject_GetAttr(o, attribute);
    if (!held) {
      if (PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
      return false;
    }
    arena.hold(held);
    if (Py_TYPE(held) != object_type) return false;
    o = held;
  }
  *borrowed = value_of(o);
  return kind == value_of(o)->type->name;
}

void set_object_wrapper(PyObject* callable) { Py_XSETREF(wrapper, Py_NewRef(callable)); }

int init_objects(PyObject* module) {
  attribute = PyUnicode_InternFromString("__lamella_object__");
  object_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&object_spec));
  return attribute && object_type ? PyModule_AddType(module, object_type) : -1;
}

}  // namespace lamella::binding
