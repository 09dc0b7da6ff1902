#include "frontend/binding/plugin_attributes.h"

#include "dispatcher/attributes.h"
#include "frontend/binding/conversion.h"
#include "frontend/binding/tensor_object.h"

namespace lamella::binding {
namespace {

struct AttributeObject {
  PyObject_HEAD const dispatcher::Attribute* attribute;
  PyObject* before;  // the attribute that had the name before, or null
};
PyTypeObject* attribute_type = nullptr;

PyObject* attribute_get(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(self);
  const dispatcher::Attribute* a = reinterpret_cast<AttributeObject*>(self)->attribute;
  Value v = core::none();
  if (a->get(nullptr, a->context, unwrap(object), &v)) return raise_pending();
  return to_python(v);
}

int attribute_set(PyObject* self, PyObject* object, PyObject* value) {
  const dispatcher::Attribute* a = reinterpret_cast<AttributeObject*>(self)->attribute;
  if (!a->set || !value) {
    PyErr_Format(PyExc_AttributeError, "Tensor.%s cannot be %s", a->name.c_str(),
                 value ? "set: the plugin gives it no setter" : "deleted");
    return -1;
  }
  Arena arena;
  Value v;
  dispatcher::Type any;
  if (!convert(value, any, &v, arena)) {
    if (!PyErr_Occurred())
      PyErr_Format(
          PyExc_TypeError,
          "Tensor.%s: expected a tensor, a number, a string, a dtype, a device, None or a list of them, got %s",
          a->name.c_str(), type_name(value).c_str());
    return -1;
  }
  if (a->set(nullptr, a->context, unwrap(object), &v)) {
    raise_pending();
    return -1;
  }
  return 0;
}

void attribute_dealloc(PyObject* self) {
  Py_XDECREF(reinterpret_cast<AttributeObject*>(self)->before);
  PyTypeObject* t = Py_TYPE(self);
  t->tp_free(self);
  Py_DECREF(t);
}

PyType_Slot attribute_slots[] = {{Py_tp_descr_get, reinterpret_cast<void*>(attribute_get)},
                                 {Py_tp_descr_set, reinterpret_cast<void*>(attribute_set)},
                                 {Py_tp_dealloc, reinterpret_cast<void*>(attribute_dealloc)},
                                 {0, nullptr}};
PyType_Spec attribute_spec = {"lamella.PluginAttribute", sizeof(AttributeObject), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, attribute_slots};

void attribute_changed(const dispatcher::Attribute* a, bool added) {
  if (!Py_IsInitialized()) return;
  Gil gil;
  auto* type = reinterpret_cast<PyObject*>(tensor_type);
  PyObject* there = PyDict_GetItemString(tensor_type->tp_dict, a->name.c_str());
  if (added) {
    auto* o = reinterpret_cast<AttributeObject*>(attribute_type->tp_alloc(attribute_type, 0));
    o->attribute = a;
    o->before = Py_XNewRef(there);
    PyObject_SetAttrString(type, a->name.c_str(), reinterpret_cast<PyObject*>(o));
    Py_DECREF(o);
  } else if (there && Py_TYPE(there) == attribute_type) {
    PyObject* before = Py_XNewRef(reinterpret_cast<AttributeObject*>(there)->before);
    if (before)
      PyObject_SetAttrString(type, a->name.c_str(), before);
    else
      PyObject_DelAttrString(type, a->name.c_str());
    Py_XDECREF(before);
  }
}

// Returns the owner of a name on Tensor, by the module lamella.plugins.contributions; "" if the name is free or only
// planned, or if that module is not imported.
std::string holder(const char* name) {
  std::string who;
  if (!Py_IsInitialized()) return who;
  Gil gil;
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "lamella.plugins.contributions");
  PyObject* found = module ? PyObject_CallMethod(module, "holder", "ss", "Tensor", name) : nullptr;
  if (found && PyUnicode_Check(found)) who = text_of(found);
  Py_XDECREF(found);
  PyErr_Clear();
  return who;
}

}  // namespace

int init_plugin_attributes() {
  if (!(attribute_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&attribute_spec)))) return -1;
  dispatcher::set_attribute_hooks(attribute_changed, holder);
  return 0;
}

}  // namespace lamella::binding
