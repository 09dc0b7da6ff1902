// Function: a step of the graph whose forward and backward are Python functions. An instance is their `ctx`.
#include <lamella/scalar_type.h>

#include <cstring>
#include <memory>
#include <vector>

#include "face.h"

#include <structmember.h>

namespace lamella::autograd::face {
namespace {

struct Context {
  PyObject_HEAD PyObject* dict;
  PyObject* weakrefs;
  lamella_node* node;  // weak, since the node owns this object; null before the node is made and after it is destroyed
  PyObject* to_save;   // arguments of save_for_backward: a tuple, null after the node has saved them
  PyObject* dirty;     // arguments of mark_dirty, mark_non_differentiable: tuples, or null
  PyObject* no_gradient;
  PyObject* needs;      // a tuple: for each input whether it needs a gradient, or None if it is no tensor
  PyObject* node_type;  // the capsule of the class, which owns the node's type; keeps the type alive
  bool materialize;
};
PyTypeObject* function_type = nullptr;
PyObject *name_forward, *name_backward, *name_setup, *name_node_type, *base_setup, *serve_opaque;

Context* cast(PyObject* o) { return reinterpret_cast<Context*>(o); }

int traverse(PyObject* o, visitproc visit, void* arg) {
  Context* c = cast(o);
  Py_VISIT(c->dict);
  Py_VISIT(c->to_save);
  Py_VISIT(c->dirty);
  Py_VISIT(c->no_gradient);
  Py_VISIT(Py_TYPE(o));
  return 0;
}

int clear(PyObject* o) {
  Context* c = cast(o);
  Py_CLEAR(c->dict);
  Py_CLEAR(c->to_save);
  Py_CLEAR(c->dirty);
  Py_CLEAR(c->no_gradient);
  return 0;
}

void dealloc(PyObject* o) {
  PyObject_GC_UnTrack(o);
  if (cast(o)->weakrefs) PyObject_ClearWeakRefs(o);
  clear(o);
  Py_CLEAR(cast(o)->needs);
  Py_CLEAR(cast(o)->node_type);
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}

// ---- the node ------------------------------------------------------------------------------------------------------

// Returns the arguments of the class's backward: ctx, then the incoming gradients.
PyObject* gradient_arguments(Context* c, lamella_node* n, lamella_tensor* const* grads) {
  return make_tuple(autograd->node_results(n) + 1, [&](Py_ssize_t i) {
    if (i == 0) return Py_NewRef(reinterpret_cast<PyObject*>(c));
    lamella_tensor* t = grads[i - 1];
    if (t || !c->materialize) return wrap_borrowed(t);
    if (autograd->zeros(n, static_cast<int32_t>(i - 1), &t)) return raise();
    return t ? python::face().wrap(t) : Py_NewRef(Py_None);
  });
}

bool take_gradients(Context* c, PyObject* result, lamella_node* n, lamella_tensor** outs) {
  const int32_t wanted = autograd->node_edges(n);
  PyObject* single[1] = {result};
  PyObject* const* items = single;
  Py_ssize_t got = 1;
  if (PyTuple_Check(result) || PyList_Check(result)) {
    items = PySequence_Fast_ITEMS(result);
    got = PySequence_Fast_GET_SIZE(result);
  }
  while (got > wanted && items[got - 1] == Py_None) got--;
  if (got != wanted) {
    PyErr_Format(PyExc_RuntimeError, "function %s returned an incorrect number of gradients (expected %d, got %zd)",
                 autograd->node_name(n), wanted, got);
    return false;
  }
  for (int32_t i = 0; i < wanted; i++) {
    lamella_tensor* t;
    if (PyTuple_GET_ITEM(c->needs, i) == Py_None && items[i] != Py_None) {
      PyErr_Format(PyExc_RuntimeError, "%s: input %d is no tensor; its gradient must be None, got %s",
                   autograd->node_name(n), i, Py_TYPE(items[i])->tp_name);
      return false;
    }
    if (!read_gradient(items[i], autograd->node_name(n), &t)) return false;
    if (!t) continue;
    if (autograd->node_edge(n, i, nullptr))
      outs[i] = t;
    else
      api().release(t);
  }
  return true;
}

lamella_status backward(void* context, lamella_node* n, lamella_tensor* const* grads, lamella_tensor** outs) {
  const BetweenKernels lock;
  auto* c = static_cast<Context*>(context);
  PyObject* self = reinterpret_cast<PyObject*>(c);
  const Ref f(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(self)), name_backward));
  const Ref args(f ? gradient_arguments(c, n, grads) : nullptr);
  const Ref result(args ? PyObject_CallObject(f.get(), args.get()) : nullptr);
  if (result && take_gradients(c, result.get(), n, outs)) return LAMELLA_OK;
  for (int32_t i = 0; i < autograd->node_edges(n); i++)
    if (outs[i]) api().release(std::exchange(outs[i], nullptr));
  return python::face().capture_exception();
}

