#include "dispatcher/published.h"

#include <lamella/dispatcher.h>

#include "core/fork.h"
#include "dispatcher/archives.h"
#include "dispatcher/fill.h"
#include "dispatcher/interfaces.h"
#include "dispatcher/ledger.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

void around_fork(void (*before)(), void (*parent)(), void (*child)()) { core::around_fork({before, parent, child}); }

const lamella_dispatcher table = {sizeof table, 0, kernel_owner, around_fork, without_host_lock};

}  // namespace

void publish_interfaces() {
  Library* lib = nullptr;
  (void)open_library({sizeof(lamella_library_def), LAMELLA_ABI_VERSION, "dispatcher", "lamella", LAMELLA_EXTENDS, 0},
                     &lib);
  (void)publish_interface(*lib, "dispatcher", 1, &table, nullptr);
  (void)publish_interface(*lib, "archive", 1, &archive_table, nullptr);
}

}  // namespace lamella::dispatcher
