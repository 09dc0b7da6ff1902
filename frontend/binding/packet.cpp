#include "frontend/binding/packet.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>

#include "dispatcher/dims.h"
#include "dispatcher/keywords.h"
#include "dispatcher/operators.h"
#include "dispatcher/prepare.h"
#include "dispatcher/registry_lock.h"
#include "frontend/binding/overrides.h"
#include "frontend/binding/plugin_keywords.h"
#include "frontend/binding/results.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/unlocked.h"

namespace lamella::binding {

PyTypeObject* packet_type = nullptr;

namespace {

using dispatcher::Operator;

struct Packet {
  PyObject_HEAD vectorcallfunc vectorcall;
  std::string *name, *full;     // "aten::add"; `full` is "aten::add.Tensor" for a packet of one overload
  const std::string* overload;  // null for a packet of all overloads
  std::vector<std::unique_ptr<Signature>>* overloads;
  uint64_t generation;  // the generation of registrations for which `overloads` was made
  bool makes_tensors;   // plugins' keywords apply, as in zeros(2, requires_grad=True)
  PyObject* doc;
};

std::unordered_map<std::string, Packet*>& packets() {
  static auto* m = new std::unordered_map<std::string, Packet*>;
  return *m;
}
uint64_t generation = 1;

Packet* cast(PyObject* o) { return reinterpret_cast<Packet*>(o); }

std::string without_aten(const std::string& name) { return name.rfind("aten::", 0) == 0 ? name.substr(6) : name; }

std::string title(const Packet* p) { return without_aten(p->overload && p->overload->empty() ? *p->name : *p->full); }

// Returns one overload; "default" means the overload without a name. Null if there is none, or it is an out= form.
Operator* one_overload(const std::string& name, const std::string& overload) {
  Operator* found = dispatcher::find_operator(name, overload);
  if (!found && overload == "default") found = dispatcher::find_operator(name, "");
  return found && found->form != dispatcher::Form::Out ? found : nullptr;
}

std::vector<Operator*> operators_of(const Packet* p) {
  if (!p->overload) return dispatcher::overloads_of(*p->name);
  Operator* one = dispatcher::find_operator(*p->name, *p->overload);
  return one ? std::vector<Operator*>{one} : std::vector<Operator*>{};
}

bool refresh(Packet* p) {
  const auto now = generation;  // read first: a later registration counts for the next call
  std::vector<Operator*> live = operators_of(p);
  live.erase(std::remove_if(live.begin(), live.end(), [](auto* op) { return op->form == dispatcher::Form::Out; }),
             live.end());
  const auto known = [](const std::unique_ptr<Signature>& s, const Operator* op) { return s->op == op; };
  if (!live.empty() && std::equal(p->overloads->begin(), p->overloads->end(), live.begin(), live.end(), known)) {
    p->generation = now;  // the registration was of another operator
    return true;
  }
  // An outer call may still read the old signatures, so they are kept and never freed; registrations are rare.
  static auto* old = new std::vector<std::vector<std::unique_ptr<Signature>>*>;
  if (!p->overloads->empty()) {
    old->push_back(p->overloads);
    p->overloads = new std::vector<std::unique_ptr<Signature>>;
  }
  p->makes_tensors = false;
  for (Operator* op : live) {
    auto s = std::make_unique<Signature>();
    if (!make_signature(op, s.get())) return false;
    p->makes_tensors |= makes_tensors(*s);
    p->overloads->push_back(std::move(s));
  }
  for (const auto& s : *p->overloads) s->plain_names = may_name_dims(*s, *p->overloads);
  if (p->overloads->empty()) {
    PyErr_Format(PyExc_AttributeError, "lamella has no operator %s", p->full->c_str());
    return false;
  }
  p->generation = now;
  return true;
}

constexpr int64_t work_threshold = 32768;

// Returns the work of a call: the number of elements of its largest tensor, or of the tensor that a list of sizes
// describes. From work_threshold on, run() releases the interpreter's lock for other threads.
int64_t work(const dispatcher::CallInfo& info, const Value* values) {
  int64_t w = 0;
  for (int i = 0; i < info.num_tensors; i++)
    if (values[info.tensors[i]].tag == LAMELLA_TENSOR) w = std::max(w, values[info.tensors[i]].as.tensor->numel);
  for (int i = 0; i < info.num_lists; i++)
    for (uint32_t k = 0; values[info.lists[i]].tag == LAMELLA_TENSOR_LIST && k < values[info.lists[i]].length; k++)
      if (lamella_tensor* t = values[info.lists[i]].as.tensors[k]) w = std::max(w, t->numel);
  if (info.num_tensors == 0 && info.nargs > 0 && values[0].tag == LAMELLA_INT_LIST) {
    w = 1;
    for (uint32_t i = 0; i < values[0].length && w > 0; i++)
      if (__builtin_mul_overflow(w, values[0].as.ints[i], &w)) w = work_threshold;
  } else if (info.num_tensors == 0 && info.nargs > 0) {
    w = work_threshold;  // arange and others whose size is not known here
  }
  return w;
}

// Runs the out= form: the outputs, one tensor or a tuple of them, are appended to the arguments.
PyObject* run_out(const Packet* p, const Signature& s, Value* values, PyObject* out, Arena& arena) {
  const dispatcher::CallInfo* info;
  if (dispatcher::prepare(const_cast<Operator*>(s.out))) return raise_pending();
  info = &s.out->info;
  int n = info->nargs - info->first_out;
  PyObject* single[1] = {out};
  PyObject* const* items = single;
  if (n > 1) {
    if (!PyTuple_Check(out) && !PyList_Check(out))
      return PyErr_Format(PyExc_TypeError, "%s: argument 'out' must be %d tensors, got %s", title(p).c_str(), n,
                          type_name(out).c_str());
    if (PySequence_Fast_GET_SIZE(out) != n)
      return PyErr_Format(PyExc_TypeError, "%s: argument 'out' must be %d tensors, got %zd", title(p).c_str(), n,
                          PySequence_Fast_GET_SIZE(out));
    PyObject* held = PySequence_Tuple(out);  // a copy, since the list may change during the call
    if (!held) return nullptr;
    arena.hold(held);
    items = &PyTuple_GET_ITEM(held, 0);
  }
  for (int i = 0; i < n; i++) {
    if (!is_tensor(items[i]))
      return PyErr_Format(PyExc_TypeError, "%s: argument 'out' must be Tensor, got %s", title(p).c_str(),
                          type_name(items[i]).c_str());
    values[info->first_out + i] = core::tensor_value(unwrap(items[i]));
  }
  return run(s.out, values);
}

// Returns the frontend's text for a keyword that a missing plugin would bring, such as requires_grad; or "".
std::string planned(PyObject* kwnames) {
  std::string s;
  PyObject* module = kwnames ? PyImport_ImportModule("lamella._absent") : nullptr;
  PyObject* note = module ? PyObject_CallMethod(module, "keywords_note", "(O)", kwnames) : nullptr;
  if (note && PyUnicode_Check(note)) s = text_of(note);
  Py_XDECREF(note);
  Py_XDECREF(module);
  PyErr_Clear();
  return s;
}

std::string explain(const Packet* p, const Mismatch& why, PyObject* kwnames) {
  std::string s = title(p) + ": " + why.text + planned(kwnames);
  if (p->overloads->size() > 1) {
    s += "; it takes";
    for (const auto& o : *p->overloads) s += "\n  " + title(p) + o->op->schema.load()->signature();
  }
  return s;
}

enum class Caller : uint8_t {
  user,
  number_protocol,  // gets NotImplemented if no overload takes the arguments
  contributed       // dispatch_contributed(), which has taken the plugins' keywords out
};

PyObject* dispatch_any(Packet* p, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, Caller caller, Value* values)
    __attribute__((noinline));

// Replaces a TypeError by NotImplemented, so that in a + b Python tries the other side.
PyObject* or_not_implemented(PyObject* answer) {
  if (answer || !PyErr_ExceptionMatches(PyExc_TypeError)) return answer;
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* dispatch(Packet* p, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, Caller caller) {
  return with_memory([&]() -> PyObject* {
    PyObject* answer;
    if (__builtin_expect(any_function_mode(), 0) &&
        overridden_by_mode(reinterpret_cast<PyObject*>(p), args, n, kwnames, &answer))
      return caller == Caller::number_protocol ? or_not_implemented(answer) : answer;
    if (__builtin_expect(p->generation != generation, 0) && !refresh(p)) return nullptr;
    Value values[64];
    PlainLists lists;
    const bool claimed = kwnames && p->makes_tensors && dispatcher::any_claims() && caller != Caller::contributed;
    if (__builtin_expect(!claimed, 1))
      for (const auto& s : *p->overloads) {
        if (s->parse_plain(args, n, kwnames, values, lists)) return run(s->op, values);
        if (s->plain_names && PyErr_Occurred()) return nullptr;
      }
    return dispatch_any(p, args, n, kwnames, caller, values);
  });
}

// Calls add(3, t), mul(3, t) or sub(3, t), for which torch has no overload but which it accepts: with the operands
// swapped, and rsub for sub. Null without an exception if it is not such a call, or is add with `alpha`, which would
// scale the wrong operand.
PyObject* number_first(const Packet* p, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  static const std::map<std::string, const char*> reflected = {
      {"aten::add", "aten::add"}, {"aten::mul", "aten::mul"}, {"aten::sub", "aten::rsub"}};
  auto it = reflected.find(p->overloads->front()->op->name);  // the operator's own name, since p->name may be an alias
  if (it == reflected.end() || n != 2 || is_tensor(args[0]) || !is_tensor(args[1])) return nullptr;
  std::vector<PyObject*> swapped = {args[1], args[0]};
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); k++) {
    const bool alpha = PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, k), "alpha") == 0;
    if (alpha && it->first == "aten::add") return nullptr;
    swapped.push_back(args[n + k]);
  }
  PyObject* r = dispatch(cast(packet(it->second)), swapped.data(), n, kwnames, Caller::number_protocol);
  if (r != Py_NotImplemented) return r;
  Py_DECREF(r);
  return nullptr;
}

