#include "frontend/binding/arguments.h"

#include <iterator>
#include <map>
#include <utility>

#include "frontend/binding/overrides.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/types.h"
#include "dispatcher/dims.h"
#include "dispatcher/explain.h"
#include "dispatcher/prepare.h"

namespace lamella::binding {

using dispatcher::Kind;

namespace {

// Returns the alias of a parameter: torch's "input" for self, and numpy's names, so that numpy.sum(t, axis=0) works.
PyObject* other_name(const std::string& param) {
  static const std::map<std::string, const char*> others = {
      {"self", "input"}, {"dim", "axis"}, {"keepdim", "keepdims"}, {"correction", "ddof"}};
  auto it = others.find(param);
  return it == others.end() ? nullptr : PyUnicode_InternFromString(it->second);
}

// Compares a keyword with a parameter's name. Keywords in source text are interned, so usually the addresses decide.
bool same(PyObject* key, PyObject* name) {
  if (key == name) return true;
  return name && !PyUnicode_CHECK_INTERNED(key) && PyUnicode_Compare(key, name) == 0;
}

bool names(PyObject* key, const Param& p) { return same(key, p.name) || same(key, p.other); }

}  // namespace

bool make_signature(const dispatcher::Operator* op, Signature* s) {
  if (dispatcher::prepare(const_cast<dispatcher::Operator*>(op))) {
    raise_pending();
    return false;
  }
  s->op = op;
  s->out = op->out;
  for (const dispatcher::Argument& a : op->schema.load()->args) {
    s->params.push_back({PyUnicode_InternFromString(a.name.c_str()), other_name(a.name), a.type, a.keyword_only,
                         a.has_default, a.value});
    s->params.back().dim = a.dim && a.type.kind == Kind::Int && !a.type.optional_elements;
    if (!a.keyword_only) s->num_positional++;
  }
  if (s->num_positional > 0) {
    Param& last = s->params[s->num_positional - 1];
    last.spelled_out = last.type.kind == Kind::Tensor && last.type.list;
  }
  bool self = !s->params.empty() && s->params[0].type.kind == Kind::Tensor && !s->params[0].type.list;
  size_t at = self ? 1 : 0;
  if (at < s->params.size() && s->params[at].type.kind == Kind::Int && s->params[at].type.list &&
      !s->params[at].type.optional_elements)
    s->first_list = static_cast<int>(at);
  return true;
}

bool PlainLists::add_ints(PyObject* const* items, Py_ssize_t n, Value* v) {
  if (n > room - num_ints_) return false;
  int64_t* first = ints_ + num_ints_;
  for (Py_ssize_t i = 0; i < n; i++) {
    int overflow;
    if (!PyLong_CheckExact(items[i])) return false;
    first[i] = PyLong_AsLongLongAndOverflow(items[i], &overflow);
    if (overflow) return false;
  }
  num_ints_ += static_cast<int>(n);
  *v = core::int_list(first, n);
  return true;
}

bool PlainLists::add_repeated(PyObject* item, int times, Value* v) {
  if (times > room - num_ints_ || !add_ints(&item, 1, v)) return false;
  for (int k = 1; k < times; k++) ints_[num_ints_++] = v->as.ints[0];
  v->length = static_cast<uint32_t>(times);
  return true;
}

bool PlainLists::add_tensors(PyObject* const* items, Py_ssize_t n, Value* v) {
  if (n > room - num_tensors_) return false;
  lamella_tensor** first = tensors_ + num_tensors_;
  for (Py_ssize_t i = 0; i < n; i++) {
    if (!is_quiet_tensor(items[i])) return false;
    first[i] = unwrap(items[i]);
    held_[num_tensors_++] = Py_NewRef(items[i]);
  }
  *v = core::tensor_list(first, n);
  return true;
}

bool PlainLists::add_dims(core::Tensor* self, const NamedDims& given, const dispatcher::Type& t, Value* v,
                          const Where& where) {
  int64_t* first = ints_ + num_ints_;
  for (Py_ssize_t i = 0; i < given.count; i++)
    if (!resolve_one(self, given.names[i], &first[i], where)) return false;
  const Py_ssize_t n = given.numbers(t);
  for (Py_ssize_t i = given.count; i < n; i++) first[i] = first[0];
  num_ints_ += static_cast<int>(n);
  *v = t.list ? core::int_list(first, n) : core::integer(first[0]);
  return true;
}

namespace {

// Reads an object whose exact type is one of those that most calls pass. Returns false for any other, which parse()
// handles.
bool plain(PyObject* o, const dispatcher::Type& t, Value* v, PlainLists& lists) {
  if (o == Py_None) {
    *v = core::none();
    return t.optional;
  }
  if (t.list) {
    // A list of numbers or None becomes a list of values, which parse() makes.
    if (t.optional_elements && t.kind != Kind::Tensor) return false;
    const bool listed = PyTuple_CheckExact(o) || PyList_CheckExact(o) || Py_TYPE(o) == size_type;
    if (!listed) return t.kind == Kind::Int && t.list_size > 0 && lists.add_repeated(o, t.list_size, v);
    PyObject* const* items = PySequence_Fast_ITEMS(o);
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    if (t.kind == Kind::Int) return lists.add_ints(items, n, v);
    return t.kind == Kind::Tensor && lists.add_tensors(items, n, v);
  }
  if (is_quiet_tensor(o)) {
    if (t.kind != Kind::Tensor) return false;
    *v = core::tensor_value(unwrap(o));
    return true;
  }
  if (PyFloat_CheckExact(o)) {
    *v = core::floating(PyFloat_AS_DOUBLE(o));
    return t.kind == Kind::Scalar || t.kind == Kind::Float;
  }
  if (PyLong_CheckExact(o)) {
    int overflow;
    const int64_t i = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) return false;
    *v = t.kind == Kind::Float ? core::floating(static_cast<double>(i)) : core::integer(i);
    return t.kind == Kind::Scalar || t.kind == Kind::Int || t.kind == Kind::Float;
  }
  if (PyBool_Check(o)) {
    *v = core::boolean(o == Py_True);
    return t.kind == Kind::Bool;
  }
  core::DType d;
  if (t.kind != Kind::Dtype || Py_TYPE(o) != dtype_type || !read_dtype(o, &d)) return false;
  *v = core::dtype_value(d);
  return true;
}

}  // namespace

