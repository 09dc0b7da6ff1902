// Autocast: a layer outside autograd that casts the tensors of a call, by the operator's policy. Start with layer.cpp;
// policy.h says what a policy is, table.cpp has those of the catalogue.
#include <lamella/extension.h>

#include <optional>
#include <string>

#include "interface.h"
#include "layer.h"
#include "policy.h"
#include "state.h"

namespace lamella::autocast {
namespace {

// ---- the interface of the Python face ---------------------------------------------------------------------------------

lamella_status open_block(const void* block, int32_t backend, int32_t on, int32_t dtype, int32_t cache) {
  State* s = own_state();
  if (!s) return LAMELLA_OUT_OF_MEMORY;
  return guarded([&]() -> lamella_status {
    const bool now = cache < 0 ? s->cache : cache != 0;
    if (backend < 0)
      enter(s, block);
    else
      enter(s, block, backend, on != 0, dtype < 0 ? dtype_of(s, backend) : dtype, now);
    return LAMELLA_OK;
  });
}

lamella_status close_block(const void* block) {
  State* s = own_state();
  return s ? leave(s, block) : LAMELLA_OUT_OF_MEMORY;
}

Settings settings() {
  const State* s = state_of_thread();
  return s ? static_cast<const Settings&>(*s) : Settings();
}

lamella_status open_with(const void* block, const Settings* to) {
  State* s = own_state();
  if (!s) return LAMELLA_OUT_OF_MEMORY;
  return guarded([&]() -> lamella_status {
    enter(s, block, *to);
    return LAMELLA_OK;
  });
}

int32_t is_on(int32_t backend) { return is_enabled(state_of_thread(), backend); }
lamella_status switch_on(int32_t backend, int32_t on) {
  State* s = own_state();
  if (!s) return LAMELLA_OUT_OF_MEMORY;
  set_enabled(s, backend, on != 0);
  return LAMELLA_OK;
}

const Interface table = {sizeof table, open_block, settings, open_with, close_block, is_on, switch_on};

// ---- operators, for functions of Python --------------------------------------------------------------------------------

State& state() {
  State* s = own_state();
  if (!s) check(LAMELLA_OUT_OF_MEMORY);
  return *s;
}

// Returns the number of a device's backend, which is loaded.
int32_t backend_of(std::string_view device) {
  int32_t id = -1;
  check(api().find_backend(std::string(device).c_str(), &id));
  LAMELLA_CHECK(id < most_devices, "autocast: device '", device, "' is the ", id,
                "th type of device, and autocast serves ", most_devices);
  return id;
}

int64_t number(std::string_view device) { return backend_of(device); }

ScalarType get_dtype(std::string_view device) {
  return static_cast<ScalarType>(dtype_of(state_of_thread(), backend_of(device)));
}
void set_dtype(std::string_view device, ScalarType dtype) {
  state().dtypes[backend_of(device)] = static_cast<uint8_t>(dtype);
}

bool is_cache_enabled() {
  const State* s = state_of_thread();
  return !s || s->cache;
}
void set_cache_enabled(bool on) { state().cache = on; }
void clear_cache() {
  if (State* s = state_of_thread()) drop_casts(s);
}
int64_t cached() {
  const State* s = state_of_thread();
  return s ? static_cast<int64_t>(s->casts.size()) : 0;
}
int64_t nest(int64_t by) {
  State& s = state();
  return s.nesting += static_cast<int32_t>(by);
}

int64_t add_rule(std::string_view op, std::string_view text) { return add_policy(std::string(op), std::string(text)); }
void withdraw_rule(int64_t number) { remove_policy(number); }

std::string find_policy(std::string_view op) {
  const std::string name(op);
  const size_t dot = name.find('.');
  const lamella_operator* found =
      api().find_operator(name.substr(0, dot).c_str(), dot == std::string::npos ? "" : name.c_str() + dot + 1);
  LAMELLA_CHECK(found, "there is no operator '", name, "'; `lamella ops list` prints all");
  return policy_text(found);
}

}  // namespace
}  // namespace lamella::autocast

LAMELLA_LIBRARY(autocast, m) {
  using namespace lamella::autocast;
  register_layer(m);
  register_state(m);
  follow_rules(m);
  m.interface("autocast", 1, &table);
  m.effects(LAMELLA_EFFECT_STATE);
  m.def("number(str device) -> int", number);
  m.def("get_dtype(str device) -> ScalarType", get_dtype);
  m.def("set_dtype(str device, ScalarType dtype) -> ()", set_dtype);
  m.def("is_cache_enabled() -> bool", is_cache_enabled);
  m.def("set_cache_enabled(bool on) -> ()", set_cache_enabled);
  m.def("clear_cache() -> ()", clear_cache);
  m.def("cached() -> int", cached);
  m.def("nest(int by) -> int", nest);
  m.def("add_rule(str op, str rule) -> int", add_rule);
  m.def("withdraw_rule(int number) -> ()", withdraw_rule);
  m.def("find_policy(str op) -> str", find_policy);
}
