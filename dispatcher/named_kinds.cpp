#include "dispatcher/named_kinds.h"

#include <cctype>
#include <deque>
#include <string>

#include "core/error.h"
#include "dispatcher/ledger.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

struct Kind {
  std::string name, owner;
  int32_t base;
};
// A deque keeps the addresses of the names that were handed out.
std::deque<Kind>& errors() {
  static auto* all = new std::deque<Kind>;
  return *all;
}
std::deque<Kind>& events() {
  static auto* all = new std::deque<Kind>;
  return *all;
}

const Kind* at(const std::deque<Kind>& all, int32_t i) {
  return i >= 0 && i < static_cast<int32_t>(all.size()) ? &all[i] : nullptr;
}

// Returns the place of a name in the list, or -1.
int32_t place_of(const std::deque<Kind>& all, const std::string& name) {
  for (size_t i = 0; i < all.size(); i++)
    if (all[i].name == name) return static_cast<int32_t>(i);
  return -1;
}

bool is_identifier(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  for (const char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return true;
}

}  // namespace

lamella_status register_error_kind(lamella_library* lib, const char* name, int32_t base, int32_t* kind) {
  RegistryLock lock;
  if (!is_identifier(name))
    return core::raise(LAMELLA_VALUE_ERROR, core::format("error_kind_register: 'name' becomes the name of a class and "
                                                         "must be an identifier, got \"%s\"",
                                                         name));
  const bool registered = base >= first_error_kind && at(errors(), base - first_error_kind);
  const bool built_in = base >= LAMELLA_RUNTIME_ERROR && base <= LAMELLA_ACCELERATOR_ERROR;
  if (base == LAMELLA_HOST_ERROR || base == LAMELLA_INTERRUPTED || !(built_in || registered))
    return core::raise(
        LAMELLA_VALUE_ERROR,
        core::format("error_kind_register: '%s': 'base' is %d, which is no kind of error that another can "
                     "be derived from",
                     name, base));
  int32_t i = place_of(errors(), name);
  if (i < 0) {
    i = static_cast<int32_t>(errors().size());
    errors().push_back({name, lib->owner, base});
  } else if (errors()[i].base != base) {
    return core::raise(
        LAMELLA_RUNTIME_ERROR,
        core::format("error_kind_register: '%s' was registered by %s with the base %d; %s cannot register "
                     "it with the base %d",
                     name, errors()[i].owner.c_str(), errors()[i].base, lib->owner.c_str(), base));
  }
  *kind = first_error_kind + i;
  return LAMELLA_OK;
}

const char* describe_error_kind(int32_t kind, int32_t* base) {
  RegistryLock lock;
  const Kind* k = kind < first_error_kind ? nullptr : at(errors(), kind - first_error_kind);
  if (k && base) *base = k->base;
  return k ? k->name.c_str() : nullptr;
}

lamella_status register_event_kind(lamella_library*, const char* name, int32_t* kind) {
  RegistryLock lock;
  int32_t i = place_of(events(), name);
  if (i < 0) {
    i = static_cast<int32_t>(events().size());
    if (first_event_kind + i > last_event_kind)
      return core::raise(LAMELLA_RUNTIME_ERROR,
                         core::format("event_kind_register: all %d numbers are taken; there is none left for '%s'",
                                      last_event_kind - first_event_kind + 1, name));
    events().push_back({name, "", 0});
  }
  *kind = first_event_kind + i;
  return LAMELLA_OK;
}

const char* event_kind_name(int32_t kind) {
  RegistryLock lock;
  const Kind* k = kind < first_event_kind ? nullptr : at(events(), kind - first_event_kind);
  return k ? k->name.c_str() : nullptr;
}

}  // namespace lamella::dispatcher
