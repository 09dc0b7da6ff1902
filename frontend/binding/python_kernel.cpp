#include "frontend/binding/python_kernel.h"

#include <pthread.h>
#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <unordered_map>

#include "core/thread.h"
#include "frontend/binding/arguments.h"
#include "frontend/binding/packet.h"
#include "frontend/binding/returned.h"
#include "frontend/binding/tensor_object.h"
#include "dispatcher/checked_call.h"
#include "dispatcher/dims.h"
#include "dispatcher/explain.h"
#include "dispatcher/fill.h"
#include "dispatcher/layer.h"
#include "dispatcher/operators.h"
#include "dispatcher/placement.h"
#include "dispatcher/table.h"
#include "dispatcher/targets.h"

namespace lamella::binding {
namespace {

using dispatcher::Operator;

PyTypeObject* call_type = nullptr;

// The first argument of a layer's handler or of a category's kernel. It describes the operator; a handler calls it to
// continue the call in the layers below.
struct Call {
  PyObject_HEAD vectorcallfunc vectorcall;
  lamella_frame* frame;      // null after the handler has returned
  const Value* values;       // the original arguments
  PyObject* const* objects;  // the same as Python objects: positional ones, then the keywords' values
  Py_ssize_t num_positional;
  PyObject* kwnames;
};

Call* cast(PyObject* o) { return reinterpret_cast<Call*>(o); }

const Signature* signature(const Operator* op) {
  static auto* cache = new std::unordered_map<const Operator*, std::unique_ptr<Signature>>;
  auto& s = (*cache)[op];
  if (s) return s.get();
  auto made = std::make_unique<Signature>();
  if (!make_signature(op, made.get())) return nullptr;
  made->out = nullptr;  // the outputs of an out= form are ordinary parameters here
  s = std::move(made);
  return s.get();
}

PyObject* results_to_python(const Operator* op, Value* rets) {
  int n = op->info.nrets;
  if (n == 0) Py_RETURN_NONE;
  if (n == 1) return to_python(rets[0]);
  PyObject* t = PyTuple_New(n);
  for (int i = 0; i < n; i++) PyTuple_SET_ITEM(t, i, to_python(rets[i]));
  return t;
}

bool unchanged(const Call* c, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  Py_ssize_t nkw = kwnames ? PyTuple_GET_SIZE(kwnames) : 0, had = c->kwnames ? PyTuple_GET_SIZE(c->kwnames) : 0;
  if (n != c->num_positional || nkw != had) return false;
  for (Py_ssize_t i = 0; i < n + nkw; i++)
    if (args[i] != c->objects[i]) return false;
  for (Py_ssize_t i = 0; i < nkw; i++)
    if (PyTuple_GET_ITEM(kwnames, i) != PyTuple_GET_ITEM(c->kwnames, i)) return false;
  return true;
}

// Goes on with a call, by redispatch or decompose; `word` is that function's name.
PyObject* go_on(Call* c, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, const char* word,
                lamella_status (*on)(lamella_frame*, const Value*, Value*)) {
  if (!c->frame)
    return PyErr_Format(PyExc_RuntimeError, "%s: the handler of this call has returned; make the call before that",
                        word);
  const Operator* op = c->frame->op;
  if (c->frame->layer < 0)
    return PyErr_Format(PyExc_RuntimeError, "%s: a device's kernel cannot redispatch, because no layer is below it",
                        dispatcher::operator_title(op).c_str());
  if (c->frame->thread != &core::this_thread().shared)
    return PyErr_Format(PyExc_RuntimeError,
                        "%s: this call of %s belongs to the thread that its handler runs on; make it there", word,
                        dispatcher::operator_title(op).c_str());
  Arena arena;
  Value values[64], rets[LAMELLA_MAX_RETURNS];
  const Value* use = c->values;
  if (!unchanged(c, args, n, kwnames)) {
    const Signature* s = signature(op);
    if (!s) return nullptr;
    Mismatch why{true, dispatcher::any_dim_resolver()};
    PyObject* out = nullptr;
    if (!s->parse(args, n, kwnames, values, &out, arena, &why)) {
      if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s: %s: %s", dispatcher::operator_title(op).c_str(), word, why.text.c_str());
      return nullptr;
    }
    use = values;
  }
  dispatcher::clear(rets, op->info.nrets);
  if (on(c->frame, use, rets)) return raise_pending();
  return results_to_python(op, rets);
}

PyObject* redispatch(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return with_memory([&] {
    return go_on(cast(self), args, PyVectorcall_NARGS(nargsf), kwnames, "redispatch", dispatcher::redispatch);
  });
}

PyObject* decompose(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return with_memory([&] { return go_on(cast(self), args, n, kwnames, "decompose", dispatcher::decompose); });
}

PyObject* get_name(PyObject* self, void*) {
  return cast(self)->frame ? PyUnicode_FromString(cast(self)->frame->op->name.c_str()) : PyUnicode_FromString("");
}
PyObject* get_overload(PyObject* self, void*) {
  return cast(self)->frame ? PyUnicode_FromString(cast(self)->frame->op->overload.c_str()) : PyUnicode_FromString("");
}
PyObject* get_schema(PyObject* self, void*) {
  return cast(self)->frame ? PyUnicode_FromString(cast(self)->frame->op->schema_text.c_str())
                           : PyUnicode_FromString("");
}
PyObject* get_category(PyObject* self, void*) {
  return cast(self)->frame ? PyUnicode_FromString(cast(self)->frame->op->category.c_str()) : PyUnicode_FromString("");
}
PyObject* get_excluded(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(cast(self)->frame ? cast(self)->frame->excluded : 0);
}
PyObject* get_expressions(PyObject* self, void*) {
  const lamella_pointwise* p = cast(self)->frame ? cast(self)->frame->op->pointwise : nullptr;
  PyObject* d = PyDict_New();
  if (!p || !d) return d;
  const lamella_expressions& e = p->expressions;
  for (const auto& [key, text] : {std::pair("bool", e.of_bools),
                                  {"integral", e.of_integers},
                                  {"floating", e.of_floats},
                                  {"complex", e.of_complex}}) {
    PyObject* o = text ? PyUnicode_FromString(text) : nullptr;
    if (o) PyDict_SetItemString(d, key, o);
    Py_XDECREF(o);
  }
  return d;
}
void dealloc(PyObject* self) {
  PyTypeObject* t = Py_TYPE(self);
  t->tp_free(self);
  Py_DECREF(t);
}

PyGetSetDef getset[] = {
    {"name", get_name, nullptr, "The operator's name, as 'aten::add'.", nullptr},
    {"overload", get_overload, nullptr, "The overload's name, perhaps empty.", nullptr},
    {"schema", get_schema, nullptr, "The operator's schema.", nullptr},
    {"expressions", get_expressions, nullptr,
     "For a pointwise operator, the C expressions of a result's element by class of dtypes; otherwise {}.", nullptr},
    {"category", get_category, nullptr, "The operator's category.", nullptr},
    {"excluded", get_excluded, nullptr, "The bits of the layers that were off when the call began.", nullptr},
    {nullptr}};
PyMethodDef methods[] = {
    {"decompose", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(decompose)), METH_FASTCALL | METH_KEYWORDS,
     "Serves the call by the operator's composite, whose operators come to this layer again.\n\n"
     "Raises:\n    NotImplementedError: the operator has no composite"},
    {nullptr}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Call, vectorcall), READONLY, nullptr},
                         {nullptr}};
