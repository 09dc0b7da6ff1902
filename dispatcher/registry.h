// Registry: everything that was registered, by whom, and the filling of tables from it.
//
// Note [Snapshots]  A writer locks, changes the lists here, and sets the tables that depend on them to null. The
//   next call of such an operator fills a new table under the lock and publishes it. A call that still runs on
//   the old table may go on: tables, schemas, operators and backend descriptions are never freed. Their bytes are
//   counted. Libraries are never unmapped. What must be reclaimed (Python callables) is reclaimed by its owner,
//   whose kernel finds its own context emptied and asks for a retry.
#pragma once

#include <functional>
#include <unordered_map>

#include "dispatcher/layer.h"
#include "dispatcher/registry_lock.h"
#include "dispatcher/table.h"

namespace lamella::dispatcher {}  // namespace lamella::dispatcher

struct lamella_library {
  std::string ns, owner;
  uint32_t kind = LAMELLA_EXTENDS;
  uint32_t version = LAMELLA_ABI_VERSION;  // what its owner was built for
  bool open = true;                        // closed ones are kept, for whoever has the pointer still
  bool defines = false;                    // an operator
  std::vector<lamella_handle> handles = {};
};

namespace lamella::dispatcher {

using Library = lamella_library;

// In place of a category: a kernel for what has nothing else under its key, a fallback.
inline constexpr const char* every_category = "*";

// "ns::name.overload" in two parts.
void split_name(const std::string& full, std::string* name, std::string* overload);

class Registry {
 public:
  static Registry& get();

  // A second library that defines a namespace is an error that names both owners.
  lamella_status open(const lamella_library_def&, Library** out);
  lamella_status define(Library&, const lamella_operator_def&, bool lazily, lamella_handle*);
  lamella_status kernel(Library&, const char* op, const char* key, lamella_kernel_def, lamella_handle*);
  lamella_status category_kernel(Library&, const char* category, const char* key, const lamella_kernel_def&,
                                 lamella_handle*);
  // Passes over the kernels of one operator for a key ("cpu", a layer), also those of its category, or no longer does.
  lamella_status set_kernel_enabled(const std::string& op, const std::string& key, bool enabled);
  lamella_status shape_rule(Library&, const char* op, lamella_shape_rule_def, lamella_handle*);
  lamella_status layer(Library&, const lamella_layer&, int32_t* bit, lamella_handle*);
  lamella_status backend(Library&, const lamella_backend&, int32_t* id, lamella_handle*);
  lamella_status rule(Library&, const char* op, const char* layer, void* payload, void (*destroy)(void*),
                      lamella_handle*);
  void* find_rule(const Operator*, const char* layer);
  lamella_status publish_interface(Library&, const char* name, uint32_t version, const void* table, lamella_handle*);
  const void* find_interface(const char* name, uint32_t min_version);
  lamella_status withdraw(lamella_handle);
  void close(Library*);

  // Anything else that can be withdrawn (attributes, …) registers how.
  lamella_handle add_handle(Library&, std::function<void()> undo);

  Operator* find(const std::string& name, const std::string& overload);  // null if there is none
  std::vector<Operator*> overloads(const std::string& name);
  std::vector<Operator*> all();

  // The table of an operator, filled if need be. Null after an error (the schema does not parse).
  const Table* table(const Operator*);
  lamella_status prepare(Operator*);  // parses the schema
  // As `define` would take it: its full text, or the same error.
  lamella_status check_schema(const std::string& text, const std::string& ns, std::string* out);
  // A copy of the table with what serves a key now (a device, a layer, "backend", "composite") and nothing above it.
  lamella_status pin(Operator*, const std::string& key, Table** out);

  std::string show(const std::string& name);  // the table with owners, as text
  // How a device serves an operator: "native", "shape rule", "composite", "fallback" or "none".
  const char* support(const Operator*, int32_t backend);
  int64_t retained_bytes() const { return retained_; }
  void set_trace(bool on);
  RegistryMutex& mutex() { return mutex_; }

 private:
  struct CategoryRegistration : Registration {
    std::string category;
  };
  struct Rule {
    lamella_handle handle;
    std::string layer, owner;
    void* payload;
    void (*destroy)(void*);
  };
  struct Interface {
    lamella_handle handle;
    std::string name, owner;
    uint32_t version;
    const void* table;
  };

  Operator* derive(Operator*, Form);
  Operator* withdrawn_twin(const Operator&);
  lamella_handle add_operator(Library&, Operator*);
  void invalidate(Operator*);
  void invalidate_all();
  const Table* fill(Operator*);
  const Registration* find_kernel(const Operator*, const std::string& key) const;
  const Registration* find_category(const Operator*, const std::string& key, const std::string& category) const;
  const Rule* rule_of(const Operator*, const std::string& layer) const;
  bool layer_entry(Operator*, int32_t bit, Entry*, std::string* who);
  Entry backend_entry(Operator*, int32_t id, std::string* who);
  Entry traced(Entry, const Operator*, const std::string& where, const std::string& who);

  RegistryMutex mutex_;
  std::unordered_map<std::string, std::vector<Operator*>> operators_;
  std::vector<Operator*> order_;
  std::unordered_map<std::string, Library*> definers_;  // of namespaces
  std::vector<CategoryRegistration> categories_;
  std::unordered_map<std::string, std::vector<Rule>> rules_;  // by operator, which may not be there yet
  std::vector<Interface> interfaces_;
  std::unordered_map<lamella_handle, std::function<void()>> undo_;
  lamella_handle next_handle_ = 1;
  std::atomic<int64_t> retained_{0};
  bool trace_ = false;
};

}  // namespace lamella::dispatcher
