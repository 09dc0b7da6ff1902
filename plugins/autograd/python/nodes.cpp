// The Python type of nodes, and hooks that are Python functions.
#include <cstring>

#include "face.h"

namespace lamella::autograd::face {
namespace {

struct NodeObject {
  PyObject_HEAD lamella_node* node;
};
PyTypeObject* node_type = nullptr;

lamella_node* cast(PyObject* o) { return reinterpret_cast<NodeObject*>(o)->node; }

void dealloc(PyObject* o) {
  lamella_node* n = cast(o);
  *autograd->node_host(n) = nullptr;
  autograd->node_release(n);
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}

PyObject* name(PyObject* o, PyObject*) { return PyUnicode_FromString(autograd->node_name(cast(o))); }
PyObject* repr(PyObject* o) { return PyUnicode_FromFormat("<%s object at %p>", autograd->node_name(cast(o)), o); }
PyObject* sequence(PyObject* o, PyObject*) { return PyLong_FromUnsignedLongLong(autograd->node_sequence(cast(o))); }

// The node of a Function has the attributes of its ctx, which in torch is the node itself.
PyObject* get_attribute(PyObject* o, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(o, name);
  PyObject* context = own ? nullptr : context_of(cast(o));
  if (!context || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* found = PyObject_GetAttr(context, name);
  if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Restore(type, value, trace);
    return nullptr;
  }
  for (PyObject* part : {type, value, trace}) Py_XDECREF(part);
  return found;
}
int set_attribute(PyObject* o, PyObject* name, PyObject* value) {
  PyObject* context = context_of(cast(o));
  return context ? PyObject_SetAttr(context, name, value) : PyObject_GenericSetAttr(o, name, value);
}

PyObject* next_functions(PyObject* o, void*) {
  return make_tuple(autograd->node_edges(cast(o)), [o](Py_ssize_t i) {
    uint32_t output = 0;
    lamella_node* to = autograd->node_edge(cast(o), static_cast<int32_t>(i), &output);
    if (to) autograd->node_retain(to);
    return Py_BuildValue("(NI)", node_object(to), to ? output : 0);
  });
}

PyObject* metadata(PyObject* o, void*) {
  if (void* there = autograd->node_metadata_of(cast(o))) return Py_NewRef(static_cast<PyObject*>(there));
  PyObject* made = PyDict_New();
  if (!made) return nullptr;
  const auto drop = [](void* d) { python::face().drop(static_cast<PyObject*>(d)); };
  if (!autograd->node_metadata(cast(o), made, drop)) return Py_NewRef(made);
  Py_DECREF(made);
  return raise();
}

// ---- hooks ------------------------------------------------------------------------------------------------------

struct Hook {
  PyObject* callable;
  PyObject* tensor;  // weak reference to the leaf, passed to a hook of kind ACCUMULATED; else null
};

PyObject* tuple_of(lamella_tensor* const* list, int32_t n) {
  return make_tuple(n, [list](Py_ssize_t i) { return wrap_borrowed(list[i]); });
}

bool replace(lamella_tensor** at, PyObject* o, const char* who) {
  lamella_tensor* t;
  if (!read_gradient(o, who, &t)) return false;
  if (lamella_tensor* old = std::exchange(*at, t)) api().release(old);
  return true;
}

// Replaces the gradients of a hook by the hook's result, unless that is None.
bool take(PyObject* result, lamella_tensor** grads, int32_t n, bool one) {
  if (result == Py_None) return true;
  if (one || (n == 1 && !PyTuple_Check(result))) return replace(grads, result, "hook");
  if (!PyTuple_Check(result) || PyTuple_GET_SIZE(result) != n) {
    if (PyTuple_Check(result))
      PyErr_Format(PyExc_RuntimeError, "hook: must return None or a tuple of %d gradients, got %zd", n,
                   PyTuple_GET_SIZE(result));
    else
      PyErr_Format(PyExc_RuntimeError, "hook: must return None or a tuple of %d gradients, got %s", n,
                   Py_TYPE(result)->tp_name);
    return false;
  }
  for (int32_t i = 0; i < n; i++)
    if (!replace(grads + i, PyTuple_GET_ITEM(result, i), "hook")) return false;
  return true;
}

template <int Kind>
lamella_status run_hook(void* context, lamella_tensor** grads, int32_t n, lamella_tensor* const* also, int32_t m) {
  const BetweenKernels lock;
  auto* h = static_cast<Hook*>(context);
  const Ref callable(Py_NewRef(h->callable));
  const Ref first(Kind == LAMELLA_HOOK_TENSOR        ? wrap_borrowed(grads[0])
                  : Kind == LAMELLA_HOOK_ACCUMULATED ? Py_XNewRef(PyWeakref_GetObject(h->tensor))
                                                     : tuple_of(grads, n));
  const Ref second(Kind == LAMELLA_HOOK_AFTER ? tuple_of(also, m) : nullptr);
  if (!first || (Kind == LAMELLA_HOOK_AFTER && !second)) return python::face().capture_exception();
  if (Kind == LAMELLA_HOOK_ACCUMULATED && first.get() == Py_None) return LAMELLA_OK;  // the leaf was destroyed
  const Ref result(PyObject_CallFunctionObjArgs(callable.get(), first.get(), second.get(), nullptr));
  const bool ok =
      result && (Kind == LAMELLA_HOOK_ACCUMULATED || take(result.get(), grads, n, Kind == LAMELLA_HOOK_TENSOR));
  return ok ? LAMELLA_OK : python::face().capture_exception();
}

void destroy_hook(void* context) {
  auto* h = static_cast<Hook*>(context);
  python::face().drop(h->callable);
  python::face().drop(h->tensor);
  delete h;
}

int traverse_hook(void* context, lamella_visit visit, void* visitor) {
  return visit(static_cast<Hook*>(context)->callable, visitor);
}

using Runner = lamella_status (*)(void*, lamella_tensor**, int32_t, lamella_tensor* const*, int32_t);
Runner runner(int kind) {
  switch (kind) {
    case LAMELLA_HOOK_TENSOR:
      return run_hook<LAMELLA_HOOK_TENSOR>;
    case LAMELLA_HOOK_BEFORE:
      return run_hook<LAMELLA_HOOK_BEFORE>;
    case LAMELLA_HOOK_AFTER:
      return run_hook<LAMELLA_HOOK_AFTER>;
    default:
      return run_hook<LAMELLA_HOOK_ACCUMULATED>;
  }
}

PyObject* handle_class = nullptr;  // RemovableHandle of graph.py

// Adds a hook, and returns the handle that removes it.
PyObject* add_hook(lamella_node* n, uint32_t output, int kind, PyObject* callable, PyObject* tensor) try {
  if (!PyCallable_Check(callable))
    return PyErr_Format(PyExc_TypeError, "register_hook: argument 'hook' must be callable, got %s",
                        Py_TYPE(callable)->tp_name);
  Ref weak(tensor ? PyWeakref_NewRef(tensor, nullptr) : nullptr);
  if (tensor && !weak) return nullptr;
  auto* own = new Hook{Py_NewRef(callable), weak.take()};
  lamella_hook hook{sizeof hook, kind, own, runner(kind), destroy_hook, traverse_hook};
  uint64_t id;
  if (autograd->hook_add(n, output, &hook, &id)) {
    destroy_hook(hook.context);
    return raise();
  }
  const Ref number(PyLong_FromUnsignedLongLong(id));
  PyObject* handle = number ? PyObject_CallOneArg(handle_class, number.get()) : nullptr;
  if (!handle) autograd->hook_remove(id);
  return handle;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// _tensor_hook(tensor, callable, accumulated) -> handle
PyObject* tensor_hook(PyObject*, PyObject* const* args, Py_ssize_t count) {
  lamella_tensor* t = count == 3 ? unwrap(args[0]) : nullptr;
  if (!t) return PyErr_Format(PyExc_TypeError, "register_hook: argument 'self' must be Tensor");
  lamella_node* n = nullptr;
  uint32_t output = 0;
  if (autograd->edge(t, &n, &output)) return raise();
  const bool accumulated = args[2] == Py_True;
  const char* what = accumulated ? "register_post_accumulate_grad_hook" : "register_hook";
  if (!n)
    return PyErr_Format(PyExc_RuntimeError, "%s: cannot register a hook on a tensor that doesn't require gradient",
                        what);
  PyObject* handle = nullptr;
  if (accumulated && !autograd->is_leaf(t))
    PyErr_Format(PyExc_RuntimeError, "%s: the tensor is not a leaf, which it must be", what);
  else
    handle = add_hook(n, output, accumulated ? LAMELLA_HOOK_ACCUMULATED : LAMELLA_HOOK_TENSOR, args[1],
                      accumulated ? args[0] : nullptr);
  autograd->node_release(n);
  return handle;
}

template <int Kind>
PyObject* register_hook(PyObject* o, PyObject* callable) {
  return add_hook(cast(o), 0, Kind, callable, nullptr);
}

PyObject* set_handle(PyObject*, PyObject* c) {
  Py_XSETREF(handle_class, Py_NewRef(c));
  Py_RETURN_NONE;
}

PyObject* remove_hook(PyObject*, PyObject* o) {
  const uint64_t id = PyLong_AsUnsignedLongLong(o);
  if (PyErr_Occurred()) return nullptr;
  autograd->hook_remove(id);
  Py_RETURN_NONE;
}

PyObject* grad_fn(PyObject*, PyObject* o) {
  lamella_tensor* t = unwrap(o);
  if (!t) return PyErr_Format(PyExc_TypeError, "grad_fn: argument 'self' must be Tensor, got %s", Py_TYPE(o)->tp_name);
  lamella_node* n = nullptr;
  if (autograd->grad_fn(t, &n, nullptr)) return raise();
  return node_object(n);
}

// _edge(tensor) -> (node, output): the edge along which the tensor's gradient flows, also for a leaf.
PyObject* edge(PyObject*, PyObject* o) {
  lamella_tensor* t = unwrap(o);
  if (!t)
    return PyErr_Format(PyExc_TypeError, "get_gradient_edge: argument 'tensor' must be Tensor, got %s",
                        Py_TYPE(o)->tp_name);
  lamella_node* n = nullptr;
  uint32_t output = 0;
  if (autograd->edge(t, &n, &output)) return raise();
  return Py_BuildValue("(NI)", node_object(n), output);
}

PyMethodDef methods[] = {
    {"name", name, METH_NOARGS, "name()\n--\n\nReturns the node's name, such as 'MulBackward0'."},
    {"_sequence_nr", sequence, METH_NOARGS, nullptr},
    {"register_hook", register_hook<LAMELLA_HOOK_AFTER>, METH_O,
     "register_hook(fn)\n--\n\nCalls fn(grad_inputs, grad_outputs) after the node has run, with the gradients that it "
     "computed and those that it received. A tuple that fn returns replaces grad_inputs; None leaves them. Returns a "
     "handle that removes the hook."},
    {"register_prehook", register_hook<LAMELLA_HOOK_BEFORE>, METH_O,
     "register_prehook(fn)\n--\n\nCalls fn(grad_outputs) before the node runs. A tuple that fn returns "
     "replaces grad_outputs; None leaves them. Returns a handle that removes the hook."},
    {nullptr}};
PyGetSetDef getset[] = {{"next_functions", next_functions, nullptr,
                         "The nodes that this node's gradients go to, each with the number of its result.", nullptr},
                        {"metadata", metadata, nullptr, "A dict that is kept with the node.", nullptr},
                        {nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
                       {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, getset},
                       {Py_tp_doc, const_cast<char*>("One step of the graph that backward walks.")},
                       {0, nullptr}};
PyType_Spec spec = {"lamella.autograd._Node", sizeof(NodeObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

bool is_node(PyObject* o) { return PyObject_TypeCheck(o, node_type); }
lamella_node* node_of(PyObject* o) { return cast(o); }

PyObject* node_object(lamella_node* n) {
  if (!n) Py_RETURN_NONE;
  void** host = autograd->node_host(n);
  if (!host) {
    autograd->node_release(n);
    return PyErr_NoMemory();
  }
  if (*host) {
    autograd->node_release(n);
    return Py_NewRef(static_cast<PyObject*>(*host));
  }
  auto* o = reinterpret_cast<NodeObject*>(node_type->tp_alloc(node_type, 0));
  if (!o) {
    autograd->node_release(n);
    return nullptr;
  }
  o->node = n;
  *host = o;
  return reinterpret_cast<PyObject*>(o);
}

int add_nodes(PyObject* module) {
  node_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return node_type ? PyModule_AddObjectRef(module, "Node", reinterpret_cast<PyObject*>(node_type)) : -1;
}

PyMethodDef node_methods[] = {
    {"_tensor_hook", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(tensor_hook)), METH_FASTCALL, nullptr},
    {"_set_handle", set_handle, METH_O, nullptr},
    {"_remove_hook", remove_hook, METH_O, nullptr},
    {"_grad_fn", grad_fn, METH_O, nullptr},
    {"_edge", edge, METH_O, nullptr},
    {nullptr}};

}  // namespace lamella::autograd::face