PyType_Slot slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_getset, getset},
    {Py_tp_members, members},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char*>(
                    "One call of an operator, as a layer's handler sees it; calling it goes on to the layers below.")},
    {0, nullptr}};
PyType_Spec spec = {"lamella.library.Call", sizeof(Call), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

// ---- the result of get_kernel: one kernel, called without the layers above it --------------------------------------

PyTypeObject* kernel_type = nullptr;

struct Kernel {
  PyObject_HEAD vectorcallfunc vectorcall;
  const Operator* op;
  lamella_object* kernel;
  std::string* key;
};

Kernel* cast_kernel(PyObject* o) { return reinterpret_cast<Kernel*>(o); }

PyObject* call_kernel(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return with_memory([&]() -> PyObject* {
    const Kernel* k = cast_kernel(self);
    const Signature* s = signature(k->op);
    if (!s) return nullptr;
    Arena arena;
    Value values[64], rets[LAMELLA_MAX_RETURNS];
    Mismatch why{true, dispatcher::any_dim_resolver()};
    PyObject* out = nullptr;
    if (!s->parse(args, PyVectorcall_NARGS(nargsf), kwnames, values, &out, arena, &why)) {
      if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s: %s", dispatcher::operator_title(k->op).c_str(), why.text.c_str());
      return nullptr;
    }
    const dispatcher::CallInfo& info = k->op->info;
    if (dispatcher::call_kernel(nullptr, k->kernel, values, info.nargs, rets, info.nrets)) return raise_pending();
    return results_to_python(k->op, rets);
  });
}

PyObject* kernel_repr(PyObject* o) {
  const Kernel* k = cast_kernel(o);
  return PyUnicode_FromFormat("<kernel of %s for '%s'>", k->op->full_name().c_str(), k->key->c_str());
}

void dealloc_kernel(PyObject* o) {
  core::release(cast_kernel(o)->kernel);
  delete cast_kernel(o)->key;
  dealloc(o);
}

PyMemberDef kernel_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Kernel, vectorcall), READONLY, nullptr},
                                {nullptr}};
