// Factory keywords that plugins contribute by name.
#pragma once

#include <atomic>
#include <string>

#include "dispatcher/ledger.h"

namespace lamella::dispatcher {

struct Keyword {
  std::string name, owner, layer;
  bool claims;  // it goes before an operator's own argument of that name
  lamella_apply_keyword apply;
  void* context;
  // Keywords are applied by rising rank: that of the layer, or -1.
  int32_t rank() const;
};

lamella_status add_keyword(Library&, const lamella_keyword_def&, lamella_handle*);
bool any_keywords();
bool any_claims();                                     // whether one of them goes before operators' own arguments
const Keyword* find_keyword(const std::string& name);  // null if there is none; never freed

}  // namespace lamella::dispatcher
