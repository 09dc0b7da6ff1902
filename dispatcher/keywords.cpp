#include "dispatcher/keywords.h"

#include <vector>

#include "core/error.h"
#include "dispatcher/layer.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

std::atomic<int> num_keywords{0}, num_claims{0};
// The keywords that take unknown ones, the newest first; null: none yet. Lists and keywords are never freed, because a
// call may still use those that another thread replaces.
std::atomic<const std::vector<const Keyword*>*> rest{nullptr};
std::vector<Keyword*>& keywords() {
  static auto* v = new std::vector<Keyword*>;
  return *v;
}

}  // namespace

int32_t Keyword::rank() const {
  RegistryLock lock;
  return layer_bit(layer);
}

lamella_status add_keyword(Library& lib, const lamella_keyword_def& def, lamella_handle* handle) {
  RegistryLock lock;
  const bool claims = def.flags & LAMELLA_KEYWORD_CLAIMS, takes_rest = def.flags & LAMELLA_KEYWORD_REST;
  if (const Keyword* old = takes_rest ? nullptr : find_keyword(def.name))
    return core::raise(LAMELLA_RUNTIME_ERROR, "keyword: '" + std::string(def.name) + "' is taken by " + old->owner +
                                                  "; " + lib.owner +
                                                  " cannot register that too; switch one of them off, as by "
                                                  "LAMELLA_PLUGINS=-NAME");
  auto* k = new Keyword{def.name, lib.owner, def.layer ? def.layer : "", claims, def.apply, def.context, def.expand};
  if (takes_rest) {
    auto* all = new std::vector<const Keyword*>(rest_keywords());
    all->insert(all->begin(), k);
    rest = all;
  } else {
    keywords().push_back(k);
  }
  num_keywords++;
  num_claims += claims;
  const lamella_handle h = enter(lib, [k](lamella_handle) {
    if (k->expand) {
      auto* left = new std::vector<const Keyword*>(rest_keywords());
      std::erase(*left, k);
      rest = left;
    } else {
      std::erase(keywords(), k);
    }
    num_keywords--;
    num_claims -= k->claims;
  });
  if (handle) *handle = h;
  return LAMELLA_OK;
}

const std::vector<const Keyword*>& rest_keywords() {
  static const auto* none = new std::vector<const Keyword*>;
  const auto* all = rest.load(std::memory_order_acquire);
  return all ? *all : *none;
}
bool any_keywords() { return num_keywords.load(std::memory_order_relaxed) > 0; }
bool any_claims() { return num_claims.load(std::memory_order_relaxed) > 0; }

const Keyword* find_keyword(const std::string& name) {
  RegistryLock lock;
  for (const Keyword* k : keywords())
    if (k->name == name) return k;
  return nullptr;
}

}  // namespace lamella::dispatcher