// Takes the keywords that plugins contribute out of the call, replaces those that a plugin expands, and applies the
// contributed ones to the call's result. Null without an exception if the call has none of either kind.
PyObject* dispatch_contributed(Packet* p, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  std::vector<PyObject*> rest;
  bool taken = false;
  const auto run = [&](Contributed& contributed, bool expands) {
    rest.assign(args, args + n);
    PyObject* names = contributed.take(*p->overloads, args + n, kwnames, rest, expands);
    taken = names != nullptr;
    const bool any = names && (contributed.any() || !expands);
    PyObject* result = any ? dispatch(p, rest.data(), n, names, Caller::contributed) : nullptr;
    Py_XDECREF(names);
    return result;
  };
  Contributed contributed, as_given;
  PyObject* result = run(contributed, true);
  if (result) return contributed.apply(p->overloads->front()->op, result);
  if (!taken || !contributed.doubled()) return nullptr;
  PyErr_Clear();  // the call has an expanded argument by position: the error is that a keyword is unknown
  return run(as_given, false);
}

// Returns a new tuple of the same names, interned, because parse_plain() compares names by their address. Null if all
// are interned, or if one is of a subclass of str, which cannot be interned.
PyObject* interned(PyObject* names) {
  bool all = true, exact = true;
  for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); k++) {
    PyObject* name = PyTuple_GET_ITEM(names, k);
    all = all && PyUnicode_CHECK_INTERNED(name);
    exact = exact && PyUnicode_CheckExact(name);
  }
  if (all || !exact) return nullptr;
  PyObject* made = PyTuple_New(PyTuple_GET_SIZE(names));
  bool done = made != nullptr;
  for (Py_ssize_t k = 0; made && k < PyTuple_GET_SIZE(names); k++) {
    PyObject* name = Py_NewRef(PyTuple_GET_ITEM(names, k));
    PyUnicode_InternInPlace(&name);
    done = done && PyUnicode_CHECK_INTERNED(name);
    PyTuple_SET_ITEM(made, k, name);
  }
  if (!done) {  // no memory: the general way compares the texts
    PyErr_Clear();
    Py_CLEAR(made);
  }
  return made;
}