void destroy(void* context) {
  if (!Py_IsInitialized()) return;
  auto* c = static_cast<Context*>(context);
  c->node = nullptr;
  python::face().drop(reinterpret_cast<PyObject*>(c));
}

int traverse_node(void* context, lamella_visit visit, void* visitor) { return visit(context, visitor); }

struct NodeType {
  std::string name;
  lamella_node_type table;
};

// Returns a new reference to the capsule that owns the node type of a Function class. It is made at the first call and
// kept in the class's dict.
PyObject* node_type_of(PyTypeObject* cls) {
  if (PyObject* there = PyDict_GetItemWithError(cls->tp_dict, name_node_type)) return Py_NewRef(there);
  if (PyErr_Occurred()) return nullptr;
  const char* dot = std::strrchr(cls->tp_name, '.');
  auto made = std::make_unique<NodeType>();
  made->name = std::string(dot ? dot + 1 : cls->tp_name) + "Backward";
  made->table = {sizeof(lamella_node_type), 0, made->name.c_str(), backward, nullptr, destroy, traverse_node};
  Ref capsule(PyCapsule_New(made.get(), nullptr,
                            [](PyObject* o) { delete static_cast<NodeType*>(PyCapsule_GetPointer(o, nullptr)); }));
  if (!capsule) return nullptr;
  made.release();
  if (PyObject_SetAttr(reinterpret_cast<PyObject*>(cls), name_node_type, capsule.get()) < 0) return nullptr;
  return capsule.take();
}

// ---- apply ---------------------------------------------------------------------------------------------------------

Py_ssize_t find(PyObject* tuple, PyObject* o) {
  for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple); i++)
    if (PyTuple_GET_ITEM(tuple, i) == o) return i;
  return -1;
}

Py_ssize_t find(PyObject* const* list, Py_ssize_t n, PyObject* o) {
  for (Py_ssize_t i = 0; i < n; i++)
    if (list[i] == o) return i;
  return -1;
}

// Switches the thread's recording off until the end of the scope.
class Off {
 public:
  Off() : thread_(api().thread()), saved_(thread_->exclude) { thread_->exclude |= layer_bit(); }
  ~Off() { thread_->exclude = saved_; }

 private:
  lamella_thread* thread_;
  uint64_t saved_;
};

PyObject* run_forward(PyTypeObject* cls, Context* c, PyObject* const* args, Py_ssize_t n) {
  Off off;
  PyObject* type = reinterpret_cast<PyObject*>(cls);
  PyObject* self = reinterpret_cast<PyObject*>(c);
  const Ref forward(PyObject_GetAttr(type, name_forward));
  if (!forward) return nullptr;
  const Ref setup(PyObject_GetAttr(type, name_setup));
  if (!setup) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
    PyErr_Clear();
  }
  if (!setup || setup.get() == base_setup) {
    std::vector<PyObject*> all(static_cast<size_t>(n) + 2);
    all[1] = self;
    std::copy(args, args + n, all.begin() + 2);
    const size_t count = static_cast<size_t>(n + 1) | PY_VECTORCALL_ARGUMENTS_OFFSET;
    return PyObject_Vectorcall(forward.get(), all.data() + 1, count, nullptr);
  }
  Ref result(PyObject_Vectorcall(forward.get(), args, static_cast<size_t>(n), nullptr));
  const Ref inputs(result ? make_tuple(n, [args](Py_ssize_t i) { return Py_NewRef(args[i]); }) : nullptr);
  const Ref done(inputs ? PyObject_CallFunctionObjArgs(setup.get(), self, inputs.get(), result.get(), nullptr)
                        : nullptr);
  return done ? result.take() : nullptr;
}