PyType_Slot kernel_slots[] = {
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_kernel)},
    {Py_tp_repr, reinterpret_cast<void*>(kernel_repr)},
    {Py_tp_members, kernel_members},
    {Py_tp_doc, const_cast<char*>("One kernel of an operator, as get_kernel gives it; calling it calls that kernel.")},
    {0, nullptr}};
PyType_Spec kernel_spec = {"lamella.library.Kernel", sizeof(Kernel), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           kernel_slots};

// Returns whether an argument has its default value. A list or string counts only if it is the default's own memory.
bool is_default(const dispatcher::Argument& a, const Value& v) {
  if (!a.has_default || v.tag != a.value.tag) return false;
  if (v.tag == LAMELLA_NONE) return true;
  if (v.tag > LAMELLA_FLOAT && v.tag != LAMELLA_DTYPE && v.tag != LAMELLA_MEMORY_FORMAT && v.tag != LAMELLA_LAYOUT)
    return v.as.pointer == a.value.as.pointer && v.length == a.value.length;
  return v.as.i == a.value.as.i;
}

std::string who_returns(const lamella_frame* f) {
  const dispatcher::Layer* l = f->layer >= 0 ? dispatcher::layer(f->layer) : nullptr;
  return l ? "the handler of layer '" + l->name + "'" : "the Python kernel";
}

// Converts a Python result to an owned value of the declared type.
bool from_python(const lamella_frame* f, PyObject* o, const dispatcher::Return& r, Value* out) {
  Arena arena;
  Value v;
  if (!convert(o, r.type, &v, arena)) {
    if (!PyErr_Occurred())
      PyErr_Format(PyExc_TypeError, "%s: %s must return %s, got %s", dispatcher::operator_title(f->op).c_str(),
                   who_returns(f).c_str(), expected(r.type).c_str(), type_name(o).c_str());
    return false;
  }
  *out = core::retain_value(v);
  return true;
}

// Stores a result. If the dispatcher has allocated an output (for a backend's kernel of an operator with a shape rule),
// the result must have the shape and dtype of the rule; it replaces the allocation, or is copied into memory that the
// caller passed.
lamella_status deliver(lamella_frame* f, const Value* args, int i, Value* ret, Value result, bool composite) {
  const bool functional = f->op->form == dispatcher::Form::Functional && !f->op->info.written;
  if (ret->tag == LAMELLA_TENSOR && result.tag != LAMELLA_TENSOR) {
    std::string s =
        dispatcher::operator_title(f->op) + ": the Python kernel must return a Tensor, got " + core::describe(result);
    core::release_value(result);
    return core::raise(LAMELLA_TYPE_ERROR, s);
  }
  const Tensor* want = ret->tag == LAMELLA_TENSOR ? core::full(ret->as.tensor) : nullptr;
  const Tensor* got = result.tag == LAMELLA_TENSOR ? core::full(result.as.tensor) : nullptr;
  if (want && want == got) {
    core::release_value(result);
    return LAMELLA_OK;
  }
  // Without a shape rule, the schema says whether a result may be memory of an argument.
  const bool is_view = want ? shared_argument(f, args, want) >= 0 : f->op->schema.load()->rets[i].alias.present();
  const bool fresh = functional && !composite && !is_view;
  if (lamella_status st = composite ? LAMELLA_OK : check_returned(f, args, result, want, fresh)) {
    core::release_value(result);
    return st;
  }
  if (want && (want->dtype != got->dtype || !dispatcher::has_shape(got, want->ndim(), want->sizes()))) {
    std::string s = dispatcher::operator_title(f->op) + ": the Python kernel returned " + core::describe(result) +
                    ", the shape rule says " + core::describe(*ret);
    core::release_value(result);
    return core::raise(LAMELLA_RUNTIME_ERROR, s);
  }
  if (!want || !got || functional) {
    core::release_value(*ret);
    *ret = result;
    return LAMELLA_OK;
  }
  static const Operator* copy = dispatcher::find_operator("aten::copy_", "");
  Value in[3] = {*ret, result, core::boolean(false)}, out = core::none();
  lamella_status st = dispatcher::call(f, copy, in, &out);
  core::release_value(out);
  core::release_value(result);
  return st;
}