PyObject* dispatch_any(Packet* p, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, Caller caller,
                       Value* values) {
  if (PyObject* names = interned(kwnames)) {  // names of f(**options) may not be interned
    PyObject* result = dispatch(p, args, n, names, caller);
    Py_DECREF(names);
    return result;
  }
  PyObject* answer;
  if (overridden(reinterpret_cast<PyObject*>(p), args, n, kwnames, &answer))
    return caller == Caller::number_protocol ? or_not_implemented(answer) : answer;
  if (p->makes_tensors && kwnames && dispatcher::any_keywords() && caller != Caller::contributed) {
    PyObject* result = dispatch_contributed(p, args, n, kwnames);
    if (result || PyErr_Occurred()) return result;
  }
  Arena arena;
  PyObject* out = nullptr;
  // Calls the first overload that takes the arguments. Null without an exception if none does.
  const auto call_first = [&](Mismatch* why) -> PyObject* {
    for (const auto& s : *p->overloads) {
      if (s->parse(args, n, kwnames, values, &out, arena, why)) {
        if (__builtin_expect(out != nullptr && out != Py_None, 0)) return run_out(p, *s, values, out, arena);
        return run(s->op, values);
      }
      if (__builtin_expect(PyErr_Occurred() != nullptr, 0)) return nullptr;
    }
    return nullptr;
  };
  Mismatch quick;
  answer = call_first(&quick);
  if (answer || PyErr_Occurred()) return answer;
  if (quick.names && dispatcher::any_dim_resolver()) {
    quick.by_name = true;
    answer = call_first(&quick);
    if (answer || PyErr_Occurred()) return answer;
  }
  if (caller == Caller::number_protocol) Py_RETURN_NOTIMPLEMENTED;
  answer = number_first(p, args, n, kwnames);
  if (answer || PyErr_Occurred()) return answer;
  Mismatch why{true, quick.by_name};
  for (const auto& s : *p->overloads) {
    s->parse(args, n, kwnames, values, &out, arena, &why);
    if (PyErr_Occurred()) return nullptr;
  }
  PyErr_SetString(PyExc_TypeError, explain(p, why, kwnames).c_str());
  return nullptr;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return dispatch(cast(self), args, PyVectorcall_NARGS(nargsf), kwnames, Caller::user);
}

