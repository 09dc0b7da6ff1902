#include "dispatcher/ledger.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_map>

#include "core/error.h"
#include "core/event.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

struct Ledger {
  std::unordered_map<std::string, Library*> definers;                 // by namespace
  std::unordered_map<std::string, std::multiset<uint32_t>> versions;  // by namespace, of the open libraries
  struct Entry {
    Library* library;
    std::function<void(lamella_handle)> undo;
  };
  std::unordered_map<lamella_handle, Entry> live;
  lamella_handle next = 1;
};
Ledger& ledger() {
  static auto* l = new Ledger;
  return *l;
}

}  // namespace

lamella_status open_library(const lamella_library_def& def, Library** out) {
  RegistryLock lock;
  auto& definers = ledger().definers;
  const std::string ns = def.ns, owner = def.owner;
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  if (ns.empty() || std::isdigit(static_cast<unsigned char>(ns[0])) || !std::all_of(ns.begin(), ns.end(), letter))
    return core::raise(LAMELLA_VALUE_ERROR, "library: argument 'ns' must be an identifier, got '" + ns + "'");
  if (const auto taken = definers.find(ns); def.kind == LAMELLA_DEFINES && taken != definers.end())
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       "library: the namespace '" + ns + "' is defined by " + taken->second->owner + "; " + owner +
                           " cannot define it too: add to it as a fragment, or take a name of its own, as " + ns +
                           "_v2");
  *out = new Library{ns, owner, def.kind, def.version};
  (*out)->namespace_version = std::max(def.namespace_version, 1u);
  if (def.kind != LAMELLA_IMPLEMENTS) ledger().versions[ns].insert((*out)->namespace_version);
  if (def.kind == LAMELLA_DEFINES) definers[ns] = *out;
  core::emit(LAMELLA_EVENT_LIBRARY, LAMELLA_EVENT_BEGIN, (*out)->owner.c_str());
  return LAMELLA_OK;
}

lamella_handle enter(Library& lib, std::function<void(lamella_handle)> undo) {
  RegistryLock lock;
  const lamella_handle h = ledger().next++;
  ledger().live[h] = {&lib, std::move(undo)};
  lib.handles.push_back(h);
  return h;
}

lamella_status withdraw(lamella_handle h) {
  RegistryLock lock;
  const auto found = ledger().live.find(h);
  if (found == ledger().live.end())
    return core::raise(
        LAMELLA_VALUE_ERROR,
        core::format("withdraw: handle %llu is no live registration; it was never given or is withdrawn already",
                     (unsigned long long)h));
  const Ledger::Entry entry = std::move(found->second);
  ledger().live.erase(found);
  auto& handles = entry.library->handles;  // a withdrawn handle leaves no trace; mostly the newest is withdrawn first
  if (const auto at = std::find(handles.rbegin(), handles.rend(), h); at != handles.rend())
    handles.erase(std::next(at).base());
  entry.undo(h);
  return LAMELLA_OK;
}

uint32_t namespace_version(const std::string& ns) {
  RegistryLock lock;
  const auto known = ledger().versions.find(ns);
  return known == ledger().versions.end() ? 0 : *known->second.rbegin();
}

bool is_live(lamella_handle h) { return ledger().live.count(h) != 0; }

void close_library(Library* lib) {
  RegistryLock lock;
  if (!lib->open) return;
  lib->open = false;
  while (!lib->handles.empty()) withdraw(lib->handles.back());
  if (const auto defined = ledger().definers.find(lib->ns);
      defined != ledger().definers.end() && defined->second == lib)
    ledger().definers.erase(defined);
  lib->handles = {};
  if (lib->kind != LAMELLA_IMPLEMENTS) {
    const auto versions = ledger().versions.find(lib->ns);
    versions->second.erase(versions->second.find(lib->namespace_version));
    if (versions->second.empty()) ledger().versions.erase(versions);
  }
  core::emit(LAMELLA_EVENT_LIBRARY, LAMELLA_EVENT_END, lib->owner.c_str());
}

}  // namespace lamella::dispatcher