// Finds the names of dimensions in args[0], which is for the parameter i, and in those after it if they spell a list out.
// Returns the number of arguments that were taken; 0 if args[0] names no dimensions.
Py_ssize_t Signature::plain_names_at(int i, PyObject* const* args, Py_ssize_t n, PlainLists& lists,
                                     NamedDims* given) const {
  const Param& p = params[i];
  if (!p.dim || !dispatcher::any_dim_resolver()) return 0;
  // Returns whether all are strs and ints, of which one is a str. Others are refused before any name is resolved.
  const auto are_names = [](PyObject* const* items, Py_ssize_t count) {
    bool any = false;
    for (Py_ssize_t k = 0; k < count; k++) {
      any |= PyUnicode_CheckExact(items[k]) != 0;
      if (!PyUnicode_CheckExact(items[k]) && !PyLong_CheckExact(items[k])) return false;
    }
    return any;
  };
  PyObject* o = args[0];
  if (PyUnicode_CheckExact(o)) {
    const bool spelled_out = i == first_list && i + 1 == num_positional && p.type.list_size <= 0;
    *given = {i, args, spelled_out ? n : 1, !spelled_out};
    return are_names(args, given->count) ? given->count : 0;
  }
  if (!p.type.list || !(PyTuple_CheckExact(o) || PyList_CheckExact(o)) || lists.full()) return 0;
  if (PyList_CheckExact(o)) {  // a copy, since the resolver may run code that changes the list
    o = PyList_AsTuple(o);
    if (!o) PyErr_Clear();
    if (!o) return 0;
    lists.hold(o);
  }
  *given = {i, &PyTuple_GET_ITEM(o, 0), PyTuple_GET_SIZE(o), false};
  return are_names(given->names, given->count) ? 1 : 0;
}

core::Tensor* Signature::first_tensor(const Value* values) const {
  for (size_t i = 0; i < params.size(); i++) {
    if (values[i].tag == LAMELLA_TENSOR) return core::full(values[i].as.tensor);
    for (uint32_t k = 0; values[i].tag == LAMELLA_TENSOR_LIST && k < values[i].length; k++)
      if (values[i].as.tensors[k]) return core::full(values[i].as.tensors[k]);
  }
  return nullptr;
}