// Returns a new tensor over the same memory.
PyObject* alias(lamella_tensor* t) {
  static const lamella_operator* const op = api().find_operator("aten::alias", "");
  const Off off;
  const lamella_value from = value(t);
  lamella_value own = none();
  return api().call(nullptr, op, &from, 1, &own, 1) ? raise() : python::face().wrap(own.as.tensor);
}

bool has_no_history(const Context* c, PyObject* o) {
  return find(c->no_gradient, o) >= 0 || dtype_class(unwrap(o)) < LAMELLA_CLASS_FLOATING;
}

// Gives a result its history, and returns it; an input that forward returned unchanged is returned as a new tensor.
// Returns null with an exception after an error.
PyObject* attach(Context* c, lamella_node* n, PyObject* o, uint32_t i, PyObject* const* args, Py_ssize_t num_args) {
  lamella_tensor* t = unwrap(o);
  if (!t) return Py_NewRef(o);
  if (has_no_history(c, o)) return autograd->describe_result(n, i, t) ? raise() : Py_NewRef(o);
  const bool is_input = find(args, num_args, o) >= 0;
  if (find(c->dirty, o) >= 0) {
    if (autograd->set_written(t, n, i)) return raise();
    return Py_NewRef(o);
  }
  Ref out(is_input ? alias(t) : Py_NewRef(o));
  if (!out) return nullptr;
  return autograd->set_history(unwrap(out.get()), n, i) ? raise() : out.take();
}

// Saves the tensors of save_for_backward in the node. An input that forward returned unchanged is saved as an input,
// not as a result; a result without a history as a plain tensor.
bool keep_saved(Context* c, lamella_node* n, PyObject* const* results, Py_ssize_t num_results, PyObject* const* args,
                Py_ssize_t num_args) {
  for (Py_ssize_t i = 0; c->to_save && i < PyTuple_GET_SIZE(c->to_save); i++) {
    PyObject* o = PyTuple_GET_ITEM(c->to_save, i);
    lamella_tensor* t = unwrap(o);
    const lamella_value v = t ? value(t) : none();
    const bool is_input = find(args, num_args, o) >= 0 && find(c->dirty, o) < 0, is_plain = t && has_no_history(c, o);
    if (autograd->save(n, &v, is_input || is_plain ? -1 : static_cast<int32_t>(find(results, num_results, o)))) {
      raise();
      return false;
    }
  }
  Py_CLEAR(c->to_save);
  return true;
}

// Records a call of a Function, and returns its results with their history.
PyObject* record(PyTypeObject* cls, Context* c, PyObject* result, PyObject* const* args, Py_ssize_t n) {
  std::vector<lamella_tensor*> inputs(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; i++) inputs[i] = unwrap(args[i]);
  const bool several = PyTuple_Check(result) || PyList_Check(result);
  const Ref tuple(several ? PySequence_Tuple(result) : PyTuple_Pack(1, result));
  if (!tuple) return nullptr;
  PyObject* const* results = PySequence_Fast_ITEMS(tuple.get());
  const Py_ssize_t count = PyTuple_GET_SIZE(tuple.get());
  for (Py_ssize_t i = 0; c->dirty && i < PyTuple_GET_SIZE(c->dirty); i++)
    for (const bool in : {true, false})
      if (find(in ? args : results, in ? n : count, PyTuple_GET_ITEM(c->dirty, i)) < 0)
        return PyErr_Format(PyExc_RuntimeError, "mark_dirty: element %zd is no %s of forward", i,
                            in ? "input" : "result");
  if (!c->node_type && !(c->node_type = node_type_of(cls))) return nullptr;
  const auto* type = static_cast<NodeType*>(PyCapsule_GetPointer(c->node_type, nullptr));
  lamella_node* node;
  if (autograd->node_new(&type->table, c, inputs.data(), static_cast<int32_t>(n), static_cast<int32_t>(count), &node))
    return raise();
  Py_INCREF(reinterpret_cast<PyObject*>(c));  // the node's reference
  c->node = node;
  Ref all(keep_saved(c, node, results, count, args, n)
              ? make_tuple(count,
                           [&](Py_ssize_t i) { return attach(c, node, results[i], static_cast<uint32_t>(i), args, n); })
              : nullptr);
  autograd->node_release(node);
  if (!several && all) return Py_NewRef(PyTuple_GET_ITEM(all.get(), 0));
  return all && PyList_Check(result) ? PySequence_List(all.get()) : all.take();
}

