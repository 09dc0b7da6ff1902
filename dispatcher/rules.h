// Rules: a layer's data about an operator (its derivative, its rule for names). The dispatcher stores them and does not
// look inside. A rule may come before its operator and before its layer. There is one store for those of C++ and of
// Python, and those who asked hear of each rule that comes and goes.
#pragma once

#include <functional>

#include "dispatcher/ledger.h"
#include "dispatcher/operator.h"

namespace lamella::dispatcher {

struct Rule {
  lamella_handle handle;
  std::string op, layer, kind, owner;  // no kind: the layer's own
  void* payload;
  void (*destroy)(void*);

  lamella_rule described() const;
};

lamella_status add_rule(Library&, const lamella_rule&, lamella_handle*);
lamella_status on_rule(Library&, const char* layer, lamella_on_rule, void* context, lamella_handle*);
// Visits the rules under any of an operator's names, in the order of their registration. Under the registry's lock.
void each_rule(const Operator*, const std::function<void(const Rule&)>& visit);
void each_rule_of_all(const std::function<void(const Rule&)>& visit);  // of every operator; under the same lock
// The rule of the layer's own kind that was registered last and is not withdrawn, or null. Under the registry's lock.
const Rule* rule_of(const Operator*, const std::string& layer);
// Its payload, or null.
void* find_rule(const Operator*, const char* layer);

}  // namespace lamella::dispatcher
