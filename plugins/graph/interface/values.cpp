// The functions of the interface for containers, signatures and the host.
#include <lamella/given.h>

#include <algorithm>

#include "interface/program.h"
#include "builtins/arguments.h"
#include "run/constants.h"
#include "run/forks.h"
#include "run/future.h"
#include "run/host.h"
#include "run/shared_state.h"
#include "signatures/builtins.h"

namespace lamella::graph {
namespace {

lamella_status make(int32_t container, lamella_value* items, int32_t n, lamella_object* program, const char* class_name,
                    lamella_value* out) {
  return guarded([&] {
    std::vector<lamella_value> all(items, items + n);
    switch (container) {
      case LAMELLA_GRAPH_LIST:
        *out = new_list(std::move(all));
        return LAMELLA_OK;
      case LAMELLA_GRAPH_TUPLE:
        *out = new_tuple(std::move(all));
        return LAMELLA_OK;
      case LAMELLA_GRAPH_DICT: {
        auto* d = new Dict;
        *out = value_of(&d->object);
        for (size_t i = 0; i + 1 < all.size(); i += 2) d->set(all[i], all[i + 1]);
        return LAMELLA_OK;
      }
      case LAMELLA_GRAPH_INSTANCE: {
        const std::shared_ptr<const Class>& type = class_named(program_of(program), class_name);
        LAMELLA_CHECK_VALUE(type->attributes.size() == all.size(), class_name, ": has ", type->attributes.size(),
                            " attributes, got ", all.size());
        auto* made = new Instance;
        OwnedValue owned = adopt(value_of(&made->object));
        made->type = type;
        made->attributes.assign(all.size(), none());
        for (size_t i = 0; i < all.size(); i++) {
          const auto& [name, t] = type->attributes[i];
          made->attributes[i] = is_of(all[i], *t)
                                    ? copy_of(all[i])
                                    : converted(all[i], *t, std::string(class_name) + ": attribute '" + name + "'");
        }
        for (lamella_value& v : all) release(v);
        *out = owned.release();
        return LAMELLA_OK;
      }
      default:
        throw Error(LAMELLA_VALUE_ERROR, "there is no such kind of container");
    }
  });
}

int32_t kind_of(const lamella_value* v) {
  if (v->tag != LAMELLA_OBJECT) return LAMELLA_GRAPH_NO_CONTAINER;
  const lamella_object_type* const type = v->as.object->type;
  return type == &list_type       ? LAMELLA_GRAPH_LIST
         : type == &tuple_type    ? LAMELLA_GRAPH_TUPLE
         : type == &dict_type     ? LAMELLA_GRAPH_DICT
         : type == &instance_type ? LAMELLA_GRAPH_INSTANCE
         : type == &future_type   ? LAMELLA_GRAPH_FUTURE
                                  : LAMELLA_GRAPH_NO_CONTAINER;
}

lamella_status items(const lamella_value* v, lamella_value* out) {
  return guarded([&] {
    const SharedState state(true);
    const int32_t kind = kind_of(v);
    std::vector<lamella_value> pairs;
    if (kind == LAMELLA_GRAPH_DICT)
      for (const Dict::Entry& e : dict_of(*v).entries()) pairs.insert(pairs.end(), {e.key, e.value});
    const std::vector<lamella_value>* all = kind == LAMELLA_GRAPH_LIST       ? &list_of(*v).items
                                            : kind == LAMELLA_GRAPH_TUPLE    ? &tuple_of(*v).items
                                            : kind == LAMELLA_GRAPH_INSTANCE ? &instance_of(*v).attributes
                                            : kind == LAMELLA_GRAPH_DICT     ? &pairs
                                                                             : nullptr;
    LAMELLA_CHECK_TYPE(all, "items: expected a list, a tuple, a dict or an instance of a class");
    lamella_value list{LAMELLA_VALUE_LIST, static_cast<uint32_t>(all->size()), {0}};
    list.as.values = all->data();
    return api().value_retain(&list, out);
  });
}

const char* class_of(const lamella_value* v) {
  return is_object(*v, instance_type) ? instance_of(*v).type->name.c_str() : nullptr;
}

// Returns the number of an attribute; raises for a value that is no instance and for an unknown name.
size_t attribute_number(const lamella_value& v, const char* name) {
  LAMELLA_CHECK_TYPE(is_object(v, instance_type), "expected an instance of a class");
  const Class& type = *instance_of(v).type;
  const int64_t i = type.find(name);
  LAMELLA_CHECK_VALUE(i >= 0, "class ", type.name, " has no attribute '", name, "'");
  return static_cast<size_t>(i);
}

lamella_status get_attribute(const lamella_value* v, const char* name, lamella_value* out) {
  return guarded([&] {
    const SharedState state(true);
    return *out = instance_of(*v).get(attribute_number(*v, name)), LAMELLA_OK;
  });
}
lamella_status set_attribute(const lamella_value* v, const char* name, const lamella_value* given) {
  return guarded([&] {
    const SharedState state(true);
    const size_t i = attribute_number(*v, name);
    Instance& self = instance_of(*v);
    lamella_value own =
        converted(*given, *self.type->attributes[i].second, self.type->name + ": attribute '" + name + "'");
    own = self.exchange(i, own);
    return release(own), LAMELLA_OK;
  });
}
lamella_status wait(const lamella_value* future, lamella_value* out) {
  std::vector<std::string> trace;
  const lamella_status status = guarded([&] {
    LAMELLA_CHECK_TYPE(is_object(*future, future_type), "wait: expected a future");
    return *out = result_of_future(*future, 0, &trace), LAMELLA_OK;
  });
  for (const std::string& line : trace) api().add_note(line.c_str());
  return status;
}

// ---- signatures ----

ForkMutex texts_lock;

// Returns a text that lives as long as the process.
const char* lasting(const std::string& text) {
  static auto& known = *new std::unordered_map<std::string, std::unique_ptr<std::string>>();
  const std::lock_guard<std::mutex> guard(texts_lock);
  std::unique_ptr<std::string>& s = known[text];
  if (!s) s = std::make_unique<std::string>(text);
  return s->c_str();
}

int32_t signatures(const char* name, const char** out, int32_t room) {
  return guarded_or(int32_t{-1}, [&] {
    return write_items(signatures_of(name), out, room, [](const Signature* s) { return lasting(s->text()); });
  });
}
int32_t builtins(const char** out, int32_t room) {
  return write_items(builtin_schemas(), out, room, [](const std::string& s) { return lasting(s); });
}
lamella_status call_builtin(const char* full, lamella_value* args, int32_t n, lamella_value* out) {
  return guarded([&] {
    const std::string name(full);
    const size_t dot = name.find('.', name.find("::"));
    const Signature* found = nullptr;
    for (const Signature* s : builtins_of(name.substr(0, dot)))
      if (s->overload == (dot == std::string::npos ? "" : name.substr(dot + 1))) found = s;
    LAMELLA_CHECK_VALUE(found, "there is no builtin ", name);
    const auto given = static_cast<size_t>(n), takes = found->arguments.size();
    LAMELLA_CHECK_TYPE(given <= takes || found->variadic, name, " takes ", takes, " arguments, got ", n);
    std::vector<lamella_value> all, own;  // `own` are those that the caller did not give
    for (size_t i = 0; i < given && i < takes; i++) all.push_back(args[i] = unflattened(args[i]));
    const std::vector<lamella_value> no_tensors;
    for (size_t i = given; i < takes; i++) {
      const Signature::Argument& a = found->arguments[i];
      LAMELLA_CHECK_TYPE(a.has_default, name, " lacks its argument '", a.name, "'");
      own.push_back(Constants(no_tensors).value(a.default_value, *a.type, false));
      all.push_back(own.back());
    }
    if (found->variadic) {
      std::vector<lamella_value> rest;
      for (size_t i = takes; i < given; i++) rest.push_back(copy_of(args[i]));
      own.push_back(new_list(std::move(rest)));
      all.push_back(own.back());
    }
    struct Release {
      std::vector<lamella_value>& values;
      ~Release() {
        for (lamella_value& v : values) release(v);
      }
    } release_own{own};
    *out = found->function(all.data());
    return LAMELLA_OK;
  });
}

// ---- the host ----

void (*host_print)(const char*, int64_t) = nullptr;
lamella_status (*host_show)(lamella_tensor*, lamella_value*) = nullptr;

void print_by_host(std::string_view text) { host_print(text.data(), static_cast<int64_t>(text.size())); }
std::string text_by_host(lamella_tensor* t) {
  lamella_value text = none();
  check(host_show(t, &text));
  std::string own(text_of(text));
  release(text);
  return own;
}

void (*host_warn)(const char*, int64_t) = nullptr;
void warn_by_host(std::string_view text) { host_warn(text.data(), static_cast<int64_t>(text.size())); }

void set_host(const lamella_graph_host* host) {
  lamella_graph_host own;
  if (!copy_given(*host, &own).empty()) return;
  const lamella_graph_host* given = &own;
  host_print = given->print;
  host_warn = given->warn;
  host_show = given->show;
  graph::print = print_by_host;
  graph::warn = warn_by_host;
  tensor_text = text_by_host;
  raise_in_host = given->raise;
}

}  // namespace

void add_values(lamella_graph_table& t) {
  t.make = make;
  t.kind_of = kind_of;
  t.items = items;
  t.class_of = class_of;
  t.get_attribute = get_attribute;
  t.set_attribute = set_attribute;
  t.wait = wait;
  t.signatures = signatures;
  t.builtins = builtins;
  t.call_builtin = call_builtin;
  t.set_host = set_host;
}

}  // namespace lamella::graph