// Opaque tensors are a layer's own, as are those with its key, and the plugin of that layer may serve the call.
bool is_any_of_a_layer(PyObject* const* args, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; i++)
    if (const lamella_tensor* t = unwrap(args[i]))
      if (t->flags & LAMELLA_OPAQUE || t->keys & ~layer_bit()) return true;
  return false;
}

PyObject* apply(PyObject* type, PyObject* const* args, Py_ssize_t n) try {
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  if (serve_opaque && is_any_of_a_layer(args, n)) {
    const Ref all(make_tuple(n, [&](Py_ssize_t i) { return Py_NewRef(args[i]); }));
    PyObject* served = all ? PyObject_CallFunctionObjArgs(serve_opaque, type, all.get(), nullptr) : nullptr;
    if (served != Py_NotImplemented) return served;
    Py_DECREF(served);
  }
  const bool recording = !(api().thread()->exclude & layer_bit());
  bool any = false;
  Ref needs(make_tuple(n, [&](Py_ssize_t i) {
    lamella_tensor* t = unwrap(args[i]);
    if (!t) return Py_NewRef(Py_None);
    const bool need = recording && autograd->requires_grad(t);
    any |= need;
    return PyBool_FromLong(need);
  }));
  const Ref self(needs ? cls->tp_alloc(cls, 0) : nullptr);
  if (!self) return nullptr;
  Context* c = cast(self.get());
  c->materialize = true;
  c->needs = needs.take();
  Ref result(run_forward(cls, c, args, n));
  return result && any ? record(cls, c, result.get(), args, n) : result.take();
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
}

// ---- ctx -----------------------------------------------------------------------------------------------------------

PyObject* keep_tuple(PyObject** at, PyObject* args, const char* what) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
    PyObject* o = PyTuple_GET_ITEM(args, i);
    if (o != Py_None && !unwrap(o))
      return PyErr_Format(PyExc_TypeError, "%s can only take tensors, got %s", what, Py_TYPE(o)->tp_name);
  }
  Py_XSETREF(*at, Py_NewRef(args));
  Py_RETURN_NONE;
}
PyObject* save_for_backward(PyObject* o, PyObject* args) {
  return keep_tuple(&cast(o)->to_save, args, "save_for_backward");
}
PyObject* mark_dirty(PyObject* o, PyObject* args) { return keep_tuple(&cast(o)->dirty, args, "mark_dirty"); }
PyObject* mark_non_differentiable(PyObject* o, PyObject* args) {
  return keep_tuple(&cast(o)->no_gradient, args, "mark_non_differentiable");
}
PyObject* set_materialize(PyObject* o, PyObject* on) {
  const int is_on = PyObject_IsTrue(on);
  if (is_on < 0) return nullptr;
  cast(o)->materialize = is_on != 0;
  Py_RETURN_NONE;
}

PyObject* saved_tensors(PyObject* o, void*) {
  Context* c = cast(o);
  if (c->to_save) return Py_NewRef(c->to_save);
  lamella_node* node = c->node;
  if (!node) return PyTuple_New(0);
  autograd->node_retain(node);  // unpack_hook may run Python code that releases the graph
  const int32_t n = autograd->num_saved(node);
  // If the graph was freed, the error comes from reading the first saved value.
  lamella_value v = none();
  const bool freed = n == 0 && autograd->saved(node, 0, &v) && api().error_kind() != LAMELLA_INDEX_ERROR;
  if (!freed) api().error_clear();
  PyObject* all = freed ? raise() : make_tuple(n, [&](Py_ssize_t i) {
    if (autograd->saved(node, static_cast<int32_t>(i), &v)) return raise();
    return v.tag == LAMELLA_TENSOR ? python::face().wrap(v.as.tensor) : Py_NewRef(Py_None);
  });
  autograd->node_release(node);
  return all;
}

