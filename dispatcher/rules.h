// Rules: a layer's data about an operator (its derivative, its rule for names). The dispatcher stores them and does not
// look inside. A rule may come before its operator and before its layer.
#pragma once

#include "dispatcher/ledger.h"
#include "dispatcher/operator.h"

namespace lamella::dispatcher {

struct Rule {
  lamella_handle handle;
  std::string layer, owner;
  void* payload;
  void (*destroy)(void*);
};

lamella_status add_rule(Library&, const char* op, const char* layer, void* payload, void (*destroy)(void*),
                        lamella_handle*);
// The rule that was registered last and is not withdrawn, or null. Under the registry's lock.
const Rule* rule_of(const Operator*, const std::string& layer);
// Its payload, or null.
void* find_rule(const Operator*, const char* layer);

}  // namespace lamella::dispatcher
