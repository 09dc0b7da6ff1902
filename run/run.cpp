// Programs of jit.save for C: modules over the interface "graph".
#include <lamella/program.h>
#include <lamella/run.h>
#include <lamella/tensor.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace {

using lamella::api;
using lamella::check;
using lamella::Error;
using lamella::none;
using lamella::Tensor;

std::atomic<const lamella_graph_table*> graph_table{nullptr};
const lamella_graph_table& graph() { return *graph_table.load(std::memory_order_acquire); }

class Held {
 public:
  Held() = default;
  Held(const Held&) = delete;
  ~Held() { api().value_release(&v); }
  lamella_value v = none();
};

// A file of a program; modules share it.
class File {
 public:
  explicit File(lamella_object* owned) : object(owned) {}
  File(const File&) = delete;
  ~File() { api().release(object); }
  lamella_object* program() const { return graph().file_program(object); }

  // Returns the names of a kind that a class of modules has.
  std::vector<const char*> names(const char* class_name, int32_t kind) const {
    const int32_t n = graph().file_names(object, class_name, kind, nullptr, 0);
    std::vector<const char*> all(static_cast<size_t>(std::max(n, 0)));
    graph().file_names(object, class_name, kind, all.data(), n);
    return all;
  }

  lamella_object* const object;
};

struct Method {
  const char* graph;  // its name
  std::vector<lamella_graph_parameter> parameters;
  const char* result;
};

}  // namespace

struct lamella_module {
  std::atomic<int64_t> count{1};
  std::shared_ptr<const File> file;
  Held self;  // none for a function
  std::string name;
  std::map<std::string, Method, std::less<>> methods;
};

