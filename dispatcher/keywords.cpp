#include "dispatcher/keywords.h"

#include <vector>

#include "core/error.h"
#include "dispatcher/layer.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

std::atomic<int> num_keywords{0}, num_claims{0};
std::atomic<Keyword*> rest{nullptr};
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
  if (const Keyword* old = takes_rest ? rest.load() : find_keyword(def.name)) {
    const std::string what =
        takes_rest ? "keyword: all unknown keywords are" : "keyword: '" + std::string(def.name) + "' is";
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       what + " taken by " + old->owner + "; " + lib.owner +
                           " cannot register that too; switch one of them off, as by LAMELLA_PLUGINS=-NAME");
  }
  auto* k = new Keyword{def.name, lib.owner, def.layer ? def.layer : "", claims, def.apply, def.context, def.expand};
  if (takes_rest)
    rest = k;
  else
    keywords().push_back(k);
  num_keywords++;
  num_claims += claims;
  const lamella_handle h = enter(lib, [k](lamella_handle) {
    if (k == rest)
      rest = nullptr;
    else
      std::erase(keywords(), k);
    num_keywords--;
    num_claims -= k->claims;
  });
  if (handle) *handle = h;
  return LAMELLA_OK;
}

const Keyword* rest_keyword() { return rest; }
bool any_keywords() { return num_keywords.load(std::memory_order_relaxed) > 0; }
bool any_claims() { return num_claims.load(std::memory_order_relaxed) > 0; }

const Keyword* find_keyword(const std::string& name) {
  RegistryLock lock;
  for (const Keyword* k : keywords())
    if (k->name == name) return k;
  return nullptr;
}

}  // namespace lamella::dispatcher