template <bool by_name>
bool Signature::read_plain(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, Value* values, PlainLists& lists,
                           Py_ssize_t at, Py_ssize_t used) const {
  const Param* p = params.data();
  NamedDims given[4];
  int num_given = 0;
  // Takes arguments that plain() refused, the first of which is for the parameter i; returns their number.
  const auto names_at = [&](Py_ssize_t i, PyObject* const* first, Py_ssize_t left) -> Py_ssize_t {
    if (num_given == std::size(given)) return 0;
    values[i] = core::none();
    const Py_ssize_t taken = plain_names_at(static_cast<int>(i), first, left, lists, &given[num_given]);
    num_given += taken > 0;
    return taken;
  };
  for (; used < n; at++) {
    if (at >= num_positional) return false;
    if (at == first_list && at + 1 == num_positional && PyLong_CheckExact(args[used]) && p[at].type.list_size <= 0) {
      if (!lists.add_ints(args + used, n - used, &values[at])) return false;  // zeros(2, 3)
      used = n;
      continue;
    }
    Py_ssize_t taken = 1;
    if (!plain(args[used], p[at].type, &values[at], lists)) {
      if (!by_name) return plain_names && read_plain<true>(args, n, kwnames, values, lists, at, used);
      taken = names_at(at, args + used, n - used);
      if (!taken) return false;
    }
    used += taken;
  }
  const auto count = static_cast<Py_ssize_t>(params.size());
  uint64_t named = 0;  // the parameters that keywords have given, as bits
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); k++) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, k);
    Py_ssize_t i = at;
    while (i < count && p[i].name != key && p[i].other != key) i++;
    if (i == count || (named >> i & 1)) return false;
    if (!plain(args[n + k], p[i].type, &values[i], lists)) {
      if (!by_name) return plain_names && read_plain<true>(args, n, kwnames, values, lists, at, n);
      if (!names_at(i, args + n + k, 1)) return false;
    }
    named |= uint64_t{1} << i;
  }
  for (; at < count; at++) {
    if (named >> at & 1) continue;
    if (!p[at].has_default) return false;
    values[at] = p[at].value;
  }
  if (!by_name) return true;
  Py_ssize_t numbers = 0;
  for (int k = 0; k < num_given; k++) numbers += given[k].numbers(p[given[k].param].type);
  core::Tensor* self = first_tensor(values);
  if (!self || !lists.has_room(numbers)) return false;
  for (int k = 0; k < num_given; k++) {
    const int i = given[k].param;
    if (!lists.add_dims(self, given[k], p[i].type, &values[i], where(p[i]))) return false;
  }
  return true;
}

template bool Signature::read_plain<false>(PyObject* const*, Py_ssize_t, PyObject*, Value*, PlainLists&, Py_ssize_t,
                                           Py_ssize_t) const;

namespace {

// Reads None for a list whose default is the empty list as that default, as torch does: amax(x, None). Returns false for
// any other argument.
bool reads_as_default(PyObject* o, const Param& p, Value* v) {
  const bool empty = p.has_default && p.type.list && p.value.tag != LAMELLA_NONE && p.value.length == 0;
  if (o != Py_None || !empty) return false;
  *v = p.value;
  return true;
}

// Adds the operator's and the argument's name to an error that arose as the argument was read, such as "no such
// device". An OverflowError becomes a RuntimeError. Exceptions of other types, raised by code of the user, are left as
// they are.
void add_context(const dispatcher::Operator* op, const Param& p) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  bool overflow = PyErr_GivenExceptionMatches(type, PyExc_OverflowError);
  if (!overflow && type != PyExc_TypeError && type != PyExc_ValueError && type != PyExc_RuntimeError) {
    PyErr_Restore(type, value, traceback);
    return;
  }
  PyObject* text = overflow ? PyUnicode_FromString("the number does not fit 64 bits") : PyObject_Str(value);
  PyErr_Format(overflow ? PyExc_RuntimeError : type, "%s: argument '%U': %V", dispatcher::operator_title(op).c_str(),
               p.name, text, "it cannot be read");
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
}

}  // namespace