namespace {

lamella_status start() {
  static std::mutex lock;
  if (graph_table.load(std::memory_order_acquire)) return LAMELLA_OK;
  const std::lock_guard<std::mutex> guard(lock);
  if (graph_table.load(std::memory_order_relaxed)) return LAMELLA_OK;
  const lamella_api* table = lamella_get_api(LAMELLA_TARGET_VERSION);
  if (!table) return LAMELLA_RUNTIME_ERROR;  // no error can be pending
  lamella::Api::table() = table;
  if (const lamella_status st = lamella_load_default()) return st;
  const auto* found = static_cast<const lamella_graph_table*>(table->find_interface("graph", 1));
  if (!found || found->size < offsetof(lamella_graph_table, run_export_hooks) + sizeof found->run_export_hooks)
    return table->raise(LAMELLA_RUNTIME_ERROR,
                        "lamella_run_start: the plugin 'graph' is not in plugins/graph beside liblamella.so, or is too "
                        "old to read files");
  graph_table.store(found, std::memory_order_release);
  return LAMELLA_OK;
}

// Calls a function after the start; what it throws becomes the thread's error.
template <class F>
lamella_status started(F f) {
  if (const lamella_status st = start()) return st;
  return lamella::guarded([&]() -> lamella_status {
    f();
    return LAMELLA_OK;
  });
}

// ---- modules ----

// Returns how many parameters the graph of a function has, with `self`.
int32_t parameters_of_graph(const File& file, const char* name) {
  lamella_graph* g = graph().graph(file.program(), name);
  return g ? graph().parameters(graph().top(g), nullptr, 0) : 0;
}

void add_method(lamella_module* m, const std::string& name, const char* function) {
  Method own{function, {}, ""};
  const int32_t n = graph().file_parameters(m->file->object, function, nullptr, 0, nullptr);
  own.parameters.resize(static_cast<size_t>(std::max(n, 0)));
  graph().file_parameters(m->file->object, function, own.parameters.data(), n, &own.result);
  const int32_t selves = m->self.v.tag == LAMELLA_NONE ? 0 : 1;
  if (parameters_of_graph(*m->file, function) == n + selves) m->methods.emplace(name, std::move(own));
}

// Makes the module of an instance, which is borrowed; none: of the file's function.
lamella_module* made(std::shared_ptr<const File> file, const lamella_value& self) {
  auto m = std::make_unique<lamella_module>();
  m->file = std::move(file);
  check(api().value_retain(&self, &m->self.v));
  const char* const main = graph().file_main(m->file->object);
  if (self.tag == LAMELLA_NONE) {
    m->name = main;
    add_method(m.get(), "forward", main);
    return m.release();
  }
  const std::string class_name = graph().class_of(&self);
  const char* original = graph().file_original(m->file->object, class_name.c_str());
  m->name = original ? original : class_name;
  const std::string prefix = class_name + ".";
  const int32_t n = graph().file_functions(m->file->object, nullptr, 0);
  std::vector<const char*> functions(static_cast<size_t>(n));
  graph().file_functions(m->file->object, functions.data(), n);
  for (const char* f : functions)
    if (std::string(f).rfind(prefix, 0) == 0) add_method(m.get(), std::string(f).substr(prefix.size()), f);
  return m.release();
}

lamella_module* module_of_file(lamella_object* owned) {
  auto file = std::make_shared<const File>(owned);
  lamella_value root = none();
  check(graph().file_root(owned, &root));
  return made(std::move(file), root);
}

const Method& method_of(const lamella_module& m, const char* name) {
  const auto found = m.methods.find(std::string_view(name));
  if (found != m.methods.end()) return found->second;
  std::string all;
  for (const auto& [own, method] : m.methods) all += (all.empty() ? "" : ", ") + own;
  throw Error(LAMELLA_VALUE_ERROR, m.name + " has no method '" + name + "'; it has " + (all.empty() ? "none" : all));
}

// Puts the arguments of a call in the order of the parameters.
void place(const lamella_module& m, const Method& method, const char* name, const lamella_value* args, int32_t n,
           const lamella_run_keyword* keywords, int32_t num_keywords, lamella_value* out) {
  const std::string title = m.name + "." + name;
  const auto count = static_cast<int32_t>(method.parameters.size());
  LAMELLA_CHECK_TYPE(n >= 0 && n <= count, title, ": takes ", count, " arguments, got ", n);
  std::vector<bool> given(static_cast<size_t>(count));
  const auto put = [&](int32_t i, const lamella_value& v) {
    const auto at = static_cast<size_t>(i);
    LAMELLA_CHECK_TYPE(!given[at], title, ": got argument '", method.parameters[at].name, "' twice");
    given[at] = true;
    out[i] = v;
  };
  for (int32_t i = 0; i < n; i++) put(i, args[i]);
  for (int32_t k = 0; k < num_keywords; k++) {
    int32_t i = 0;
    while (i < count && std::string_view(method.parameters[static_cast<size_t>(i)].name) != keywords[k].name) i++;
    LAMELLA_CHECK_TYPE(i < count, title, ": has no argument '", keywords[k].name, "'");
    put(i, keywords[k].value);
  }
  for (int32_t i = 0; i < count; i++) {
    const lamella_graph_parameter& p = method.parameters[static_cast<size_t>(i)];
    if (given[static_cast<size_t>(i)]) continue;
    LAMELLA_CHECK_TYPE(p.flags & LAMELLA_GRAPH_HAS_DEFAULT, title, ": lacks its argument '", p.name, "'");
    out[i] = p.value;
  }
}

// Calls a function with the module's object and each object of a module in it, once each, by its name.
template <class F>
void each_module(const File& file, const lamella_value& self, const std::string& prefix,
                 std::unordered_set<void*>* seen, const F& f) {
  if (!seen->insert(self.as.object).second) return;
  f(prefix, self);
  for (const char* name : file.names(graph().class_of(&self), LAMELLA_GRAPH_MODULES)) {
    Held inner;
    if (graph().get_attribute(&self, name, &inner.v)) {  // a name that is no attribute: the module is None
      api().error_clear();
      continue;
    }
    if (graph().class_of(&inner.v)) each_module(file, inner.v, prefix + name + ".", seen, f);
  }
}
template <class F>
void each_module(const lamella_module& m, const F& f) {
  std::unordered_set<void*> seen;
  if (m.self.v.tag != LAMELLA_NONE) each_module(*m.file, m.self.v, "", &seen, f);
}

// Calls a function with each parameter or buffer, by its name; one that several names have once.
template <class F>
void each_tensor(const lamella_module& m, int32_t kind, const F& f) {
  std::unordered_set<void*> seen;
  each_module(m, [&](const std::string& prefix, const lamella_value& self) {
    for (const char* name : m.file->names(graph().class_of(&self), kind)) {
      Held found;
      if (graph().get_attribute(&self, name, &found.v)) {
        api().error_clear();
        continue;
      }
      if (found.v.tag == LAMELLA_TENSOR && seen.insert(found.v.as.tensor).second) f(prefix + name, found.v.as.tensor);
    }
  });
}

void check_object(const lamella_module& m) {
  LAMELLA_CHECK_TYPE(m.self.v.tag != LAMELLA_NONE, m.name, " is a function, which has no attributes");
}

// ---- devices and dtypes ----

Tensor converted(lamella_tensor* t, const lamella_value& device, int32_t dtype) {
  const uint32_t type_class = api().dtype_info(t->dtype)->dtype_class;
  lamella_value to = none();
  if (dtype >= 0 && (type_class & (LAMELLA_CLASS_FLOATING | LAMELLA_CLASS_COMPLEX))) to = {LAMELLA_DTYPE, 0, {dtype}};
  const lamella_value args[] = {lamella::value(t), device, to};
  lamella_value result = none();
  check(api().call(nullptr, api().find_operator("aten::to", "device"), args, 3, &result, 1));
  return Tensor::steal(result.as.tensor);
}

void move(lamella_tensor* t, const lamella_value& device, int32_t dtype) {
  const Tensor moved = converted(t, device, dtype);
  if (moved.get() == t) return;
  const lamella_autograd* a = Tensor::autograd();
  lamella_tensor* grad = nullptr;
  if (a) check(a->grad(t, &grad));
  const Tensor old = Tensor::steal(grad);
  if (grad) check(a->set_grad(t, nullptr));
  check(api().tensor_assign(t, moved.get()));
  if (grad) check(a->set_grad(t, converted(grad, device, dtype).get()));
}

}  // namespace

