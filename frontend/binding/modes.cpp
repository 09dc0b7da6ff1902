// Modes over __torch_dispatch__, and the layer that calls them and the __torch_dispatch__ of tensors' classes. See Note
// [Two places] in overrides.h.
#include <pybind11/pybind11.h>

#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/thread.h"
#include "dispatcher/keys.h"
#include "dispatcher/ledger.h"
#include "dispatcher/registry_lock.h"
#include "frontend/binding/overriders.h"
#include "frontend/binding/overrides.h"
#include "frontend/binding/packet.h"
#include "frontend/binding/python_kernel.h"
#include "frontend/binding/status.h"

namespace py = pybind11;

namespace lamella::binding {
namespace {

constexpr const char* layer_name = "torch_dispatch";

// Returns the operator's packet, such as lamella.ops.aten.add.Tensor; for an out= form that of the functional operator.
PyObject* packet_of(const dispatcher::Operator* op) {
  static auto* known = new std::unordered_map<const dispatcher::Operator*, PyObject*>;
  PyObject*& found = (*known)[op];
  if (!found) {
    const dispatcher::Operator* named = op->form == dispatcher::Form::Out && op->functional ? op->functional : op;
    found = packet(named->name + "." + (named->overload.empty() ? "default" : named->overload));
  }
  return found;
}

// Collects the tensors of a call whose classes have a __torch_dispatch__.
void look_at_tensors(Overriders& who, const lamella_frame* f, const Value* args) {
  const auto look = [&](const lamella_tensor* t) {
    if (auto* o = t ? static_cast<PyObject*>(core::full(t)->host) : nullptr) who.look_at(&o, 1);
  };
  for (int i = 0; i < f->num_args; i++) {
    if (args[i].tag == LAMELLA_TENSOR) look(args[i].as.tensor);
    for (uint32_t k = 0; args[i].tag == LAMELLA_TENSOR_LIST && k < args[i].length; k++) look(args[i].as.tensors[k]);
  }
}

// Keeps the layer on while its handler runs, so that calls of the handler reach the outer modes, and the classes of
// tensors that a wrapper tensor holds. If no mode is left, only tensors with a __torch_dispatch__ switch the layer on.
class LayerOn {
 public:
  explicit LayerOn(lamella_frame* f)
      : thread_(f->thread), self_(uint64_t{1} << f->layer), include_(thread_->include), exclude_(thread_->exclude) {
    thread_->exclude &= ~self_;
    if (overriding.calls.empty()) thread_->include &= ~self_;
  }
  ~LayerOn() {
    thread_->include = (thread_->include & ~self_) | (include_ & self_);
    thread_->exclude = exclude_;
  }
  LayerOn(const LayerOn&) = delete;

 private:
  lamella_thread* thread_;
  uint64_t self_, include_, exclude_;
};

// Makes a frame the thread's innermost one while its handler runs, so that code that reads the thread's frame finds it.
class FrameScope {
 public:
  explicit FrameScope(lamella_frame* f) : thread_(f->thread), outer_(std::exchange(thread_->frame, f)) {}
  ~FrameScope() { thread_->frame = outer_; }
  FrameScope(const FrameScope&) = delete;

 private:
  lamella_thread* thread_;
  lamella_frame* outer_;
};

// The arguments for a handler. The outputs of an out= form become one keyword `out`, with a tuple if there are several.
class HandlerArguments {
 public:
  HandlerArguments(const lamella_frame* f, const SpreadArguments& a) : objects_(a.objects()), names_(a.names()) {
    const int outs = f->op->form == dispatcher::Form::Out ? f->num_args - f->op->info.first_out : 0;
    if (outs < 2) return;
    const Py_ssize_t n = a.positional(), kept = PyTuple_GET_SIZE(names_) - outs;
    all_.assign(objects_, objects_ + n + kept);
    out_ = PyTuple_New(outs);
    own_ = PyTuple_New(kept + 1);
    if (!out_ || !own_) throw std::bad_alloc();
    for (int i = 0; i < outs; i++) PyTuple_SET_ITEM(out_, i, Py_NewRef(objects_[n + kept + i]));
    for (Py_ssize_t k = 0; k < kept; k++) PyTuple_SET_ITEM(own_, k, Py_NewRef(PyTuple_GET_ITEM(names_, k)));
    PyTuple_SET_ITEM(own_, kept, PyUnicode_InternFromString("out"));
    all_.push_back(out_);
    objects_ = all_.data();
    names_ = own_;
  }
  ~HandlerArguments() {
    Py_XDECREF(out_);
    Py_XDECREF(own_);
  }
  HandlerArguments(const HandlerArguments&) = delete;
  PyObject* const* objects() const { return objects_; }
  PyObject* names() const { return names_; }

