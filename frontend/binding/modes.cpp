// Modes over __torch_dispatch__, and the layer that asks them and the classes of tensors; Note [Two places] in
// overrides.h.
#include <pybind11/pybind11.h>

#include <unordered_map>
#include <utility>

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

constexpr const char* layer_name = "python";

// The operator as Python calls it: lamella.ops.aten.add.Tensor; of an out= form the functional one.
PyObject* packet_of(const dispatcher::Operator* op) {
  static auto* known = new std::unordered_map<const dispatcher::Operator*, PyObject*>;
  PyObject*& found = (*known)[op];
  if (!found) {
    const dispatcher::Operator* named = op->form == dispatcher::Form::Out && op->functional ? op->functional : op;
    found = packet(named->name + "." + (named->overload.empty() ? "default" : named->overload));
  }
  return found;
}

// The first tensor whose class has a __torch_dispatch__; null if none has.
void look_at_tensors(Overriders& who, const lamella_frame* f, const Value* args) {
  const auto look = [&](const lamella_tensor* t) {
    if (auto* o = t ? static_cast<PyObject*>(core::full(t)->host) : nullptr) who.look_at(&o, 1);
  };
  for (int i = 0; i < f->num_args; i++) {
    if (args[i].tag == LAMELLA_TENSOR) look(args[i].as.tensor);
    for (uint32_t k = 0; args[i].tag == LAMELLA_TENSOR_LIST && k < args[i].length; k++) look(args[i].as.tensors[k]);
  }
}

// Switches the layer on again for its own handler, whose other modes and whose wrapped tensors it is to see. Without
// modes left it is not on for the thread.
class Inside {
 public:
  explicit Inside(lamella_frame* f)
      : thread_(f->thread), self_(uint64_t{1} << f->layer), include_(thread_->include), exclude_(thread_->exclude) {
    thread_->exclude &= ~self_;
    if (overriding.calls.empty()) thread_->include &= ~self_;
  }
  ~Inside() {
    thread_->include = (thread_->include & ~self_) | (include_ & self_);
    thread_->exclude = exclude_;
  }
  Inside(const Inside&) = delete;

 private:
  lamella_thread* thread_;
  uint64_t self_, include_, exclude_;
};

PyObject* call_handler(lamella_frame* f, const SpreadArguments& a, const Overriders& who) {
  PyObject* function = packet_of(f->op);
  PyObject* types = function ? who.types() : nullptr;
  if (!types) return nullptr;
  PyObject* result = Py_NewRef(Py_NotImplemented);
  const auto ask_one = [&](PyObject* of) {
    const Inside on(f);
    Py_SETREF(result, ask(of, dispatch_word, function, types, a.objects(), a.positional(), a.names()));
  };
  if (!overriding.calls.empty()) {
    const Innermost mode(overriding.calls);
    ask_one(mode.get());
  }
  for (size_t i = 0; result == Py_NotImplemented && i < who.all().size(); i++) ask_one(who.all()[i]);
  if (result == Py_NotImplemented) {
    Py_DECREF(result);
    result = no_implementation(function, dispatch_word, who);
  }
  Py_DECREF(types);
  return result;
}

lamella_status run_modes(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  const Gil gil;
  Overriders who(dispatch_word);
  look_at_tensors(who, f, args);
  if (overriding.calls.empty() && !who.any())  // switched on by what another thread had captured
    return dispatcher::redispatch(f, args, rets);
  const SpreadArguments a(f, args);
  lamella_frame* outer = std::exchange(f->thread->frame, f);
  PyObject* result = call_handler(f, a, who);
  f->thread->frame = outer;
  const lamella_status st = result ? take_layer_results(f, result, rets) : capture_exception();
  Py_XDECREF(result);
  return st;
}

}  // namespace

lamella_status python_layer(int32_t* bit) {
  static int32_t known = -1;
  if (known < 0) {
    dispatcher::RegistryLock lock;
    lamella_library_def def = {sizeof def, LAMELLA_ABI_VERSION, "python", "lamella", LAMELLA_EXTENDS, 0};
    lamella_library* lib;
    if (lamella_status st = dispatcher::open_library(def, &lib)) return st;
    const char* const inside[] = {"autograd", nullptr};
    lamella_layer l{};
    l.size = sizeof l;
    l.name = layer_name;
    l.at = "backend";
    l.inside = inside;
    l.flags = LAMELLA_LAYER_INSIDE;
    l.kernel_flags = LAMELLA_KERNEL_CALLS_OPERATORS;
    l.fallback = run_modes;
    if (lamella_status st = dispatcher::register_layer(*lib, l, &known, nullptr)) return st;
  }
  *bit = known;
  return LAMELLA_OK;
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
  if (modes.empty()) throw std::runtime_error("a mode is left that was not entered on this thread");
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