// Keeps the complaint of the overload that accepted the most arguments, since it was probably the intended one; among
// equals, the most specific complaint.
bool Signature::fail(Mismatch* why, int progress, Complaint complaint, const std::string& text) const {
  if (std::pair(progress, complaint) > std::pair(why->progress, why->complaint)) {
    why->progress = progress;
    why->complaint = complaint;
    why->text = text;
  }
  return false;
}

bool Signature::wrong(Mismatch* why, int progress, int i, PyObject* got) const {
  // A tensor whose element is too large for a number may be intended for another overload, which takes tensors.
  if (is_tensor(got) && PyErr_ExceptionMatches(PyExc_OverflowError)) PyErr_Clear();
  if (PyErr_Occurred()) {
    add_context(op, params[i]);
    return false;
  }
  if (!why->explain) return false;
  const char* hint = params[i].dim ? names_hint(got, params[i].type.list) : "";
  return fail(why, progress, *hint ? Complaint::unknown_name : Complaint::wrong_type,
              "argument '" + text_of(params[i].name) + "' must be " + expected(params[i].type) + ", got " +
                  received(got, params[i].type) + hint);
}

bool Signature::named(Mismatch* why, int progress, Complaint complaint, const char* text, PyObject* name) const {
  if (!why->explain) return false;
  return fail(why, progress, complaint, std::string(text) + " '" + text_of(name) + "'");
}

// Keeps an argument that convert() refused, if it names dimensions: resolve_names() converts it once all others are
// converted, so that the resolver is called only for an overload that takes the call.
bool Signature::accept_name(int i, PyObject* o, Value* values, Mismatch* why, uint64_t* named) const {
  if (!params[i].dim || PyErr_Occurred() || !names_dims(o, params[i].type.list)) return false;
  why->names = true;
  if (!why->by_name) return false;
  values[i] = core::none();
  values[i].as.pointer = o;
  *named |= uint64_t{1} << i;
  return true;
}

Where Signature::where(const Param& p) const {
  return [op = op, name = p.name] { return dispatcher::operator_title(op) + ": argument '" + text_of(name) + "'"; };
}

// Converts the arguments that name dimensions, which `named` has as bits, by the first tensor of the call.
bool Signature::resolve_names(uint64_t named, Value* values, Arena& arena) const {
  core::Tensor* self = first_tensor(values);
  for (size_t i = 0; i < params.size(); i++) {
    if (!(named >> i & 1)) continue;
    if (!self) {
      PyErr_Format(PyExc_TypeError, "%s: got names of dimensions, but the call has no tensor; give numbers",
                   where(params[i])().c_str());
      return false;
    }
    auto* given = static_cast<PyObject*>(values[i].as.pointer);
    if (!resolve_dims(self, given, params[i].type, &values[i], arena, where(params[i]))) return false;
  }
  return true;
}

// Reads the positional arguments; sets *next to the first parameter without one.
bool Signature::parse_positional(PyObject* const* args, Py_ssize_t n, Value* values, Arena& arena, Mismatch* why,
                                 int* next, uint64_t* named) const {
  int at = 0;
  Py_ssize_t used = 0;
  for (; used < n && at < num_positional; at++) {
    PyObject* o = args[used];
    // As in zeros(2, 3): the remaining positional arguments form one list.
    bool spelled_out = at == first_list && at + 1 == num_positional &&
                       (params[at].type.list_size <= 0 || n - used > 1) &&
                       ((PyIndex_Check(o) && !PyBool_Check(o)) || (params[at].dim && PyUnicode_Check(o)));
    if (spelled_out) {
      auto* list = static_cast<int64_t*>(arena.take(8 * (n - used)));
      PyObject* name = nullptr;  // the first name of a dimension, as in permute("b", "a")
      for (Py_ssize_t k = used; k < n; k++) {
        if (as_index(args[k], &list[k - used])) continue;
        if (!params[at].dim || !PyUnicode_Check(args[k])) return wrong(why, at, at, args[k]);
        if (!name) name = args[k];
      }
      values[at] = core::int_list(list, n - used);
      if (name) {
        PyObject* all = PyTuple_New(n - used);
        if (!all) return false;
        arena.hold(all);
        for (Py_ssize_t k = used; k < n; k++) PyTuple_SET_ITEM(all, k - used, Py_NewRef(args[k]));
        if (!accept_name(at, all, values, why, named)) return wrong(why, at, at, name);
      }
      used = n;
      continue;
    }
    if (params[at].spelled_out && is_tensor(o)) {  // einsum(equation, a, b)
      auto** list = static_cast<lamella_tensor**>(arena.take(8 * (n - used)));
      for (Py_ssize_t k = used; k < n; k++) {
        if (!is_tensor(args[k])) return wrong(why, at, at, args[k]);
        list[k - used] = unwrap(args[k]);
      }
      values[at] = core::tensor_list(list, n - used);
      used = n;
      continue;
    }
    if (!convert(o, params[at].type, &values[at], arena) && !reads_as_default(o, params[at], &values[at]) &&
        !accept_name(at, o, values, why, named))
      return wrong(why, at, at, o);
    used++;
  }
  *next = at;
  if (used == n) return true;
  if (!why->explain) return false;
  return fail(why, at, Complaint::too_many,
              "takes at most " + std::to_string(num_positional) + " positional arguments, got " + std::to_string(n));
}