 private:
  PyObject* const* objects_;
  PyObject* names_;
  std::vector<PyObject*> all_;
  PyObject *out_ = nullptr, *own_ = nullptr;
};

PyObject* call_handler(lamella_frame* f, const SpreadArguments& a, const Overriders& who) {
  const FrameScope scope(f);
  const HandlerArguments given(f, a);
  PyObject* function = packet_of(f->op);
  PyObject* types = function ? who.types() : nullptr;
  if (!types) return nullptr;
  PyObject* result = Py_NewRef(Py_NotImplemented);
  const auto call_one = [&](PyObject* of) {
    const LayerOn on(f);
    Py_SETREF(result,
              call_override(of, dispatch_word, function, types, given.objects(), a.positional(), given.names()));
  };
  if (!overriding.calls.empty()) {
    const Innermost mode(overriding.calls);
    call_one(mode.get());
  }
  for (size_t i = 0; result == Py_NotImplemented && i < who.all().size(); i++) call_one(who.all()[i]);
  if (result == Py_NotImplemented) {
    Py_DECREF(result);
    result = no_implementation(function, dispatch_word, who);
  }
  Py_DECREF(types);
  return result;
}

// Replaces the results that the operator has written in place by the written arguments, whatever the handler returned.
void keep_written(const lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  const auto& described = f->op->schema.load()->described_rets;
  for (int i = 0; i < f->num_rets; i++) {
    const int32_t at = described[i].alias_of;
    if (at < 0 || !(f->op->info.written >> at & 1) || args[at].tag != LAMELLA_TENSOR) continue;
    Value before = rets[i];
    rets[i] = core::retain_value(args[at]);
    core::release_value(before);
  }
}

// Calls the handlers of modes and classes. Returns false if there are none: the layer may be on because a state was
// copied from a thread that had a mode. The call then continues below.
bool call_handlers(lamella_frame* f, const lamella_value* args, lamella_value* rets, lamella_status* st) {
  const Gil gil;
  Overriders who(dispatch_word);
  look_at_tensors(who, f, args);
  if (overriding.calls.empty() && !who.any()) return false;
  const SpreadArguments a(f, args);
  PyObject* result = call_handler(f, a, who);
  *st = result ? take_layer_results(f, result, rets) : capture_exception();
  Py_XDECREF(result);
  if (!*st && f->op->info.written) keep_written(f, args, rets);
  return true;
}

lamella_status run_modes(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  lamella_status st;
  return call_handlers(f, args, rets, &st) ? st : dispatcher::redispatch(f, args, rets);
}

}  // namespace

lamella_status python_layer(int32_t* bit) {
  static int32_t known = -1;
  if (known >= 0) return *bit = known, LAMELLA_OK;
  dispatcher::RegistryLock lock;  // another thread may have registered the layer before this one got the lock
  if (known < 0) {
    lamella_library_def def = {sizeof def, LAMELLA_ABI_VERSION, "python", "lamella", LAMELLA_EXTENDS, 0};
    lamella_library* lib;
    if (lamella_status st = dispatcher::open_library(def, &lib)) return st;
    const char* const inside[] = {"autograd", nullptr};
    const lamella_layer l = {.size = sizeof l,
                             .flags = LAMELLA_LAYER_INSIDE,
                             .name = layer_name,
                             .at = "backend",
                             .inside = inside,
                             .fallback = run_modes,
                             .kernel_flags = LAMELLA_KERNEL_CALLS_OPERATORS};
    if (lamella_status st = dispatcher::register_layer(*lib, l, &known, nullptr)) return st;
  }
  *bit = known;
  return LAMELLA_OK;
}

PyObject* usual_dispatch(PyObject*, PyObject* all, PyObject* named) {
  return with_memory([&]() -> PyObject* {
    PyObject *function, *types, *args, *kwargs;
    if (!read_override("__torch_dispatch__", all, named, &function, &types, &args, &kwargs)) return nullptr;
    Py_DECREF(types);
    int32_t bit;
    PyObject* result = nullptr;
    if (python_layer(&bit)) {
      raise_pending();
    } else {
      lamella_thread& thread = core::this_thread().shared;
      const uint64_t before = thread.exclude;
      thread.exclude |= uint64_t{1} << bit;
      result = PyObject_Call(function, args, kwargs);
      thread.exclude = before;
    }
    Py_DECREF(args);
    return result;
  });
}

namespace {

void push_mode(const std::string& word, py::object mode) {
  if (word == "function") {
    overriding.functions.push_back(mode.release().ptr());
    function_modes++;
    return;
  }
  int32_t bit;
  check(python_layer(&bit));
  overriding.calls.push_back(mode.release().ptr());
  core::this_thread().shared.include |= uint64_t{1} << bit;
}

py::object pop_mode(const std::string& word) {
  Modes& modes = word == "function" ? overriding.functions : overriding.calls;
  if (modes.empty())
    throw std::runtime_error(
        (word == "function" ? "TorchFunctionMode" : "TorchDispatchMode") +
        std::string(": no mode is entered on this thread; exit a mode on the thread that entered it"));
  const py::object mode = py::reinterpret_steal<py::object>(modes.back());
  modes.pop_back();
  int32_t bit;
  if (word == "function") {
    function_modes--;
  } else if (modes.empty()) {
    check(python_layer(&bit));
    core::this_thread().shared.include &= ~(uint64_t{1} << bit);
  }
  return mode;
}

}  // namespace

void add_modes(py::module_& m) {
  m.def("_push_mode", push_mode);
  m.def("_pop_mode", pop_mode);
  m.def("_modes", [](const std::string& word) {
    py::list l;
    for (PyObject* mode : word == "function" ? overriding.functions : overriding.calls)
      l.append(py::reinterpret_borrow<py::object>(mode));
    return l;
  });
}

}  // namespace lamella::binding
