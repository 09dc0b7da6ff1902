#include "operators/start.h"

#include <lamella/library.h>
#include <lamella/program.h>

#include <cstdlib>
#include <mutex>

#include "core/error.h"
#include "dispatcher/api.h"
#include "dispatcher/fill.h"
#include "dispatcher/generator.h"
#include "dispatcher/load.h"
#include "dispatcher/published.h"
#include "dispatcher/stamp.h"
#include "dispatcher/events.h"
#include "dispatcher/slots.h"
#include "dispatcher/thread_state.h"
#include "operators/catalogue.h"

namespace lamella::operators {

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    dispatcher::install_slots();
    dispatcher::install_thread_slots();
    dispatcher::install_generators();
    dispatcher::install_events();
    Api::table() = dispatcher::api();  // the catalogue uses the public headers, like a plugin
    register_catalogue();
    dispatcher::publish_interfaces();
    const char* trace = std::getenv("LAMELLA_TRACE_DISPATCH");
    if (trace && *trace && *trace != '0') dispatcher::set_trace(true);
  });
}

namespace {

lamella_status null_argument(const char* function, const char* argument) {
  return core::raise(LAMELLA_VALUE_ERROR, std::string(function) + ": argument '" + argument + "' must not be null");
}

}  // namespace
}  // namespace lamella::operators

// ---- the functions that <lamella/program.h> declares ----

extern "C" const lamella_api* lamella_get_api(uint32_t version) {
  if (version >> 16 != LAMELLA_ABI_MAJOR || version > LAMELLA_ABI_VERSION) return nullptr;
  lamella::operators::start();
  return lamella::dispatcher::api();
}

extern "C" uint32_t lamella_abi_version(void) { return LAMELLA_ABI_VERSION; }

extern "C" lamella_status lamella_load_plugin(const char* path) {
  if (!path) return lamella::operators::null_argument("lamella_load_plugin", "path");
  return lamella::core::guarded([&] {
    lamella::operators::start();
    return lamella::dispatcher::load_plugin(path);
  });
}

extern "C" lamella_status lamella_load_default(void) {
  return lamella::core::guarded([] {
    lamella::operators::start();
    return lamella::dispatcher::load_default();
  });
}

extern "C" lamella_status lamella_plugin_stamp(const char* path, uint32_t* version) {
  if (!path) return lamella::operators::null_argument("lamella_plugin_stamp", "path");
  if (!version) return lamella::operators::null_argument("lamella_plugin_stamp", "version");
  return lamella::core::guarded([&] { return lamella::dispatcher::read_stamp(path, version); });
}