// Raises if a result that the schema says is a written argument is another tensor. A layer that goes on with a
// substitute for that argument and returns it would lose the write without an error.
lamella_status check_written(lamella_frame* f, const dispatcher::Schema& s, int i, const Value* args,
                             const Value& result) {
  const dispatcher::Alias& alias = s.rets[i].alias;
  if (__builtin_expect(!alias.write, 1) || result.tag != LAMELLA_TENSOR) return LAMELLA_OK;
  for (size_t k = 0; k < s.args.size(); k++) {
    const bool same = s.args[k].alias.write && s.args[k].alias.before == alias.before;
    if (!same || args[k].tag != LAMELLA_TENSOR || args[k].as.tensor == result.as.tensor) continue;
    return core::raise(
        LAMELLA_RUNTIME_ERROR,
        core::format("%s: %s must return the argument '%s', which the call writes, got another tensor; "
                     "copy the result into the argument, and return that",
                     dispatcher::operator_title(f->op).c_str(), who_returns(f).c_str(), s.args[k].name.c_str()));
  }
  return LAMELLA_OK;
}

lamella_status take_results(lamella_frame* f, const Value* args, PyObject* result, Value* rets, PythonKernel::Of of) {
  const bool layer = of == PythonKernel::Of::Layer;
  // A copy, since converting an item may change the list.
  if (PyList_Check(result) && f->op->schema.load()->rets.size() > 1) {
    PyObject* now = PyList_AsTuple(result);
    const lamella_status st = now ? take_results(f, args, now, rets, of) : capture_exception();
    Py_XDECREF(now);
    return st;
  }
  const dispatcher::Schema& s = *f->op->schema.load();
  int n = static_cast<int>(s.rets.size());
  if (n == 0) return LAMELLA_OK;
  if (n > 1 && (!PyTuple_Check(result) || PyTuple_GET_SIZE(result) != n)) {
    const std::string got = PyTuple_Check(result) ? core::format("%zd", PyTuple_GET_SIZE(result)) : type_name(result);
    PyErr_Format(PyExc_TypeError, "%s: %s must return a tuple of %d, got %s", dispatcher::operator_title(f->op).c_str(),
                 who_returns(f).c_str(), n, got.c_str());
    return capture_exception();
  }
  for (int i = 0; i < n; i++) {
    Value v = core::none();
    PyObject* one = n == 1 ? result : PyTuple_GET_ITEM(result, i);
    const bool not_asked_for = n > 1 && one == Py_None;
    if (!not_asked_for && !from_python(f, one, s.rets[i], &v)) {
      lamella_status st = capture_exception();
      if (layer) dispatcher::release_all(rets, i);
      return st;
    }
    if (layer) {
      rets[i] = v;
      if (lamella_status st = args ? check_written(f, s, i, args, v) : LAMELLA_OK) {
        dispatcher::release_all(rets, i + 1);
        return st;
      }
    } else if (lamella_status st = deliver(f, args, i, &rets[i], v, of == PythonKernel::Of::Composite)) {
      return st;
    }
  }
  return LAMELLA_OK;
}

}  // namespace

SpreadArguments::SpreadArguments(const lamella_frame* f, const Value* args) {
  const dispatcher::Schema& s = *f->op->schema.load();
  // A functional kernel that serves the out= form gets no outputs; its result is stored into them.
  const bool derived = f->layer < 0 && f->op->form == dispatcher::Form::Out;
  const int nargs = derived ? f->op->info.first_out : static_cast<int>(s.args.size());
  PyObject** first = objects_ + 1;
  bool any_keyword = false;
  for (int i = 0; i < nargs; i++) any_keyword |= s.args[i].keyword_only && !is_default(s.args[i], args[i]);
  for (int i = 0; i < nargs && !s.args[i].keyword_only; i++) {
    bool rest = true;
    for (int j = i; j < nargs && rest; j++) rest = s.args[j].keyword_only || is_default(s.args[j], args[j]);
    if (rest) break;
    first[n_++] = borrowed_to_python(args[i]);
  }
  positional_ = n_;
  if (any_keyword) {
    kwnames_ = PyTuple_New(0);
    for (int i = 0; i < nargs; i++) {
      if (!s.args[i].keyword_only || is_default(s.args[i], args[i])) continue;
      first[n_++] = borrowed_to_python(args[i]);
      Py_ssize_t at = PyTuple_GET_SIZE(kwnames_);
      _PyTuple_Resize(&kwnames_, at + 1);
      PyObject* name = PyUnicode_InternFromString(s.args[i].name.c_str());
      PyTuple_SET_ITEM(kwnames_, at, name);
    }
  }
}