PyObject* descr_get(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("<operator %s>", cast(self)->full->c_str()); }
PyObject* get_name(PyObject* self, void*) { return PyUnicode_FromString(without_aten(*cast(self)->full).c_str()); }
PyObject* get_module(PyObject*, void*) { return PyUnicode_FromString("lamella"); }

PyObject* get_doc(PyObject* self, void*) {
  Packet* p = cast(self);
  if (p->doc) return Py_NewRef(p->doc);
  std::string s;
  for (Operator* op : operators_of(p)) {
    if (op->form == dispatcher::Form::Out || dispatcher::prepare(op)) continue;
    s += title(p) + op->schema.load()->signature() + "\n";
  }
  bool inplace = false;
  for (Operator* op : operators_of(p)) inplace |= op->form == dispatcher::Form::Inplace;
  s += "\n";
  for (Operator* op : operators_of(p)) {
    dispatcher::RegistryLock lock;  // the operator may be redefined meanwhile
    if (op->doc.empty()) continue;
    s += (inplace ? "In place, in self: " : "") + op->doc;
    break;
  }
  return PyUnicode_FromString(s.c_str());
}

int set_doc(PyObject* self, PyObject* value, void*) {
  Py_XSETREF(cast(self)->doc, Py_XNewRef(value));
  return 0;
}

PyObject* get_text_signature(PyObject* self, void*) {
  Packet* p = cast(self);
  if (p->generation != generation && !refresh(p)) return nullptr;
  // The signature of the first overload.
  return PyUnicode_FromString(p->overloads->front()->op->schema.load()->signature().c_str());
}

