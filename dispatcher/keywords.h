// Keywords of factories (as in `zeros(2, requires_grad=True)`) that plugins add by name.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

struct Keyword {
  std::string name, owner, layer;
  bool claims;  // it precedes an operator's own argument of that name
  lamella_apply_keyword apply;
  void* context;
  lamella_expand_keywords expand;  // null, but in rest_keywords()
  // Returns the bit of the layer that is registered as `layer`, or -1. Keywords are applied by rising rank.
  int32_t rank() const;
};

lamella_status add_keyword(Library&, const lamella_keyword_def&, lamella_handle*);
bool any_keywords();
bool any_claims();                                     // whether a keyword precedes operators' own arguments
const Keyword* find_keyword(const std::string& name);  // null if there is none; never freed
const std::vector<const Keyword*>& rest_keywords();    // those that take unknown keywords, newest first; never freed

}  // namespace lamella::dispatcher
