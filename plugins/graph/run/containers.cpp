// Containers of running graphs: their release, dictionaries, new values, and the text of values.
#include "run/containers.h"

#include <cstdio>
#include <new>
#include <thread>

#include "builtins/arguments.h"
#include "builtins/formatting.h"
#include "ir/graph.h"
#include "run/future.h"
#include "run/host.h"

namespace lamella::graph {
namespace {

void delete_object(lamella_object* o) {
  const auto drop = [](std::vector<lamella_value>& items) {
    for (lamella_value& v : items) release(v);
  };
  if (o->type == &list_type) {
    auto* l = reinterpret_cast<List*>(o);
    drop(l->items);
    delete l;
  } else if (o->type == &tuple_type) {
    auto* t = reinterpret_cast<Tuple*>(o);
    drop(t->items);
    delete t;
  } else if (o->type == &dict_type) {
    delete reinterpret_cast<Dict*>(o);
  } else if (o->type == &future_type) {
    delete_future(o);
  } else {
    auto* i = reinterpret_cast<Instance*>(o);
    drop(i->attributes);
    delete i;
  }
}

// Containers that are released within many others wait in a list, which is linked by the words of their counts, so that
// no depth of nesting exhausts the stack.
thread_local int depth = 0;
thread_local lamella_object* waiting = nullptr;
constexpr int most_within = 100;

}  // namespace

void destroy(lamella_object* o) {
  if (depth == most_within) {
    o->refcount = reinterpret_cast<int64_t>(waiting);
    waiting = o;
    return;
  }
  depth++;
  delete_object(o);
  while (depth == 1 && waiting) {
    lamella_object* next = waiting;
    waiting = reinterpret_cast<lamella_object*>(next->refcount);
    delete_object(next);
  }
  depth--;
}

const lamella_object_type list_type = {sizeof(lamella_object_type), 0, "list", destroy};
const lamella_object_type tuple_type = {sizeof(lamella_object_type), 0, "tuple", destroy};
const lamella_object_type dict_type = {sizeof(lamella_object_type), 0, "dict", destroy};
const lamella_object_type instance_type = {sizeof(lamella_object_type), 0, "instance", destroy};

// ---- instances ----

std::atomic<uint32_t> process_number{1};

class Instance::Busy {
 public:
  explicit Busy(std::atomic<uint32_t>& busy) : busy_(busy) {
    const uint32_t own = process_number.load(std::memory_order_relaxed);
    for (int i = 0;; i++) {
      uint32_t now = busy_.load(std::memory_order_relaxed);
      if (now != own && busy_.compare_exchange_weak(now, own, std::memory_order_acquire)) return;
      if (i > 100) std::this_thread::yield();
    }
  }
  ~Busy() { busy_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t>& busy_;
};

lamella_value Instance::get(size_t i) {
  const Busy busy(busy_);
  return copy_of(attributes[i]);
}

lamella_value Instance::exchange(size_t i, lamella_value owned) {
  const Busy busy(busy_);
  return std::exchange(attributes[i], owned);
}

// ---- dictionaries ----

size_t Dict::Hash::operator()(const lamella_value* key) const { return static_cast<size_t>(hash_of(*key)); }
bool Dict::Same::operator()(const lamella_value* a, const lamella_value* b) const { return equal(*a, *b); }

namespace {

// Raises for a key that has no hash; a small table compares its keys without one.
void check_key(const lamella_value& key) {
  if (key.tag == LAMELLA_OBJECT) hash_of(key);
}

}  // namespace

lamella_value* Dict::find(const lamella_value& key) {
  check_key(key);
  const auto at = index_.find(&key);
  return at == index_.end() ? nullptr : &at->second->value;
}

void Dict::set(lamella_value key, lamella_value value) {
  try {
    if (lamella_value* found = find(key)) {
      std::swap(*found, value);
      release(key);
      release(value);
      return;
    }
    entries_.push_back({key, value});
  } catch (...) {
    release(key);
    release(value);
    throw;
  }
  try {
    index_.emplace(&entries_.back().key, std::prev(entries_.end()));
  } catch (...) {
    release(entries_.back().key);
    release(entries_.back().value);
    entries_.pop_back();
    throw;
  }
}

bool Dict::erase(const lamella_value& key) {
  check_key(key);
  const auto at = index_.find(&key);
  if (at == index_.end()) return false;
  const Entries::iterator entry = at->second;
  index_.erase(at);
  Entry e = *entry;
  entries_.erase(entry);
  release(e.key);
  release(e.value);
  return true;
}

void Dict::clear() {
  index_.clear();
  Entries all = std::exchange(entries_, {});  // releasing a value may not see half of the entries
  for (Entry& e : all) {
    release(e.key);
    release(e.value);
  }
}

// ---- new values ----

lamella_value new_string(std::string_view text) {
  LAMELLA_CHECK_VALUE(text.size() < UINT32_MAX, "a str of a graph has less than 4 GiB, and this one has ", text.size(),
                      " bytes");
  // value_retain copies the byte behind the text, which has to be a zero.
  const std::string ended(text);
  lamella_value out;
  const lamella_value borrowed = value(ended);
  check(api().value_retain(&borrowed, &out));
  return out;
}

lamella_value new_complex(double re, double im) {
  const double parts[] = {re, im};
  lamella_value v{LAMELLA_COMPLEX, 0, {0}}, out;
  v.as.doubles = parts;
  check(api().value_retain(&v, &out));
  return out;
}

namespace {

template <class Container>
lamella_value new_container(std::vector<lamella_value> items) {
  auto* made = new (std::nothrow) Container;
  if (!made) {
    for (lamella_value& v : items) release(v);
    throw std::bad_alloc();
  }
  made->items = std::move(items);
  return value_of(made);
}

}  // namespace

lamella_value new_list(std::vector<lamella_value> items) { return new_container<List>(std::move(items)); }
lamella_value new_tuple(std::vector<lamella_value> items) { return new_container<Tuple>(std::move(items)); }

lamella_value unflattened(lamella_value owned) {
  if (owned.tag < LAMELLA_BOOL_LIST || owned.tag == LAMELLA_OBJECT ||
      (owned.tag > LAMELLA_TENSOR_LIST && owned.tag != LAMELLA_VALUE_LIST && owned.tag != LAMELLA_DICT))
    return owned;
  const OwnedValue held = adopt(owned);
  const lamella_value& v = held.get();
  if (v.tag == LAMELLA_DICT) {
    auto* d = new Dict;
    OwnedValue out = adopt(value_of(d));
    for (uint32_t i = 0; i < v.length; i++)
      d->set(copy_of(v.as.values[2 * i]), unflattened(copy_of(v.as.values[2 * i + 1])));
    return out.release();
  }
  Items items;
  items.values.reserve(v.length);
  for (uint32_t i = 0; i < v.length; i++) {
    switch (v.tag) {
      case LAMELLA_BOOL_LIST:
        items.add(made(v.as.bools[i] != 0));
        break;
      case LAMELLA_INT_LIST:
        items.add(made(v.as.ints[i]));
        break;
      case LAMELLA_FLOAT_LIST:
        items.add(made(v.as.doubles[i]));
        break;
      case LAMELLA_TENSOR_LIST:
        items.add(v.as.tensors[i] ? copy_of(value(v.as.tensors[i])) : none());
        break;
      default:
        items.add(unflattened(copy_of(v.as.values[i])));
    }
  }
  return items.list();
}

// ---- values as text ----

namespace {

void append_items(std::string* out, const std::vector<lamella_value>& items) {
  for (size_t i = 0; i < items.size(); i++) {
    if (i) *out += ", ";
    *out += repr_of(items[i]);
  }
}

std::string text_of_object(const lamella_value& v) {
  const Level level("while getting the repr of an object");
  std::string out;
  if (is_object(v, list_type)) {
    out = "[";
    append_items(&out, list_of(v).items);
    return out + "]";
  }
  if (is_object(v, tuple_type)) {
    out = "(";
    append_items(&out, tuple_of(v).items);
    return out + (tuple_of(v).items.size() == 1 ? ",)" : ")");
  }
  if (is_object(v, dict_type)) {
    for (const Dict::Entry& e : dict_of(v).entries())
      out += (out.empty() ? "" : ", ") + repr_of(e.key) + ": " + repr_of(e.value);
    return "{" + out + "}";
  }
  return "<" + std::string(type_name(v)) + " object>";
}

std::string text_of_device(const lamella_value& v) {
  const lamella_device d = v.as.device;
  return api().backend_name(d.backend) + (has_index(d) ? ":" + std::to_string(d.index) : std::string());
}

std::string default_tensor_text(lamella_tensor* t) {
  std::string sizes;
  for (int32_t i = 0; i < t->dl.ndim; i++) sizes += (i ? ", " : "") + std::to_string(t->dl.shape[i]);
  if (t->dl.ndim == 1) sizes += ",";
  return "tensor(shape=(" + sizes + "), dtype=" + api().dtype_info(t->dtype)->name + ")";
}
void put_line(std::FILE* to, std::string_view text) { std::fwrite(text.data(), 1, text.size(), to); }

}  // namespace

std::string (*tensor_text)(lamella_tensor*) = default_tensor_text;
void (*print)(std::string_view) = [](std::string_view text) { put_line(stdout, text); };
void (*warn)(std::string_view) = [](std::string_view text) {
  put_line(stderr, "warning: " + std::string(text) + "\n");
};
lamella_status (*raise_in_host)(const char*, const char*) = nullptr;

void raise_named(const char* name, int32_t kind, const std::string& text) {
  const lamella_status status = raise_in_host ? raise_in_host(name, text.c_str()) : LAMELLA_OK;
  if (status) throw Error::pending(status);
  throw Error(kind, text);
}

std::string repr_of(const lamella_value& v) {
  switch (v.tag) {
    case LAMELLA_NONE:
      return "None";
    case LAMELLA_BOOLEAN:
      return v.as.i ? "True" : "False";
    case LAMELLA_INT:
      return std::to_string(v.as.i);
    case LAMELLA_UINT:
      return std::to_string(v.as.u);
    case LAMELLA_FLOAT:
      return float_text(v.as.d);
    case LAMELLA_COMPLEX:
      return complex_text(complex_of(v));
    case LAMELLA_STRING:
      return quoted(text_of(v));
    case LAMELLA_DTYPE: {
      const lamella_dtype_def* d = api().dtype_info(static_cast<int32_t>(v.as.i));
      return std::string("lamella.") + (d ? d->name : "undefined");
    }
    case LAMELLA_DEVICE: {
      const std::string text = text_of_device(v);
      const size_t colon = text.find(':');
      return "device(type='" + text.substr(0, colon) + "'" +
             (colon == std::string::npos ? "" : ", index=" + text.substr(colon + 1)) + ")";
    }
    case LAMELLA_LAYOUT:
      return "lamella.strided";
    case LAMELLA_MEMORY_FORMAT:
      return "lamella." + std::string(word_of_memory_format(v.as.i));
    case LAMELLA_TENSOR:
      return v.as.tensor ? tensor_text(v.as.tensor) : "None";
    case LAMELLA_OBJECT:
      return text_of_object(v);
    default: {
      OwnedValue list = adopt(unflattened(copy_of(v)));
      return repr_of(list.get());
    }
  }
}

std::string str_of(const lamella_value& v) {
  if (v.tag == LAMELLA_STRING) return std::string(text_of(v));
  return v.tag == LAMELLA_DEVICE ? text_of_device(v) : repr_of(v);
}

}  // namespace lamella::graph