PyObject* needs_or_none(PyObject* o, void*) {
  PyObject* needs = cast(o)->needs;
  return needs ? Py_NewRef(needs) : PyTuple_New(0);
}
PyObject* needs_input_grad(PyObject* o, void*) {
  PyObject* needs = cast(o)->needs;
  return make_tuple(needs ? PyTuple_GET_SIZE(needs) : 0,
                    [needs](Py_ssize_t i) { return PyBool_FromLong(PyTuple_GET_ITEM(needs, i) == Py_True); });
}

PyMethodDef methods[] = {
    {"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(apply)), METH_FASTCALL | METH_CLASS,
     "apply(*args)\n--\n\nRuns forward, and records a node whose backward is the class's."},
    {"save_for_backward", save_for_backward, METH_VARARGS,
     "save_for_backward(*tensors)\n--\n\nSaves tensors for backward, which reads them as saved_tensors."},
    {"mark_dirty", mark_dirty, METH_VARARGS, "mark_dirty(*tensors)\n--\n\nSays which inputs forward wrote in place."},
    {"mark_non_differentiable", mark_non_differentiable, METH_VARARGS,
     "mark_non_differentiable(*tensors)\n--\n\nSays which results have no gradient."},
    {"set_materialize_grads", set_materialize, METH_O,
     "set_materialize_grads(value)\n--\n\nSets whether backward gets zeros (the default) or None for "
     "a result without a gradient."},
    {nullptr}};
PyGetSetDef getset[] = {{"saved_tensors", saved_tensors, nullptr, "The tensors that save_for_backward saved.", nullptr},
                        {"needs_input_grad", needs_input_grad, nullptr,
                         "For each argument of forward whether it needs a gradient.", nullptr},
                        {"_lamella_needs", needs_or_none, nullptr,
                         "As needs_input_grad, with None for an argument that is no tensor.", nullptr},
                        {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                        {nullptr}};
PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(Context, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(Context, weakrefs), READONLY, nullptr},
                         {nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, getset},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {"lamella.autograd._FunctionBase", sizeof(Context), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

// Sets base_setup to Function.setup_context, by which run_forward() recognizes a class that defines none of its own.
PyObject* set_base_setup(PyObject*, PyObject* f) {
  Py_XSETREF(base_setup, Py_NewRef(f));
  Py_RETURN_NONE;
}
// Sets the function that serves calls with opaque tensors, or returns NotImplemented.
PyObject* set_opaque(PyObject*, PyObject* f) {
  Py_XSETREF(serve_opaque, Py_NewRef(f));
  Py_RETURN_NONE;
}
PyMethodDef functions[] = {
    {"_set_base_setup", set_base_setup, METH_O, nullptr}, {"_set_opaque", set_opaque, METH_O, nullptr}, {nullptr}};

}  // namespace

PyObject* context_of(lamella_node* n) {
  const lamella_node_type* type = autograd->node_type(n);
  if (!type || type->backward != backward) return nullptr;
  return static_cast<PyObject*>(autograd->node_context(n, type));
}

int add_functions(PyObject* module) {
  name_forward = PyUnicode_InternFromString("forward");
  name_backward = PyUnicode_InternFromString("backward");
  name_setup = PyUnicode_InternFromString("setup_context");
  name_node_type = PyUnicode_InternFromString("_node_type");
  if (!name_forward || !name_backward || !name_setup || !name_node_type) return -1;
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!function_type || PyModule_AddObjectRef(module, "_FunctionBase", reinterpret_cast<PyObject*>(function_type)) < 0)
    return -1;
  return PyModule_AddFunctions(module, functions);
}

}  // namespace lamella::autograd::face
