// The ledger: libraries, their owners, and how each registration is undone.
//
// Note [Handles]  Each registration gets one handle and belongs to one library. Withdrawing the handle undoes the
//   registration; closing the library undoes all of its registrations, the last one first.
#pragma once

#include <lamella/c_api.h>

#include <functional>
#include <string>
#include <vector>

struct lamella_library {
  std::string ns, owner;
  uint32_t kind = LAMELLA_EXTENDS;
  uint32_t version = LAMELLA_ABI_VERSION;  // of the headers that its owner was built with
  std::string written = {}, chosen = {};   // see Note [Chosen namespace] in load.h; empty: none was chosen
  bool open = true;                        // a closed library is kept, since callers may still have the pointer
  uint32_t namespace_version = 1;          // of the operators; see lamella_library_def
  bool defines = false;                    // whether it has defined an operator
  std::vector<lamella_handle> handles = {};
};

namespace lamella::dispatcher {

using Library = lamella_library;

// Opens a library. Raises if `ns` is no identifier, or if the library defines a namespace that another library defines;
// the error then names both owners.
lamella_status open_library(const lamella_library_def&, Library** out);
void close_library(Library*);
// Returns the highest version that an open library gives to a namespace which it defines or extends; 0 if there is no
// such library.
uint32_t namespace_version(const std::string& ns);

// Adds a registration. `undo` runs under the registry's lock, once, when the handle is withdrawn. It gets the handle as
// an argument, so that it can be written before the handle exists.
lamella_handle enter(Library&, std::function<void(lamella_handle)> undo);
lamella_status withdraw(lamella_handle);
bool is_live(lamella_handle);  // under the registry's lock

// Erases the elements of a list that were registered under a handle.
template <class List>
void erase_handle(List& list, lamella_handle h) {
  std::erase_if(list, [h](const auto& r) { return r.handle == h; });
}

}  // namespace lamella::dispatcher