SpreadArguments::~SpreadArguments() {
  Py_XDECREF(kwnames_);
  for (Py_ssize_t i = 0; i < n_; i++) Py_XDECREF(objects()[i]);
}

namespace {

// Returns whether the thread's stack is nearly used up. Python counts its own frames, but not the native frames between
// them.
bool is_stack_short() {
  constexpr size_t needed = 512 << 10;
  thread_local const char* end = [] {
    pthread_attr_t attributes;
    void* lowest = nullptr;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes)) return static_cast<const char*>(nullptr);
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return static_cast<const char*>(lowest);
  }();
  return static_cast<const char*>(__builtin_frame_address(0)) < end + needed;
}

}  // namespace

lamella_status run_python(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  Gil gil;
  auto* k = static_cast<PythonKernel*>(f->context);
  if (!k->callable) return LAMELLA_RETRY;
  if (is_stack_short()) {
    PyErr_Format(PyExc_RecursionError, "%s: kernels in Python are nested too deeply; does one call its own operator?",
                 dispatcher::operator_title(f->op).c_str());
    return capture_exception();
  }
  const SpreadArguments a(f, args);
  PyObject* callable = Py_NewRef(k->callable);
  const bool layer = f->layer >= 0, takes_call = layer || k->of == PythonKernel::Of::Category;
  lamella_frame* outer = f->thread->frame;
  f->thread->frame = f;
  PyObject* result = nullptr;
  Call* c = nullptr;
  if (takes_call) {
    c = cast(call_type->tp_alloc(call_type, 0));
    c->vectorcall = redispatch;
    c->frame = f;
    c->values = args;
    c->objects = a.objects();
    c->num_positional = a.positional();
    c->kwnames = a.names();
    result = PyObject_Vectorcall(callable, a.behind(reinterpret_cast<PyObject*>(c)), a.positional() + 1, a.names());
    c->frame = nullptr;
  } else {
    result = PyObject_Vectorcall(callable, a.objects(), a.positional(), a.names());
  }
  f->thread->frame = outer;
  const bool may_decline = !layer && (k->of == PythonKernel::Of::Device || k->of == PythonKernel::Of::Category);
  lamella_status st = !result ? capture_exception()
                      : may_decline && result == Py_NotImplemented
                          ? LAMELLA_DECLINED
                          : take_results(f, args, result, rets, layer ? PythonKernel::Of::Layer : k->of);
  Py_XDECREF(result);
  Py_XDECREF(reinterpret_cast<PyObject*>(c));
  Py_DECREF(callable);
  return st;
}

lamella_status take_layer_results(lamella_frame* f, PyObject* result, lamella_value* rets) {
  return take_results(f, nullptr, result, rets, PythonKernel::Of::Layer);
}

PyObject* new_kernel(const Operator* op, const std::string& key) {
  lamella_object* kernel;
  if (dispatcher::look_up_kernel(op, key.c_str(), &kernel)) return raise_pending();
  PyObject* o = kernel_type->tp_alloc(kernel_type, 0);
  if (!o) {
    core::release(kernel);
    return nullptr;
  }
  Kernel* k = cast_kernel(o);
  k->vectorcall = call_kernel;
  k->op = op;
  k->kernel = kernel;
  k->key = new std::string(key);
  return o;
}

int init_python_kernels(PyObject* module) {
  call_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  kernel_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kernel_spec));
  if (!call_type || !kernel_type) return -1;
  PyObject* call = reinterpret_cast<PyObject*>(call_type);
  return PyModule_AddObject(module, "Call", Py_NewRef(call)) < 0 ? -1 : PyModule_AddType(module, kernel_type);
}

}  // namespace lamella::binding
