// The calls of operators, builtins, functions and the host.
#include <algorithm>

#include "run/frame.h"
#include "run/future.h"
#include "run/host.h"
#include "run/shared_state.h"

namespace lamella::graph {
namespace {

// Memory for flat lists during one call: a few lists on the stack, longer ones from the heap.
class Scratch {
 public:
  void* get(size_t bytes) {
    bytes = (bytes + 7) & ~size_t{7};
    if (used_ + bytes <= sizeof own_) {
      used_ += bytes;
      return own_ + used_ - bytes;
    }
    more_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    return more_.back().get();
  }

 private:
  alignas(8) char own_[512];
  size_t used_ = 0;
  std::vector<std::unique_ptr<char[]>> more_;
};

// Returns a flat list of n items; item(i) returns a borrowed value. Its tag follows from the kind of the argument, and
// for a list of numbers from the items.
template <class Item>
lamella_value flat(uint32_t n, uint32_t kind, Scratch& scratch, Item item) {
  lamella_value v{LAMELLA_VALUE_LIST, n, {0}};
  if (kind == LAMELLA_KIND_TENSOR) {
    auto* list = static_cast<lamella_tensor**>(scratch.get(n * sizeof(lamella_tensor*)));
    for (uint32_t i = 0; i < n; i++) list[i] = item(i).tag == LAMELLA_TENSOR ? item(i).as.tensor : nullptr;
    v.tag = LAMELLA_TENSOR_LIST;
    v.as.tensors = list;
  } else if (kind == LAMELLA_KIND_INT) {
    auto* list = static_cast<int64_t*>(scratch.get(n * sizeof(int64_t)));
    bool whole = true;  // a list with absent elements is no list of ints
    for (uint32_t i = 0; i < n; i++) {
      whole = whole && item(i).tag == LAMELLA_INT;
      list[i] = item(i).as.i;
    }
    if (whole) {
      v.tag = LAMELLA_INT_LIST;
      v.as.ints = list;
      return v;
    }
  } else if (kind == LAMELLA_KIND_FLOAT) {
    auto* list = static_cast<double*>(scratch.get(n * sizeof(double)));
    for (uint32_t i = 0; i < n; i++) list[i] = as_double(item(i));
    v.tag = LAMELLA_FLOAT_LIST;
    v.as.doubles = list;
  } else if (kind == LAMELLA_KIND_BOOL) {
    auto* list = static_cast<uint8_t*>(scratch.get(n));
    for (uint32_t i = 0; i < n; i++) list[i] = item(i).as.i != 0;
    v.tag = LAMELLA_BOOL_LIST;
    v.as.bools = list;
  }
  if (v.tag != LAMELLA_VALUE_LIST) return v;
  auto* list = static_cast<lamella_value*>(scratch.get(n * sizeof(lamella_value)));
  for (uint32_t i = 0; i < n; i++) list[i] = item(i);
  v.as.values = list;
  return v;
}

// Returns a copy of a constant with lists of its own.
lamella_value fresh_copy(const lamella_value& v) {
  const bool is_list = is_object(v, list_type);
  if (!is_list && !is_object(v, tuple_type)) return copy_of(v);
  std::vector<lamella_value> items;
  for (const lamella_value& x : is_list ? list_of(v).items : tuple_of(v).items) items.push_back(fresh_copy(x));
  return is_list ? new_list(std::move(items)) : new_tuple(std::move(items));
}

}  // namespace

void Machine::call(Frame& f, const Site& site) {
  lamella_value args[LAMELLA_MAX_ARGUMENTS], rets[LAMELLA_MAX_RETURNS];
  Scratch scratch;
  std::vector<OwnedValue> kept;  // of a list that another thread may write while the operator runs
  const size_t n = site.arguments.size(), m = site.results.size();
  for (size_t i = 0; i < n; i++) {
    const SiteArgument& a = site.arguments[i];
    if (a.is_elements) {
      const uint32_t* elements = f.operands(a.operand);
      args[i] =
          flat(a.elements, a.kind, scratch, [&](uint32_t k) -> const lamella_value& { return f.get(elements[k]); });
      continue;
    }
    args[i] = f.get(a.operand);
    if (!a.is_list || !is_object(args[i], list_type)) continue;
    const std::vector<lamella_value>& items = list_of(args[i]).items;
    if (SharedState::is_held())
      for (const lamella_value& v : items) kept.emplace_back(v);
    args[i] = flat(static_cast<uint32_t>(items.size()), a.kind, scratch,
                   [&](uint32_t k) -> const lamella_value& { return items[k]; });
  }
  {
    const Outside outside;
    check(api().call(nullptr, site.op, args, static_cast<int32_t>(n), rets, static_cast<int32_t>(m)));
  }
  for (const SiteArgument& a : site.arguments) {
    if (a.is_elements)
      for (uint32_t k = 0; k < a.elements; k++) f.drop(f.operands(a.operand)[k]);
    else
      f.drop(a.operand);
  }
  for (size_t i = 0; i < m; i++) f.set(site.results[i], unflattened(rets[i]));
}

void Machine::builtin(Frame& f, const Site& site) {
  lamella_value args[LAMELLA_MAX_ARGUMENTS];
  const size_t n = site.arguments.size();
  for (size_t i = 0; i < n; i++) args[i] = f.get(site.arguments[i].operand);
  lamella_value result = site.function(args);
  for (const SiteArgument& a : site.arguments) f.drop(a.operand);
  f.set(site.results.empty() ? nowhere : site.results[0], result);
}

void Machine::function(Frame& f, const Site& site, const Code& callee) {
  step();
  // The arguments and the results lie with the registers, so that a level of recursion takes little of the stack.
  const auto n = static_cast<uint32_t>(site.arguments.size()), m = static_cast<uint32_t>(site.results.size());
  lamella_value* const args = reserve(n + m);
  struct Reserved {
    Machine& machine;
    uint32_t count;
    ~Reserved() { machine.release(count); }
  } reserved{*this, n + m};
  for (uint32_t i = 0; i < n; i++) args[i] = f.take(site.arguments[i].operand);
  run(callee, args, args + n);
  for (uint32_t i = 0; i < m; i++) f.set(site.results[i], args[n + i]);
}

void Machine::method(Frame& f, const Site& site) {
  const lamella_value& self = f.get(site.arguments[0].operand);
  LAMELLA_CHECK(is_object(self, instance_type), site.name, ": a variable is used before it has a value");
  const std::string name = instance_of(self).type->name;  // the call may free the instance
  const Code* callee = exe_.find(name + "." + site.name);
  LAMELLA_CHECK(callee, "class ", name, " has no method '", site.name, "'");
  LAMELLA_CHECK(callee->parameters.size() == site.arguments.size() && callee->results.size() == site.results.size(),
                name, ".", site.name, " takes ", callee->parameters.size(), " arguments, and gets ",
                site.arguments.size());
  for (size_t i = 0; i < site.arguments.size(); i++)
    LAMELLA_CHECK_TYPE(is_of(f.get(site.arguments[i].operand), *callee->parameters[i].type), name, ".", site.name,
                       ": argument '", callee->parameters[i].name, "' has to be ", callee->parameters[i].type->text());
  function(f, site, *callee);
  for (size_t i = 0; i < site.results.size(); i++)
    LAMELLA_CHECK_TYPE(site.results[i] == nowhere || is_of(f.get(site.results[i]), *site.types[i]), name, ".",
                       site.name, ": the result has to be ", site.types[i]->text());
}

void Machine::host_call(Frame& f, const Site& site, uint32_t number) {
  lamella_value args[LAMELLA_MAX_ARGUMENTS], result = none();
  HostFunction* host = number < exe_.host.size() ? exe_.host[number] : nullptr;
  LAMELLA_CHECK(host, site.name, ": the program calls a function of Python, which is not there");
  for (size_t i = 0; i < site.arguments.size(); i++) args[i] = f.get(site.arguments[i].operand);
  {
    const Outside outside;
    check(host->call(host, args, static_cast<int32_t>(site.arguments.size()), &result));
  }
  for (const SiteArgument& a : site.arguments) f.drop(a.operand);
  if (site.results.empty() || site.results[0] == nowhere || site.types.empty()) {
    f.set(site.results.empty() ? nowhere : site.results[0], result);
    return;
  }
  lamella_value out = none();
  try {
    out = converted(result, *site.types[0], site.name + ": the result of the function of Python");
  } catch (...) {
    graph::release(result);
    throw;
  }
  graph::release(result);
  f.set(site.results[0], out);
}

void Machine::fork(Frame& f, const Site& site, const Code& callee) {
  step();
  std::vector<lamella_value> args;
  for (const SiteArgument& a : site.arguments) args.push_back(f.take(a.operand));
  // `wait` may run the function on this thread, within the calls that are under way here.
  const Limits left = {limits_.most_depth, steps_left_, depth_};
  f.set(site.results[0], start_future(exe_, left, callee, std::move(args)));
}

void Machine::print(const Frame& f, const Instruction& i) {
  std::string line;
  for (uint32_t k = 0; k < i.n; k++) line += (k ? " " : "") + str_of(f.get(f.operands(i.a)[k]));
  const Outside outside;
  graph::print(line + "\n");
}

void Machine::raise(const Frame& f, const Site& site) {
  static const std::map<std::string, int32_t> kinds = {
      {"TypeError", LAMELLA_TYPE_ERROR},   {"ValueError", LAMELLA_VALUE_ERROR},
      {"IndexError", LAMELLA_INDEX_ERROR}, {"NotImplementedError", LAMELLA_NOT_IMPLEMENTED},
      {"OverflowError", LAMELLA_OVERFLOW},
  };
  const auto found = kinds.find(site.name);
  std::string message = site.arguments.empty() ? "" : str_of(f.get(site.arguments[0].operand));
  if (found != kinds.end()) throw Error(found->second, message);
  if (site.name.empty() || site.name == "RuntimeError" || site.name == "Exception")
    throw Error(LAMELLA_RUNTIME_ERROR, message);
  if (const lamella_status status = raise_in_host ? raise_in_host(site.name.c_str(), message.c_str()) : LAMELLA_OK)
    throw Error::pending(status);
  throw Error(LAMELLA_RUNTIME_ERROR, site.name + (message.empty() ? "" : ": ") + message);
}

void Machine::container(Frame& f, const Instruction& i) {
  lamella_value* const r = f.registers;
  const auto items = [&](uint32_t begin) {
    std::vector<lamella_value> all(i.n);
    for (uint32_t k = 0; k < i.n; k++) all[k] = f.take(f.operands(begin)[k]);
    return all;
  };
  const auto checked = [&](const lamella_object_type& type) -> const lamella_value& {
    const lamella_value& v = f.get(i.b);
    LAMELLA_CHECK(is_object(v, type), "a variable is used before it has a value");
    return v;
  };
  // Returns an instance of the class that the instruction names; one of another program may have the class's name alone.
  const auto instance = [&](uint32_t operand) -> Instance& {
    const lamella_value& v = f.get(operand);
    LAMELLA_CHECK(is_object(v, instance_type), "a variable is used before it has a value");
    const Class &own = *exe_.classes[i.n], &type = *instance_of(v).type;
    LAMELLA_CHECK_TYPE(&type == &own || type == own, "expected an instance of class ", own.name,
                       " as this program has it, got one of a class with other attributes");
    return instance_of(v);
  };
  const auto unpack = [&](const std::vector<lamella_value>& from) {
    LAMELLA_CHECK_VALUE(from.size() == i.n, from.size() > i.n ? "too many" : "not enough",
                        " values to unpack (expected ", i.n, ", got ", from.size(), ")");
    std::vector<lamella_value> own;
    for (const lamella_value& v : from) own.push_back(copy_of(v));
    f.drop(i.b);
    for (uint32_t k = 0; k < i.n; k++) f.set(f.operands(i.a)[k], own[k]);
  };
  switch (i.op) {
    case Op::function:
      return function(f, f.code.sites[i.a], *exe_.functions[i.c]);
    case Op::method:
      return method(f, f.code.sites[i.a]);
    case Op::host_call:
      return host_call(f, f.code.sites[i.a], i.c);
    case Op::fork:
      return fork(f, f.code.sites[i.a], *exe_.functions[i.c]);
    case Op::wait: {
      lamella_value result = result_of_future(checked(future_type), depth_, &trace_);
      f.drop(i.b);
      r[i.a] = result;
      return;
    }
    case Op::fresh:
      r[i.a] = fresh_copy(r[i.b]);
      return;
    case Op::list:
      r[i.a] = new_list(items(i.b));
      return;
    case Op::tuple:
      r[i.a] = new_tuple(items(i.b));
      return;
    case Op::dict: {
      auto* d = new Dict;
      r[i.a] = value_of(d);
      for (uint32_t k = 0; k + 1 < i.n; k += 2) {
        const uint32_t* pair = f.operands(i.b) + k;
        const lamella_value key = f.take(pair[0]);
        d->set(key, f.take(pair[1]));
      }
      return;
    }
    case Op::list_unpack:
      return unpack(list_of(checked(list_type)).items);
    case Op::tuple_unpack:
      return unpack(tuple_of(checked(tuple_type)).items);
    case Op::tuple_index: {
      const std::vector<lamella_value>& all = tuple_of(checked(tuple_type)).items;
      LAMELLA_CHECK_INDEX(i.c < all.size(), "tuple index out of range");
      lamella_value v = copy_of(all[i.c]);
      f.drop(i.b);
      r[i.a] = v;
      return;
    }
    case Op::get_attribute: {
      const lamella_value v = instance(i.b).get(i.c);
      f.drop(i.b);
      r[i.a] = v;
      return;
    }
    case Op::set_attribute: {
      Instance& self = instance(i.a);  // before the value is taken, which may be the instance itself
      lamella_value owned = f.take(i.b);
      owned = self.exchange(i.c, owned);
      graph::release(owned);
      f.drop(i.a);
      return;
    }
    case Op::create: {
      auto* made = new Instance;
      made->type = exe_.classes[i.c];
      made->attributes.assign(made->type->attributes.size(), none());
      r[i.a] = value_of(made);
      return;
    }
    case Op::cast:
      LAMELLA_CHECK_TYPE(is_of(f.get(i.b), *f.code.sites[i.c].types[0]), "expected a value of type ",
                         f.code.sites[i.c].types[0]->text(), ", got ", repr_of(f.get(i.b)));
      r[i.a] = f.take(i.b);
      return;
    case Op::is_instance: {
      const std::vector<TypePtr>& types = f.code.sites[i.c].types;
      const bool is = std::any_of(types.begin(), types.end(), [&](const TypePtr& t) { return is_of(f.get(i.b), *t); });
      f.drop(i.b);
      r[i.a] = value(is);
      return;
    }
    case Op::print:
      print(f, i);
      for (uint32_t k = 0; k < i.n; k++) f.drop(f.operands(i.a)[k]);
      return;
    case Op::raise:
      raise(f, f.code.sites[i.a]);
    default:
      throw Error(LAMELLA_RUNTIME_ERROR, "unknown instruction");
  }
}

}  // namespace lamella::graph
