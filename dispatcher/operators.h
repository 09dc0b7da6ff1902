// The operators of the process, by name: definition, look-up, and the names of namespaces and categories.
#pragma once

#include "dispatcher/ledger.h"
#include "dispatcher/operator.h"

namespace lamella::dispatcher {

// ---- names ----

// The namespace of a name that says none, and whose operators have titles without it: the catalogue's. Set once, before
// anything is defined.
void set_default_namespace(const std::string& ns);
// A name as users write it, with the default namespace where it has none.
std::string with_namespace(const std::string& name);
// A name as a library writes it: its own namespace where the name has none; see Note [Chosen namespace] in load.h.
std::string name_within(const Library&, const std::string& name);
// "ns::name.overload" in two parts.
void split_name(const std::string& full, std::string* name, std::string* overload);

// ---- categories ----

enum CategoryFlags : uint32_t {
  by_meaning = 1,  // its kernels need the operator's lamella_pointwise, and do not serve an operator without one
  may_fault = 2,   // its kernels may stop at a value (an index out of range) when part of the result is written
  by_index = 4     // its operators' tensors `index` and `indices` hold indices, which kernels get in int64
};
// A category is a name by which a layer or a backend serves many operators.
void declare_category(const std::string& name, uint32_t flags);
bool is_category(const std::string& name);
uint32_t category_flags(const std::string& name);  // 0 for a name that is no category

// ---- operators ----

// `lazily`: the schema is parsed when the operator is first used, and errors in it come then.
lamella_status define_operator(Library&, const lamella_operator_def&, bool lazily, lamella_handle*,
                               Operator** defined = nullptr);
// Null if there is none.
Operator* find_operator(const std::string& name, const std::string& overload);
Operator* find_operator(const std::string& full_name);
std::vector<Operator*> overloads_of(const std::string& name);
std::vector<Operator*> all_operators();
// Every operator that was ever defined, also what was withdrawn. Under the registry's lock.
const std::vector<Operator*>& known_operators();

}  // namespace lamella::dispatcher
