#include "frontend/binding/tensor_object.h"

#include <structmember.h>

#include <cstddef>

#include "dispatcher/layer.h"
#include "dispatcher/slots.h"
#include "frontend/binding/overrides.h"
#include "frontend/binding/protocols.h"

namespace lamella::binding {

PyTypeObject* tensor_type = nullptr;

namespace {

TensorObject* cast(PyObject* o) { return reinterpret_cast<TensorObject*>(o); }

// Freed objects of the exact type Tensor, kept for reuse.
constexpr int pool_capacity = 256;
PyObject* pool[pool_capacity];
int pooled = 0;

bool worth_keeping(TensorObject* o) {
  return Py_TYPE(o) != tensor_type || o->weakrefs || (o->dict && PyDict_GET_SIZE(o->dict) > 0);
}

void dealloc(PyObject* self) {
  TensorObject* o = cast(self);
  Tensor* t = o->tensor;
  if (t && !o->owned_by_tensor && __atomic_load_n(&t->object.refcount, __ATOMIC_ACQUIRE) > 1 && worth_keeping(o)) {
    Py_SET_REFCNT(self, 1);  // this reference is the tensor's from now on
    o->owned_by_tensor = true;
    core::release(t);
    return;
  }
  PyObject_GC_UnTrack(self);
  if (o->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(o->dict);
  if (t) {
    t->host = nullptr;
    o->tensor = nullptr;
    core::release(t);
  }
  PyTypeObject* type = Py_TYPE(self);
  if (type == tensor_type && pooled < pool_capacity) {
    pool[pooled++] = self;
    return;
  }
  type->tp_free(self);
  Py_DECREF(type);
}

// Called when the last reference to a tensor that owns its Python object is released. Returns false after the
// interpreter has ended. Else ownership flips back: the object, to which a weak reference may have made new references,
// owns the tensor, and both end with the object's last reference. Without the lock, the release is queued instead.
bool host_released(Tensor* t) {
  if (!Py_IsInitialized()) return false;
  t->object.refcount = 1;
  if (!PyGILState_Check()) {
    release_with_gil(t);
    return true;
  }
  auto* o = static_cast<TensorObject*>(t->host);
  if (!o->owned_by_tensor) return true;
  o->owned_by_tensor = false;
  Py_DECREF(reinterpret_cast<PyObject*>(o));
  return true;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  TensorObject* o = cast(self);
  Py_VISIT(o->dict);
  Py_VISIT(Py_TYPE(self));
  // If this view alone keeps its base alive, and the base owns its object, the view keeps that object alive (see Note
  // [One object per tensor]).
  if (Tensor* base = o->tensor && !o->owned_by_tensor ? o->tensor->base : nullptr)
    if (o->tensor->object.refcount == 1 && base->object.refcount == 1 && base->host &&
        static_cast<TensorObject*>(base->host)->owned_by_tensor)
      Py_VISIT(static_cast<PyObject*>(base->host));
  if (o->tensor && !o->owned_by_tensor && o->tensor->object.refcount == 1)
    return dispatcher::traverse_slots(o->tensor, reinterpret_cast<lamella_visit>(reinterpret_cast<void*>(visit)), arg);
  return 0;
}

int clear(PyObject* self) {
  TensorObject* o = cast(self);
  Py_CLEAR(o->dict);
  if (o->tensor && o->tensor->object.refcount == 1) dispatcher::clear_slots(o->tensor);
  return 0;
}

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weakrefs), READONLY, nullptr},
                         {nullptr}};

}  // namespace

PyObject* wrap(Tensor* t) {
  if (auto* there = static_cast<TensorObject*>(t->host)) {
    auto* o = reinterpret_cast<PyObject*>(there);
    // Flip back: the caller's reference to the tensor becomes the object's, and the tensor's reference to the object
    // the caller's.
    if (there->owned_by_tensor) {
      there->owned_by_tensor = false;
      return o;
    }
    core::release(t);
    return Py_NewRef(o);
  }
  PyObject* self;
  if (pooled > 0) {
    self = pool[--pooled];
    _Py_NewReference(self);
  } else {
    self = reinterpret_cast<PyObject*>(PyObject_GC_New(TensorObject, tensor_type));
    if (!self) {
      core::release(t);
      return nullptr;
    }
  }
  TensorObject* o = cast(self);
  o->tensor = t;
  o->dict = nullptr;
  o->weakrefs = nullptr;
  o->owned_by_tensor = false;
  t->host = self;
  PyObject_GC_Track(self);
  return self;
}

// Tensor(2, 3), Tensor([1, 2]): torch's old constructor, which is written in Python.
static PyObject* constructed(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* module = PyImport_ImportModule("lamella._torch.typed");
  PyObject* function = module ? PyObject_GetAttrString(module, "constructed") : nullptr;
  PyObject* with_type = function ? PyTuple_New(PyTuple_GET_SIZE(args) + 1) : nullptr;
  PyObject* made = nullptr;
  if (with_type) {
    PyTuple_SET_ITEM(with_type, 0, Py_NewRef(reinterpret_cast<PyObject*>(type)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
      PyTuple_SET_ITEM(with_type, i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    made = PyObject_Call(function, with_type, kwargs);
  }
  Py_XDECREF(with_type);
  Py_XDECREF(function);
  Py_XDECREF(module);
  return made;
}

static PyObject* new_tensor_object(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  if (type == tensor_type || PyTuple_GET_SIZE(args) == 0 || !is_tensor(PyTuple_GET_ITEM(args, 0)))
    return constructed(type, args, kwargs);
  Tensor* of = unwrap(PyTuple_GET_ITEM(args, 0));
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  Tensor* t = core::new_alias(of);
  t->keys |= of->keys & dispatcher::alias_layers.load(std::memory_order_relaxed);
  cast(self)->tensor = t;
  t->host = self;
  if (!dispatcher::carry(of, t, LAMELLA_CARRY_DETACH) && !mark_class(t, type)) return self;
  Py_DECREF(self);
  return raise_pending();
}

int init_tensor_type(PyObject* module) {
  std::vector<PyType_Slot> slots = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                                    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                    {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                    {Py_tp_new, reinterpret_cast<void*>(new_tensor_object)},
                                    {Py_tp_members, members},
                                    {Py_tp_doc, const_cast<char*>("A strided array of one dtype on one device.")}};
  add_protocol_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"lamella.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots.data()};
  PyObject* t = PyType_FromSpec(&spec);
  if (!t) return -1;
  tensor_type = reinterpret_cast<PyTypeObject*>(t);
  core::host_released = host_released;
  return PyModule_AddType(module, tensor_type);
}

}  // namespace lamella::binding
