#include "dispatcher/checked_call.h"

#include <algorithm>

#include "core/error.h"

namespace lattis::dispatcher {
namespace {

constexpr uint32_t bit(lattis_tag tag) { return uint32_t{1} << tag; }
constexpr uint32_t numbers =
    bit(LATTIS_BOOLEAN) | bit(LATTIS_INT) | bit(LATTIS_FLOAT) | bit(LATTIS_COMPLEX) | bit(LATTIS_SYMBOLIC);

uint32_t element_tags(const Type& t) {
  switch (t.kind) {
    case Kind::Tensor:
      return bit(t.list ? LATTIS_TENSOR_LIST : LATTIS_TENSOR);
    case Kind::Bool:
      return t.list ? bit(LATTIS_BOOL_LIST) : numbers;
    case Kind::Int:
      return t.list ? bit(LATTIS_INT_LIST) : numbers;
    case Kind::Float:
      return t.list ? bit(LATTIS_FLOAT_LIST) : numbers;
    case Kind::Scalar:
    case Kind::Complex:
      return t.list ? ~uint32_t{0} : numbers;
    case Kind::Str:
      return t.list ? ~uint32_t{0} : bit(LATTIS_STRING);
    case Kind::Dtype:
      return bit(LATTIS_DTYPE);
    case Kind::Layout:
      return bit(LATTIS_LAYOUT);
    case Kind::MemoryFormat:
      return bit(LATTIS_MEMORY_FORMAT);
    case Kind::Device:
      return bit(LATTIS_DEVICE);
    case Kind::Generator:
    case Kind::Object:
      return bit(LATTIS_OBJECT);
    default:
      return ~uint32_t{0};
  }
}

constexpr uint32_t pointers = bit(LATTIS_TENSOR) | bit(LATTIS_STRING) | bit(LATTIS_COMPLEX) | bit(LATTIS_OBJECT);
constexpr uint32_t lists =
    bit(LATTIS_TENSOR_LIST) | bit(LATTIS_INT_LIST) | bit(LATTIS_FLOAT_LIST) | bit(LATTIS_BOOL_LIST);
constexpr uint32_t null_elements = uint32_t{1} << 31;  // in a list of tensors; no tag is so high

bool content_admitted(uint32_t tags, const Value& v) {
  if (v.tag == LATTIS_DTYPE) return v.as.i >= 0 && v.as.i < LATTIS_NUM_DTYPES;
  if (v.length == 0) return true;
  if (!v.as.pointer || v.tag != LATTIS_TENSOR_LIST || (tags & null_elements)) return v.as.pointer != nullptr;
  return std::all_of(v.as.tensors, v.as.tensors + v.length, [](const lattis_tensor* t) { return t != nullptr; });
}

inline bool admitted(uint32_t tags, const Value& v) {
  if (v.tag >= 31 || !(tags >> v.tag & 1)) return false;
  if (pointers >> v.tag & 1) return v.as.pointer != nullptr;
  return !((lists | bit(LATTIS_DTYPE)) >> v.tag & 1) || content_admitted(tags, v);
}

bool all_admitted(const CallInfo& info, const Value* args) {
  bool good = true;
  for (int i = 0; i < info.nargs; i++) good &= admitted(info.admits[i], args[i]);
  return good;
}

// The quick answer for tensors and numbers. False may mean that a closer look is needed.
inline bool plainly_admitted(const CallInfo& info, const Value* args) {
  constexpr uint32_t plain = bit(LATTIS_TENSOR) | bit(LATTIS_NONE) | bit(LATTIS_BOOLEAN) | bit(LATTIS_INT) |
                             bit(LATTIS_FLOAT) | bit(LATTIS_DEVICE) | bit(LATTIS_MEMORY_FORMAT);
  for (int i = 0; i < info.nargs; i++) {
    const Value& v = args[i];
    if (v.tag >= 32 || !((info.admits[i] & plain) >> v.tag & 1) || (v.tag == LATTIS_TENSOR && !v.as.tensor))
      return false;
  }
  return true;
}

lattis_status wrong_kind(const Operator* op, const Value* args) {
  const Schema& s = *op->schema.load();
  int i = 0;
  while (admitted(op->info.admits[i], args[i])) i++;
  const Value& v = args[i];
  const bool known = v.tag <= LATTIS_SYMBOLIC, null = known && ((pointers | lists) >> v.tag & 1) && !v.as.pointer;
  const std::string got = !known                            ? core::format("a value with the tag %u", v.tag)
                          : null                            ? "a null pointer"
                          : v.tag == LATTIS_DTYPE           ? core::format("the dtype %lld", (long long)v.as.i)
                          : op->info.admits[i] >> v.tag & 1 ? "a list with a null tensor"
                                                            : core::describe(v);
  return core::raise(LATTIS_TYPE_ERROR, core::format("%s: argument '%s' must be %s, got %s", operator_title(op).c_str(),
                                                     s.args[i].name.c_str(), s.args[i].type.text.c_str(), got.c_str()));
}

// Anything but the usual: the first call, other numbers of arguments or results, lists and strings, values of a wrong
// kind.
__attribute__((noinline)) lattis_status unusual_call(Frame* parent, const Operator* op, const Value* args,
                                                     int32_t num_args, Value* rets, int32_t num_rets) {
  if (!op || (!args && num_args > 0) || (!rets && num_rets > 0))
    return core::raise(LATTIS_VALUE_ERROR,
                       core::format("call: argument %d must not be null", !op                     ? 1
                                                                          : !args && num_args > 0 ? 2
                                                                                                  : 4));
  if (!op->schema.load(std::memory_order_acquire))
    if (lattis_status st = Registry::get().prepare(const_cast<Operator*>(op))) return st;
  const CallInfo& info = op->info;
  for (int32_t i = info.nrets; i < num_rets; i++) rets[i] = Value{LATTIS_NONE, 0, {0}};
  if (num_args == info.nargs && num_rets >= info.nrets)
    return all_admitted(info, args) ? call(parent, op, args, rets) : wrong_kind(op, args);
  const Schema& s = *op->schema.load();
  const int32_t outs = info.nargs - info.first_out, given = num_args - outs;
  if (num_rets < info.nrets)
    return core::raise(LATTIS_TYPE_ERROR, core::format("%s: room for %d results, it gives %d",
                                                       operator_title(op).c_str(), num_rets, info.nrets));
  if (given < 0 || num_args > info.nargs)
    return core::raise(LATTIS_TYPE_ERROR, core::format("%s: %d arguments, it takes %d: %s", operator_title(op).c_str(),
                                                       num_args, info.nargs, s.text().c_str()));
  Value all[LATTIS_MAX_ARGUMENTS];
  std::copy(args, args + given, all);
  for (int32_t i = given; i < info.first_out; i++) {
    if (!s.args[i].has_default)
      return core::raise(LATTIS_TYPE_ERROR,
                         core::format("%s: argument '%s' is missing: %d arguments for %s", operator_title(op).c_str(),
                                      s.args[i].name.c_str(), num_args, s.text().c_str()));
    all[i] = s.args[i].value;
  }
  std::copy(args + given, args + num_args, all + info.first_out);
  return all_admitted(info, all) ? call(parent, op, all, rets) : wrong_kind(op, all);
}

}  // namespace

uint32_t admitted_tags(const Type& t) {
  const uint32_t tags = element_tags(t) & ~null_elements;
  return tags | (t.optional ? bit(LATTIS_NONE) : 0) | (t.optional_elements ? null_elements : 0);
}

lattis_status checked_call(Frame* parent, const Operator* op, const Value* args, int32_t num_args, Value* rets,
                           int32_t num_rets) {
  for (int32_t i = 0; rets && i < num_rets; i++) rets[i].tag = LATTIS_NONE;  // whatever comes, they can be released
  // A table implies a schema, and so that the numbers and kinds are there.
  if (__builtin_expect(op && args && rets && op->table.load(std::memory_order_acquire) && num_args == op->info.nargs &&
                           num_rets == op->info.nrets && plainly_admitted(op->info, args),
                       1))
    return call(parent, op, args, rets);
  return core::guarded([&] { return unusual_call(parent, op, args, num_args, rets, num_rets); });
}

}  // namespace lattis::dispatcher