extern "C" {

const lamella_api* lamella_run_api(uint32_t version) { return lamella_get_api(version); }
lamella_status lamella_run_start(void) { return start(); }
const lamella_graph_table* lamella_run_graph(void) { return graph_table.load(std::memory_order_acquire); }
const char* lamella_run_error(void) {
  const lamella_api* table = lamella_get_api(LAMELLA_TARGET_VERSION);
  return table ? table->error_message() : "this liblamella.so is too old or too new for liblamella_run.so";
}

lamella_status lamella_run_load(const char* path, uint32_t flags, const char* device, lamella_module** out) {
  return started([&] {
    lamella_object* file = nullptr;
    check(graph().load(path, flags, device, &file));
    *out = module_of_file(file);
  });
}
lamella_status lamella_run_load_memory(const void* data, uint64_t num_bytes, uint32_t flags, const char* device,
                                       lamella_module** out) {
  return started([&] {
    lamella_object* file = nullptr;
    check(graph().load_memory(data, num_bytes, flags, device, &file));
    *out = module_of_file(file);
  });
}
void lamella_run_retain(lamella_module* m) {
  if (m) m->count.fetch_add(1, std::memory_order_relaxed);
}
void lamella_run_release(lamella_module* m) {
  if (m && m->count.fetch_sub(1, std::memory_order_acq_rel) == 1) delete m;
}

const char* lamella_run_name(lamella_module* m) { return m->name.c_str(); }
lamella_object* lamella_run_program(lamella_module* m) { return m->file->program(); }
int32_t lamella_run_methods(lamella_module* m, const char** out, int32_t room) {
  int32_t n = 0;
  for (const auto& [name, method] : m->methods) {
    if (n < room) out[n] = name.c_str();
    n++;
  }
  return n;
}
int32_t lamella_run_parameters(lamella_module* m, const char* method, lamella_graph_parameter* out, int32_t room,
                               const char** result) {
  const auto found = m->methods.find(std::string_view(method));
  if (found == m->methods.end()) return -1;
  const auto n = static_cast<int32_t>(found->second.parameters.size());
  std::copy_n(found->second.parameters.begin(), std::max(0, std::min(n, room)), out);
  if (result) *result = found->second.result;
  return n;
}

lamella_status lamella_run_call(lamella_module* m, const char* method, const lamella_value* args, int32_t num_args,
                                const lamella_run_keyword* keywords, int32_t num_keywords, lamella_value* result) {
  return started([&] {
    const Method& own = method_of(*m, method);
    const size_t selves = m->self.v.tag == LAMELLA_NONE ? 0 : 1;
    lamella_value few[16];
    std::vector<lamella_value> many;
    lamella_value* all = few;
    const size_t n = own.parameters.size() + selves;
    if (n > 16) {
      many.resize(n);
      all = many.data();
    }
    if (selves) all[0] = m->self.v;
    place(*m, own, method, args, num_args, keywords, num_keywords, all + selves);
    check(graph().run(m->file->program(), own.graph, all, static_cast<int32_t>(n), result));
  });
}

lamella_status lamella_run_tensors(lamella_module* m, int32_t kind,
                                   void (*visit)(void* context, const char* name, lamella_tensor*), void* context) {
  return started([&] {
    LAMELLA_CHECK_VALUE(kind == LAMELLA_GRAPH_PARAMETERS || kind == LAMELLA_GRAPH_BUFFERS,
                        "lamella_run_tensors: the kind has to be that of parameters or that of buffers, got ", kind);
    each_tensor(*m, kind, [&](const std::string& name, lamella_tensor* t) { visit(context, name.c_str(), t); });
  });
}
lamella_status lamella_run_child(lamella_module* m, const char* name, lamella_module** out) {
  return started([&] {
    check_object(*m);
    Held self;
    check(api().value_retain(&m->self.v, &self.v));
    for (std::string_view rest = name; !rest.empty();) {
      const size_t dot = std::min(rest.find('.'), rest.size());
      const std::string part(rest.substr(0, dot));
      rest.remove_prefix(std::min(dot + 1, rest.size()));
      Held inner;
      const bool found = !graph().get_attribute(&self.v, part.c_str(), &inner.v);
      if (!found) api().error_clear();
      const char* class_name = found ? graph().class_of(&inner.v) : nullptr;
      LAMELLA_CHECK_VALUE(class_name && graph().file_original(m->file->object, class_name), m->name, " has no module '",
                          name, "'");
      std::swap(self.v, inner.v);
    }
    *out = made(m->file, self.v);
  });
}
lamella_status lamella_run_get(lamella_module* m, const char* name, lamella_value* out) {
  return started([&] {
    check_object(*m);
    check(graph().get_attribute(&m->self.v, name, out));
  });
}
lamella_status lamella_run_set(lamella_module* m, const char* name, const lamella_value* value) {
  return started([&] {
    check_object(*m);
    check(graph().set_attribute(&m->self.v, name, value));
  });
}
lamella_status lamella_run_train(lamella_module* m, int32_t on) {
  return started([&] {
    const lamella_value mode = lamella::value(on != 0);
    each_module(*m, [&](const std::string&, const lamella_value& self) {
      if (graph().set_attribute(&self, "training", &mode)) api().error_clear();  // no method reads it
    });
  });
}
lamella_status lamella_run_move(lamella_module* m, const char* device, int32_t dtype) {
  return started([&] {
    const lamella_value to = device ? lamella::value(lamella::Device(device)) : none();
    const lamella_autograd* a = Tensor::autograd();
    const lamella::ExcludeGuard no_grad(a ? uint64_t{1} << a->layer : 0);
    for (const int32_t kind : {int32_t{LAMELLA_GRAPH_PARAMETERS}, int32_t{LAMELLA_GRAPH_BUFFERS}})
      each_tensor(*m, kind, [&](const std::string&, lamella_tensor* t) { move(t, to, dtype); });
  });
}
lamella_status lamella_run_extra(lamella_module* m, const char* name, lamella_value* out) {
  return started([&] { check(graph().file_extra(m->file->object, name, out)); });
}
lamella_status lamella_run_save(lamella_module* m, const char* path, void (*more)(void*, const lamella_graph_files*),
                                void* context) {
  return started([&] {
    lamella_value root = none();
    check(graph().file_root(m->file->object, &root));
    LAMELLA_CHECK_VALUE(root.tag == LAMELLA_NONE || root.as.object == m->self.v.as.object, m->name,
                        " is a part of another module: save that one");
    check(graph().file_save(m->file->object, path, more, context, 1));
  });
}
}
