// Rules: a layer's data about an operator (its derivative, its rule for names). The dispatcher stores them and does not
// read them. A rule may be registered before its operator and before its layer. Rules of C++ and of Python are in one
// store, and on_rule() callbacks run for each rule that is added or withdrawn.
#pragma once

#include <functional>

#include "dispatcher/ledger.h"
#include "dispatcher/operator.h"

namespace lamella::dispatcher {

struct Rule {
  lamella_handle handle;
  std::string op, layer, kind, owner;  // `kind` as in lamella_rule; empty for null
  void* payload;
  void (*destroy)(void*);

  lamella_rule described() const;
};

lamella_status add_rule(Library&, const lamella_rule&, lamella_handle*);
lamella_status on_rule(Library&, const char* layer, lamella_on_rule callback, void* context, lamella_handle*);
// Visits the rules under any of an operator's names, in the order of registration. The caller holds the registry's
// lock.
void each_rule(const Operator*, const std::function<void(const Rule&)>& visit);
// Visits the rules of all operators. The caller holds the lock.
void each_rule_of_all(const std::function<void(const Rule&)>& visit);
// Returns the layer's last rule without a kind for the operator, or null. The caller holds the lock.
const Rule* rule_of(const Operator*, const std::string& layer);
// Returns the payload of rule_of(), or null.
void* find_rule(const Operator*, const char* layer);

}  // namespace lamella::dispatcher