PyObject* get_schemas(PyObject* self, void*) {
  Packet* p = cast(self);
  PyObject* l = PyList_New(0);
  for (Operator* op : operators_of(p)) {
    if (dispatcher::prepare(op)) continue;
    PyObject* s = PyUnicode_FromString(op->schema_text.c_str());
    PyList_Append(l, s);
    Py_DECREF(s);
  }
  return l;
}

PyGetSetDef getset[] = {{"__name__", get_name, nullptr, nullptr, nullptr},
                        {"__qualname__", get_name, nullptr, nullptr, nullptr},
                        {"__module__", get_module, nullptr, nullptr, nullptr},
                        {"__doc__", get_doc, set_doc, nullptr, nullptr},
                        {"__text_signature__", get_text_signature, nullptr, nullptr, nullptr},
                        {"schemas", get_schemas, nullptr, "The schemas of all overloads and forms.", nullptr},
                        {nullptr}};

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Packet, vectorcall), READONLY, nullptr},
                         {nullptr}};

// Looks up an overload: lamella.add.Tensor.
PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  const Packet* p = cast(self);
  if (found || p->overload || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const std::string text = text_of(name);
  if (text.empty() || text.compare(0, 2, "__") == 0 || !one_overload(*p->name, text)) {
    PyErr_Restore(type, value, traceback);
    return nullptr;
  }
  for (PyObject* o : {type, value, traceback}) Py_XDECREF(o);
  return Py_XNewRef(packet(*p->name + "." + text));
}

PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(descr_get)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
                       {Py_tp_getset, getset},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {
    "lamella.OperatorPacket", sizeof(Packet), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    slots};

}  // namespace

PyObject* run(const Operator* op, const Value* values) {
  Value rets[LAMELLA_MAX_RETURNS];
  dispatcher::clear(rets, op->info.nrets);
  lamella_status st;
  if (__builtin_expect(work(op->info, values) >= work_threshold && may_unlock(), 0)) {
    st = unlocked([&] { return dispatcher::call(nullptr, op, values, rets); });
  } else {
    st = dispatcher::call(nullptr, op, values, rets);
  }
  if (__builtin_expect(st != LAMELLA_OK, 0)) return raise_pending();
  if (__builtin_expect(op->info.nrets == 1, 1)) return to_python(rets[0]);
  return named_results(op, rets, op->info.nrets);
}

PyObject* packet(const std::string& name) {
  auto it = packets().find(name);
  if (it != packets().end()) return reinterpret_cast<PyObject*>(it->second);
  std::string base, overload;
  dispatcher::split_name(name, &base, &overload);
  const Operator* one = base != name ? one_overload(base, overload) : nullptr;
  if (base != name ? !one : dispatcher::overloads_of(name).empty()) {
    PyErr_Format(PyExc_AttributeError, "lamella has no operator %s", name.c_str());
    return nullptr;
  }
  PyObject* o = packet_type->tp_alloc(packet_type, 0);
  if (!o) return nullptr;
  Packet* p = cast(o);
  p->vectorcall = vectorcall;
  p->name = new std::string(base);
  p->full = new std::string(name);
  p->overload = one ? new std::string(one->overload) : nullptr;
  p->overloads = new std::vector<std::unique_ptr<Signature>>;
  p->generation = 0;
  p->makes_tensors = false;
  p->doc = nullptr;
  packets()[name] = p;
  return o;
}

const std::string* packet_name(PyObject* o) { return Py_TYPE(o) == packet_type ? cast(o)->name : nullptr; }
const std::string* packet_overload(PyObject* o) { return Py_TYPE(o) == packet_type ? cast(o)->overload : nullptr; }

void forget_signatures() { generation++; }

PyObject* call_packet(PyObject* p, PyObject* const* args, Py_ssize_t n) {
  return dispatch(cast(p), args, n, nullptr, Caller::user);
}
PyObject* try_packet(PyObject* p, PyObject* const* args, Py_ssize_t n) {
  return dispatch(cast(p), args, n, nullptr, Caller::number_protocol);
}

int init_packets(PyObject* module) {
  PyObject* t = PyType_FromSpec(&spec);
  if (!t) return -1;
  packet_type = reinterpret_cast<PyTypeObject*>(t);
  return PyModule_AddType(module, packet_type);
}

}  // namespace lamella::binding