namespace {

// Returns whether a keyword has the value None that numpy passes for an argument left out: axis, dtype, out.
bool left_open(PyObject* key, PyObject* value) {
  if (value != Py_None) return false;
  for (const char* name : {"axis", "dtype", "out"})
    if (PyUnicode_CompareWithASCIIString(key, name) == 0) return true;
  return false;
}

}  // namespace

// Returns the keyword argument for a parameter; null if there is none, or only a None by an alias that left_open()
// ignores.
PyObject* Signature::find_keyword(int i, PyObject* const* values, PyObject* kwnames) const {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); k++) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, k);
    if (same(key, params[i].name)) return values[k];
    if (same(key, params[i].other) && (params[i].type.optional || !left_open(key, values[k]))) return values[k];
  }
  return nullptr;
}

bool Signature::parse(PyObject* const* args, Py_ssize_t n, PyObject* kwnames, Value* values, PyObject** out_arg,
                      Arena& arena, Mismatch* why) const {
  const int count = static_cast<int>(params.size());
  int next = 0;
  uint64_t dims = 0;  // the parameters whose arguments name dimensions, as bits
  if (!parse_positional(args, n, values, arena, why, &next, &dims)) return false;
  Py_ssize_t taken = 0, nkw = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (int i = nkw ? 0 : next; i < count; i++) {
    PyObject* found = nkw ? find_keyword(i, args + n, kwnames) : nullptr;
    const int progress = next + static_cast<int>(taken);
    if (found && i < next) return named(why, progress, Complaint::twice, "got two values for argument", params[i].name);
    if (found) {
      taken++;
      if (!convert(found, params[i].type, &values[i], arena) && !reads_as_default(found, params[i], &values[i]) &&
          !accept_name(i, found, values, why, &dims))
        return wrong(why, progress, i, found);
    } else if (i >= next) {
      if (!params[i].has_default) return named(why, progress, Complaint::missing, "missing argument", params[i].name);
      values[i] = params[i].value;
    }
  }
  if (taken == nkw) return !dims || resolve_names(dims, values, arena);
  Py_ssize_t spare = 0;
  for (Py_ssize_t k = 0; k < nkw; k++) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, k);
    bool known = false;
    for (const Param& p : params) known |= names(key, p);
    const bool is_out = out && PyUnicode_CompareWithASCIIString(key, "out") == 0;
    if (is_out) *out_arg = args[n + k];
    if (is_out || left_open(key, args[n + k]))
      spare++;
    else if (!known)  // keywords before it are accepted; one that another overload refuses for its type is no less
      return named(why, next + static_cast<int>(k), Complaint::unknown_keyword, "has no argument", key);
  }
  if (taken + spare >= nkw) return !dims || resolve_names(dims, values, arena);
  PyObject* second = PyTuple_GET_ITEM(kwnames, nkw - 1);
  for (Py_ssize_t k = 1; k < nkw; k++)
    for (const Param& p : params)
      for (Py_ssize_t j = 0; j < k && names(PyTuple_GET_ITEM(kwnames, k), p); j++)
        if (names(PyTuple_GET_ITEM(kwnames, j), p)) second = PyTuple_GET_ITEM(kwnames, k);
  return named(why, next + static_cast<int>(taken), Complaint::twice, "got two values for argument", second);
}

}  // namespace lamella::binding
