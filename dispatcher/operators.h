// The operators of the process, by name: definition, look-up, and the names of namespaces and categories.
#pragma once

#include "dispatcher/ledger.h"
#include "dispatcher/operator.h"

namespace lamella::dispatcher {

// ---- names ----

// Sets the catalogue's namespace, which names without a namespace get; titles of its operators leave it out. Called
// once, before anything is defined.
void set_default_namespace(const std::string& ns);
// Completes a name as users write it: with the default namespace if it has none.
std::string with_namespace(const std::string& name);
// Completes a name as a library writes it: with the library's namespace if it has none; see Note [Chosen namespace] in
// load.h.
std::string name_within(const Library&, const std::string& name);
// Splits "ns::name.overload" into "ns::name" and "overload".
void split_name(const std::string& full, std::string* name, std::string* overload);

// ---- categories ----

enum CategoryFlags : uint32_t {
  by_meaning = 1,  // its kernels need the operator's lamella_pointwise, and do not serve an operator without it
  may_fault = 2,   // its kernels may stop at a value (an index out of range) after a part of the result is written
  by_index = 4,    // its operators' tensors `index` and `indices` hold indices, which kernels get in int64
  has_effect = 8   // its operators have LAMELLA_EFFECT_STATE
};
// A category is a name by which a layer or a backend serves many operators.
void declare_category(const std::string& name, uint32_t flags);
bool is_category(const std::string& name);
uint32_t category_flags(const std::string& name);  // 0 for a name that is no category

// ---- operators ----

// `lazily`: the schema is parsed when the operator is first used, and its errors are raised then.
lamella_status define_operator(Library&, const lamella_operator_def&, bool lazily, lamella_handle*,
                               Operator** defined = nullptr);
// Returns the live operator of a name, also of an alias; null if there is none.
Operator* find_operator(const std::string& name, const std::string& overload);
Operator* find_operator(const std::string& full_name);
std::vector<Operator*> overloads_of(const std::string& name);
std::vector<Operator*> all_operators();
// Returns every operator that was ever defined, also withdrawn ones. The caller holds the registry's lock.
const std::vector<Operator*>& known_operators();

}  // namespace lamella::dispatcher
