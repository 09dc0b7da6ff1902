#include "dispatcher/checked_call.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/object.h"
#include "dispatcher/explain.h"
#include "dispatcher/fill.h"
#include "dispatcher/keys.h"
#include "dispatcher/prepare.h"

namespace lamella::dispatcher {
namespace {

constexpr uint32_t bit(lamella_tag tag) { return uint32_t{1} << tag; }
// Bits above the tags say which elements a list or a dictionary of values may hold.
constexpr uint32_t absent_elements = uint32_t{1} << 31;  // None, also in a list of tensors
constexpr uint32_t string_elements = uint32_t{1} << 30;
constexpr uint32_t number_elements = uint32_t{1} << 29;
constexpr uint32_t any_elements = uint32_t{1} << 28;    // anything without tensors and objects
constexpr uint32_t large_elements = uint32_t{1} << 27;  // with number_elements: also numbers above int64
constexpr uint32_t numbers = bit(LAMELLA_BOOLEAN) | bit(LAMELLA_INT) | bit(LAMELLA_FLOAT) | bit(LAMELLA_COMPLEX);

// Returns the tag of lists of a type, with the bits of the elements that they may hold; 0 if no value can be such a
// list.
uint32_t list_tag(const Type& t) {
  switch (t.kind) {
    case Kind::Tensor:
      return bit(LAMELLA_TENSOR_LIST);
    case Kind::Bool:
      return t.optional_elements ? bit(LAMELLA_VALUE_LIST) | number_elements : bit(LAMELLA_BOOL_LIST);
    case Kind::Int:
      return t.optional_elements ? bit(LAMELLA_VALUE_LIST) | number_elements : bit(LAMELLA_INT_LIST);
    case Kind::Float:
      return t.optional_elements ? bit(LAMELLA_VALUE_LIST) | number_elements : bit(LAMELLA_FLOAT_LIST);
    case Kind::Scalar:
    case Kind::Complex:
      return bit(LAMELLA_VALUE_LIST) | number_elements | large_elements;
    case Kind::Str:
      return bit(LAMELLA_VALUE_LIST) | string_elements;
    default:
      return 0;
  }
}
// Returns the bits of the elements that a dictionary of a type may hold; 0 if there is no such dictionary, as for
// tensors, which layers would not find in it.
uint32_t dict_elements(Kind values) {
  switch (values) {
    case Kind::Str:
      return string_elements;
    case Kind::Bool:
    case Kind::Int:
      return number_elements;
    case Kind::Float:
    case Kind::Scalar:
    case Kind::Complex:
      return number_elements | large_elements;
    case Kind::Any:
      return any_elements;
    default:
      return 0;
  }
}
uint32_t plain_tags(const Type& t) {
  switch (t.kind) {
    case Kind::Tensor:
      return bit(LAMELLA_TENSOR);
    case Kind::Bool:
    case Kind::Int:
      return numbers;
    case Kind::Float:
    case Kind::Scalar:
    case Kind::Complex:
      return numbers | bit(LAMELLA_UINT);
    case Kind::Str:
      return bit(LAMELLA_STRING);
    case Kind::Dtype:
      return bit(LAMELLA_DTYPE);
    case Kind::Layout:
      return bit(LAMELLA_LAYOUT);
    case Kind::MemoryFormat:
      return bit(LAMELLA_MEMORY_FORMAT);
    case Kind::Device:
      return bit(LAMELLA_DEVICE);
    case Kind::Generator:
    case Kind::Object:
      return bit(LAMELLA_OBJECT);
    case Kind::Dict:
      return dict_elements(t.of_values) ? bit(LAMELLA_DICT) | dict_elements(t.of_values) : 0;
    case Kind::Any:
      return 0;
  }
  return 0;
}

constexpr uint32_t pointers = bit(LAMELLA_TENSOR) | bit(LAMELLA_STRING) | bit(LAMELLA_COMPLEX) | bit(LAMELLA_OBJECT);
constexpr uint32_t lists = bit(LAMELLA_TENSOR_LIST) | bit(LAMELLA_INT_LIST) | bit(LAMELLA_FLOAT_LIST) |
                           bit(LAMELLA_BOOL_LIST) | bit(LAMELLA_VALUE_LIST) | bit(LAMELLA_DICT);
constexpr uint32_t enumerations = bit(LAMELLA_DTYPE) | bit(LAMELLA_MEMORY_FORMAT) | bit(LAMELLA_LAYOUT);

bool element_admitted(uint32_t tags, const Value& v, int depth = 0) {
  if (v.tag == LAMELLA_NONE) return tags & (absent_elements | any_elements);
  if (v.tag == LAMELLA_STRING) return v.as.string && (tags & (string_elements | any_elements));
  if (core::is_number(v))
    return (tags & (v.tag == LAMELLA_UINT ? large_elements | any_elements : number_elements | any_elements)) &&
           (v.tag != LAMELLA_COMPLEX || v.as.doubles);
  if (!(tags & any_elements) || v.tag > LAMELLA_UINT || v.tag == LAMELLA_TENSOR || v.tag == LAMELLA_TENSOR_LIST ||
      v.tag == LAMELLA_OBJECT || v.tag == LAMELLA_SYMBOLIC || v.tag == LAMELLA_SYMBOLIC_LIST || depth > 16)
    return false;
  if ((lists >> v.tag & 1) && v.length > 0 && !v.as.pointer) return false;
  for (uint64_t i = 0, n = core::num_values(v); i < n; i++) {
    const Value& e = v.as.values[i];
    const bool key = v.tag == LAMELLA_DICT && i % 2 == 0;
    if (key ? e.tag != LAMELLA_STRING || !e.as.string : !element_admitted(tags, e, depth + 1)) return false;
  }
  return v.tag != LAMELLA_DTYPE || core::is_dtype(v.as.i);
}

bool elements_admitted(uint32_t tags, const Value& v) {
  for (uint64_t i = 0, n = core::num_values(v); i < n; i++) {
    const bool key = v.tag == LAMELLA_DICT && i % 2 == 0;
    if (!element_admitted(key ? string_elements : tags, v.as.values[i])) return false;
  }
  return true;
}

bool content_admitted(uint32_t tags, const Value& v) {
  if (v.tag == LAMELLA_DTYPE) return core::is_dtype(v.as.i);
  if (v.tag == LAMELLA_MEMORY_FORMAT) return v.as.i >= LAMELLA_CONTIGUOUS_FORMAT && v.as.i <= LAMELLA_CHANNELS_LAST;
  if (v.tag == LAMELLA_LAYOUT) return v.as.i == 0;
  if (v.length == 0) return true;
  if (!v.as.pointer) return false;
  if (v.tag != LAMELLA_TENSOR_LIST) return elements_admitted(tags, v);
  if (tags & absent_elements) return true;
  return std::all_of(v.as.tensors, v.as.tensors + v.length, [](const lamella_tensor* t) { return t != nullptr; });
}

// Returns whether a value's tag and content are allowed. `kind`: the type that an object must have.
inline bool admitted(uint32_t tags, const char* kind, const Value& v) {
  if (v.tag > LAMELLA_UINT || !(tags >> v.tag & 1)) return false;
  if (v.tag == LAMELLA_OBJECT) return v.as.object && kind && !std::strcmp(v.as.object->type->name, kind);
  if (pointers >> v.tag & 1) return v.as.pointer != nullptr;
  return !((lists | enumerations) >> v.tag & 1) || content_admitted(tags, v);
}

inline bool argument_admitted(const CallInfo& info, int i, const Value& v) {
  return admitted(info.admits[i], info.objects ? info.objects[i] : nullptr, v);
}

bool all_admitted(const CallInfo& info, const Value* args) {
  bool good = true;
  for (int i = 0; i < info.nargs; i++) good &= argument_admitted(info, i, args[i]);
  return good;
}

// The quick check: true is certain; after false, all_admitted() decides.
inline bool plainly_admitted(const CallInfo& info, const Value* args) {
  constexpr uint32_t closer = (pointers | lists | enumerations) & ~bit(LAMELLA_TENSOR);
  for (int i = 0; i < info.nargs; i++) {
    const Value& v = args[i];
    if (v.tag > LAMELLA_UINT || !(info.admits[i] >> v.tag & 1)) return false;
    if (v.tag == LAMELLA_TENSOR ? !v.as.tensor : (closer >> v.tag & 1) && !argument_admitted(info, i, v)) return false;
  }
  return true;
}

// Describes a value whose kind is not admitted, for an error.
std::string what_came(uint32_t tags, const Value& v) {
  if (v.tag > LAMELLA_UINT || v.tag == LAMELLA_SYMBOLIC || v.tag == LAMELLA_SYMBOLIC_LIST)
    return core::format("a value with the tag %u", v.tag);
  if (((pointers | lists) >> v.tag & 1) && !v.as.pointer) return "a null pointer";
  if (enumerations >> v.tag & 1)
    return core::format("%s %lld",
                        v.tag == LAMELLA_DTYPE    ? "the dtype"
                        : v.tag == LAMELLA_LAYOUT ? "the layout"
                                                  : "the memory format",
                        (long long)v.as.i);
  return (tags >> v.tag & 1) && v.tag == LAMELLA_TENSOR_LIST ? "a list with a null tensor" : core::describe(v);
}

lamella_status wrong_kind(const Operator* op, const Value* args) {
  int i = 0;
  while (argument_admitted(op->info, i, args[i])) i++;
  const Argument& a = op->schema.load()->args[i];
  return core::raise(LAMELLA_TYPE_ERROR,
                     core::format("%s: argument '%s' must be %s, got %s", operator_title(op).c_str(), a.name.c_str(),
                                  a.type.text.c_str(), what_came(op->info.admits[i], args[i]).c_str()));
}

lamella_status null_argument(const char* entry, int at) {
  return core::raise(LAMELLA_VALUE_ERROR, core::format("%s: argument %d must not be null", entry, at));
}

// Fills `all` with one value for each argument of the operator. The given values stay in order, the outputs of an out=
// form last; missing(i, &value) provides the arguments that the caller left out.
template <class Missing>
lamella_status completed(const Operator* op, const Value* args, int32_t num_args, Value* all, Missing missing) {
  const CallInfo& info = op->info;
  const int32_t outs = info.nargs - info.first_out, given = num_args - outs;
  if (given < 0 || num_args > info.nargs)
    return core::raise(
        LAMELLA_TYPE_ERROR,
        core::format("%s: got %d arguments, expected at %s %d: %s", operator_title(op).c_str(), num_args,
                     given < 0 ? "least" : "most", given < 0 ? outs : info.nargs, op->schema.load()->text().c_str()));
  std::copy(args, args + given, all);
  for (int32_t i = given; i < info.first_out; i++)
    if (lamella_status st = missing(i, &all[i])) return st;
  std::copy(args + given, args + num_args, all + info.first_out);
  return LAMELLA_OK;
}

lamella_status check_room(const Operator* op, int32_t num_rets) {
  if (num_rets >= op->info.nrets) return LAMELLA_OK;
  return core::raise(LAMELLA_TYPE_ERROR, core::format("%s: got room for %d results, it returns %d",
                                                      operator_title(op).c_str(), num_rets, op->info.nrets));
}

// The slow path of a checked call: the first call of an operator, other numbers of arguments or results, lists and
// strings, values of a wrong kind.
template <class Run>
__attribute__((noinline)) lamella_status unusual_call(const Operator* op, const Value* args, int32_t num_args,
                                                      Value* rets, int32_t num_rets, Run run) {
  if (!op) return null_argument("call", 1);
  if (!args && num_args > 0) return null_argument("call", 2);
  if (!rets && num_rets > 0) return null_argument("call", 4);
  if (!op->schema.load(std::memory_order_acquire))
    if (lamella_status st = prepare(const_cast<Operator*>(op))) return st;
  const CallInfo& info = op->info;
  for (int32_t i = info.nrets; i < num_rets; i++) rets[i] = Value{LAMELLA_NONE, 0, {0}};
  if (num_args == info.nargs && num_rets >= info.nrets)
    return all_admitted(info, args) ? run(args) : wrong_kind(op, args);
  if (lamella_status st = check_room(op, num_rets)) return st;
  Value all[LAMELLA_MAX_ARGUMENTS];
  const auto its_default = [&](int32_t i, Value* v) {
    const Schema& s = *op->schema.load();
    *v = s.args[i].value;
    if (s.args[i].has_default) return lamella_status{LAMELLA_OK};
    return core::raise(LAMELLA_TYPE_ERROR,
                       core::format("%s: argument '%s' is missing: %d arguments for %s", operator_title(op).c_str(),
                                    s.args[i].name.c_str(), num_args, s.text().c_str()));
  };
  if (lamella_status st = completed(op, args, num_args, all, its_default)) return st;
  return all_admitted(info, all) ? run(all) : wrong_kind(op, all);
}

using WayOn = lamella_status (*)(Frame*, const Value*, Value*);  // redispatch or decompose

__attribute__((noinline)) lamella_status unusual_way_on(const char* entry, WayOn on, CallFrame* f, const Value* args,
                                                        int32_t num_args, Value* rets, int32_t num_rets) {
  if (!f) return null_argument(entry, 0);
  if (!args && num_args > 0) return null_argument(entry, 1);
  if (!rets && num_rets > 0) return null_argument(entry, 3);
  if (lamella_status st = check_room(f->op, num_rets)) return st;
  for (int32_t i = f->num_rets; i < num_rets; i++) rets[i] = core::none();
  Value all[LAMELLA_MAX_ARGUMENTS];
  const auto what_the_call_has = [&](int32_t i, Value* v) {
    *v = f->given[i];
    return lamella_status{LAMELLA_OK};
  };
  if (lamella_status st = completed(f->op, args, num_args, all, what_the_call_has)) return st;
  return on(f, all, rets);
}

// Raises unless the arguments from `known` on, outputs aside, have their default values.
lamella_status check_appended(const Operator* op, const Value* args, int32_t known, const std::string& who) {
  const Schema& s = *op->schema.load(std::memory_order_acquire);
  for (int32_t i = known; i < op->info.first_out; i++)
    if (!core::same_value(args[i], s.args[i].value))
      return core::raise(
          LAMELLA_NOT_IMPLEMENTED,
          core::format("%s: %s was written before the argument '%s' was added and computes with its default, "
                       "%s; got %s. Build it again for the present operator",
                       operator_title(op).c_str(), who.c_str(), s.args[i].name.c_str(), s.args[i].default_text.c_str(),
                       core::describe(args[i]).c_str()));
  return LAMELLA_OK;
}

// Returns how many arguments, outputs aside, a function has that was written for `num_args` arguments in all. Raises
// and returns -1 if the operator cannot have had that number.
int32_t known_of(const char* what, const Operator* op, int32_t num_args) {
  const CallInfo& info = op->info;
  const Schema& s = *op->schema.load(std::memory_order_acquire);
  const int32_t written_for = num_args == LAMELLA_NO_ARGUMENTS ? 0 : num_args;
  const int32_t known = written_for - (info.nargs - info.first_out);
  if (known < 0 || known > info.first_out) {
    core::raise(LAMELLA_TYPE_ERROR,
                core::format("%s: %s takes %d arguments, the operator has %d: %s", op->full_name().c_str(), what,
                             written_for, info.nargs, s.text().c_str()));
    return -1;
  }
  for (int32_t i = known; i < info.first_out; i++)
    if (!s.args[i].has_default) {
      core::raise(LAMELLA_TYPE_ERROR,
                  core::format("%s: %s takes %d arguments, but '%s' has no default: %s", op->full_name().c_str(), what,
                               written_for, s.args[i].name.c_str(), s.text().c_str()));
      return -1;
    }
  return known;
}

// A kernel or a shape rule that takes fewer arguments than its operator has now.
template <class Function>
struct Older {
  Function function;
  void* context;
  const Operator* op;
  int32_t known;  // arguments before the outputs of an out= form
  std::string who;
};

template <class Function, class Results>
lamella_status run_older(Frame* f, const Value* args, Results* results) {
  const auto& older = *static_cast<const Older<Function>*>(f->context);
  const CallInfo& info = older.op->info;
  if (lamella_status st = check_appended(older.op, args, older.known, older.who)) return st;
  f->context = older.context;
  // The function does not read arguments beyond its own.
  if (info.first_out == info.nargs) return older.function(f, args, results);
  Value own[LAMELLA_MAX_ARGUMENTS];
  std::copy(args, args + older.known, own);
  std::fill(std::copy(args + info.first_out, args + info.nargs, own + older.known), own + info.nargs, core::none());
  return older.function(f, own, results);
}

// Puts `run_older` in the place of a function that was written for fewer arguments.
template <class Function, class Results>
lamella_status adapt_to(const Operator* op, const std::string& who, int32_t num_args, Function* function,
                        void** context) {
  if (!*function || num_args == 0 || num_args == op->info.nargs) return LAMELLA_OK;
  const int32_t known = known_of(who.c_str(), op, num_args);
  if (known < 0) return core::pending_error().kind;
  if (known == op->info.first_out) return LAMELLA_OK;  // it takes all of them
  *context = new Older<Function>{*function, *context, op, known, who};
  *function = run_older<Function, Results>;  // the Older is never freed
  return LAMELLA_OK;
}

uint32_t admitted_tags(const Type& t) {
  const uint32_t tags = t.list ? list_tag(t) : plain_tags(t);
  return !tags ? 0 : tags | (t.optional ? bit(LAMELLA_NONE) : 0) | (t.optional_elements ? absent_elements : 0);
}

template <class List>
lamella_status tags_of(const std::string& op, const List& list, const char* what, std::unique_ptr<uint32_t[]>* out) {
  uint32_t* tags = new uint32_t[list.size()];
  out->reset(tags);
  for (size_t i = 0; i < list.size(); i++)
    if (!(tags[i] = admitted_tags(list[i].type)))
      return core::raise(LAMELLA_NOT_IMPLEMENTED,
                         core::format("schema: %s: there are no values for the type %s of %s %zu", op.c_str(),
                                      list[i].type.text.c_str(), what, i));
  return LAMELLA_OK;
}

// Raises unless each default is a value that a call could pass. The default of an int has no point and no exponent.
lamella_status check_literals(const std::string& op, const Schema& s, const uint32_t* admits) {
  for (size_t i = 0; i < s.args.size(); i++) {
    const Argument& a = s.args[i];
    const bool fraction = a.type.kind == Kind::Int && a.value.tag == LAMELLA_FLOAT;
    if (a.has_default && (fraction || !admitted(admits[i], nullptr, a.value)))
      return core::raise(LAMELLA_VALUE_ERROR,
                         core::format("schema: %s: the default %s of argument '%s' is no %s", op.c_str(),
                                      a.default_text.c_str(), a.name.c_str(), a.type.text.c_str()));
  }
  return LAMELLA_OK;
}

// Returns the type names of objects among the arguments and then the results; null if none is an object.
const char* const* objects_of(const Schema& s) {
  std::vector<const char*> all;
  for (const Argument& a : s.args) all.push_back(a.type.object);
  for (const Return& r : s.rets) all.push_back(r.type.object);
  if (std::all_of(all.begin(), all.end(), [](const char* name) { return !name; })) return nullptr;
  return std::copy(all.begin(), all.end(), new const char*[all.size()]) - all.size();
}

}  // namespace

lamella_status kinds_of(const std::string& op, const Schema& s, CallInfo* info) {
  std::unique_ptr<uint32_t[]> admits, gives;
  if (lamella_status st = tags_of(op, s.args, "argument", &admits)) return st;
  if (lamella_status st = tags_of(op, s.rets, "result", &gives)) return st;
  if (lamella_status st = check_literals(op, s, admits.get())) return st;
  for (size_t i = 0; i < s.rets.size() && s.rets.size() > 1; i++)  // LAMELLA_META_NONE: the caller did not ask for it
    if (s.rets[i].type.kind == Kind::Tensor) gives[i] |= bit(LAMELLA_NONE);
  info->objects = objects_of(s);
  info->admits = admits.release();  // never freed, as the schema
  info->gives = gives.release();
  return LAMELLA_OK;
}

lamella_status check_result(const Operator* op, int i, const Value& v) {
  const char* kind = op->info.objects ? op->info.objects[op->info.nargs + i] : nullptr;
  if (__builtin_expect(admitted(op->info.gives[i], kind, v), 1)) return LAMELLA_OK;
  return core::raise(
      LAMELLA_TYPE_ERROR,
      core::format("%s: result %d of its kernel must be %s, got %s", operator_title(op).c_str(), i,
                   op->schema.load()->rets[i].type.text.c_str(), what_came(op->info.gives[i], v).c_str()));
}

lamella_status adapt(const Operator* op, const std::string& owner, lamella_kernel_def* def) {
  return adapt_to<lamella_kernel, Value>(op, "the kernel of " + owner, def->num_args, &def->kernel, &def->context);
}

lamella_status adapt(const Operator* op, const std::string& owner, lamella_shape_rule_def* def) {
  return adapt_to<lamella_infer, lamella_meta>(op, "the shape rule of " + owner, def->num_args, &def->infer,
                                               &def->context);
}

lamella_status check_defaults(const Operator* op, const Value* args, int32_t num_args, const char* who) {
  if (num_args == 0) return LAMELLA_OK;
  if (!op->schema.load(std::memory_order_acquire))
    if (lamella_status st = prepare(const_cast<Operator*>(op))) return st;
  const int32_t known = known_of(who, op, num_args);
  return known < 0 ? core::pending_error().kind : check_appended(op, args, known, who);
}

namespace {

// A separate function, so that the quick path reserves no stack for the closures.
__attribute__((noinline)) lamella_status slow_call(Frame* parent, const Operator* op, const Value* args,
                                                   int32_t num_args, Value* rets, int32_t num_rets) {
  const auto run = [=](const Value* all) { return call(parent, op, all, rets); };
  return core::guarded([&] { return unusual_call(op, args, num_args, rets, num_rets, run); });
}

}  // namespace

lamella_status checked_call(Frame* parent, const Operator* op, const Value* args, int32_t num_args, Value* rets,
                            int32_t num_rets) {
  if (rets) clear(rets, num_rets);  // so that they can be released after any error
  // An operator with a table has a parsed schema, and so its numbers and kinds.
  if (__builtin_expect(op && args && rets && op->table.load(std::memory_order_acquire) && num_args == op->info.nargs &&
                           num_rets == op->info.nrets && plainly_admitted(op->info, args),
                       1))
    return call(parent, op, args, rets);
  return slow_call(parent, op, args, num_args, rets, num_rets);
}

lamella_status with_all_arguments(const Operator* op, const Value* args, int32_t num_args,
                                  const std::function<lamella_status(const Value*)>& run) {
  Value results[LAMELLA_MAX_ARGUMENTS];  // none is made
  return unusual_call(op, args, num_args, results, LAMELLA_MAX_ARGUMENTS, run);
}

namespace {

struct Kernel {
  lamella_object object;
  const Operator* op;
  Table* table;
};
const lamella_object_type kernel_type = {sizeof(lamella_object_type), 0, "Kernel", [](lamella_object* o) {
                                           ::operator delete(reinterpret_cast<Kernel*>(o)->table);
                                           delete reinterpret_cast<Kernel*>(o);
                                         }};

}  // namespace

lamella_status look_up_kernel(const Operator* op, const char* key, lamella_object** out) {
  std::string name;
  if (lamella_status st = read_key("find_kernel: argument 'key'", key, &name)) return st;
  auto made = std::make_unique<Kernel>(Kernel{{1, &kernel_type}, op, nullptr});
  if (lamella_status st = pin(const_cast<Operator*>(op), name, &made->table)) return st;
  *out = &made.release()->object;
  return LAMELLA_OK;
}

lamella_status call_kernel(Frame* parent, lamella_object* kernel, const Value* args, int32_t num_args, Value* rets,
                           int32_t num_rets) {
  if (rets) clear(rets, num_rets);  // so that they can be released after any error
  if (!kernel || kernel->type != &kernel_type)
    return core::raise(LAMELLA_TYPE_ERROR,
                       std::string("call_kernel: expected a Kernel, which find_kernel gives, got ") +
                           (kernel ? kernel->type->name : "null"));
  const auto held = core::Ref<lamella_object>::borrow(kernel);  // the kernel may release it while it runs
  const auto* k = reinterpret_cast<const Kernel*>(kernel);
  const auto run = [&](const Value* all) { return call_pinned(k->table, parent, k->op, all, rets); };
  return core::guarded([&] { return unusual_call(k->op, args, num_args, rets, num_rets, run); });
}

lamella_status checked_redispatch(Frame* frame, const Value* args, int32_t num_args, Value* rets, int32_t num_rets) {
  if (rets) clear(rets, num_rets);  // so that they can be released after any error
  if (__builtin_expect(frame && args && rets && num_args == frame->num_args && num_rets == frame->num_rets, 1))
    return redispatch(frame, args, rets);
  auto* f = static_cast<CallFrame*>(frame);
  return core::guarded([&] { return unusual_way_on("redispatch", redispatch, f, args, num_args, rets, num_rets); });
}

lamella_status checked_decompose(Frame* frame, const Value* args, int32_t num_args, Value* rets, int32_t num_rets) {
  if (rets) clear(rets, num_rets);
  auto* f = static_cast<CallFrame*>(frame);
  return core::guarded([&] { return unusual_way_on("decompose", decompose, f, args, num_args, rets, num_rets); });
}

}  // namespace lamella::dispatcher
