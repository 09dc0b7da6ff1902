#include "debug_info.h"

#include <algorithm>
#include <atomic>

namespace lamella::profiler {
namespace {

struct Info {
  std::atomic<int64_t> refcount{1};
  Info* below = nullptr;  // owned
  std::string kind;
  lamella_value value{LAMELLA_NONE, 0, {0}};  // owned
  uint64_t number = 0;
};

std::atomic<uint64_t> last_number{0};
std::atomic<void* (*)()> reader{nullptr};
int32_t slot = -1;

Info* retain(Info* i) {
  if (i) i->refcount.fetch_add(1, std::memory_order_relaxed);
  return i;
}
void release(Info* i) {
  while (i && i->refcount.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Info* below = i->below;
    api().value_release(&i->value);
    delete i;
    i = below;
  }
}

// Makes an entry above `below`; takes over the reference to that.
lamella_status make(const std::string& kind, const lamella_value& value, Info* below, Info** out) {
  auto* i = new Info;
  if (lamella_status st = api().value_retain(&value, &i->value)) {
    delete i;
    return st;
  }
  i->kind = kind;
  i->below = below;
  i->number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  *out = i;
  return LAMELLA_OK;
}

// The state of the slot: the chain of a thread, or a copy on its way to another thread.
struct Chain {
  Info* top = nullptr;
  Chain() = default;
  Chain(const Chain&) = delete;
  ~Chain() { release(top); }
};

Chain* own_chain() { return static_cast<Chain*>(api().thread_slot_get(slot)); }

lamella_status chain_for_thread(Chain** out) {
  *out = own_chain();
  return *out ? LAMELLA_OK : api().thread_slot_set(slot, *out = new Chain);
}

Info* host_top() {
  void* (*read)() = reader.load(std::memory_order_relaxed);
  return read ? static_cast<Info*>(read()) : nullptr;
}

// The chain that show_info() has set: the debug information of the call whose backward runs on this thread.
__thread Info* shown = nullptr;

// Returns the entries that count, in the order of their making: of each kind the latest.
std::vector<Info*> counting(const Chain* own, Info* host, Info* forward) {
  std::vector<Info*> all;
  for (Info* top : {own ? own->top : nullptr, host, forward})
    for (Info* i = top; i; i = i->below) {
      const auto same = std::find_if(all.begin(), all.end(), [i](const Info* o) { return o->kind == i->kind; });
      if (same == all.end())
        all.push_back(i);
      else if ((*same)->number < i->number)
        *same = i;
    }
  std::sort(all.begin(), all.end(), [](const Info* a, const Info* b) { return a->number < b->number; });
  return all;
}

// Merges the entries that count into one chain.
lamella_status merge(const Chain* own, Info* host, Info** out) {
  *out = nullptr;
  if (!host) return *out = retain(own ? own->top : nullptr), LAMELLA_OK;
  for (const Info* i : counting(own, host, nullptr)) {
    Info* made;
    if (lamella_status st = make(i->kind, i->value, *out, &made)) {
      release(*out);
      return st;
    }
    made->number = i->number;
    *out = made;
  }
  return LAMELLA_OK;
}

lamella_status copy_chain(void* state, void** out) {
  auto* from = static_cast<Chain*>(state);
  auto* to = new Chain;
  *out = to;
  const lamella_status st = merge(from, from == own_chain() ? host_top() : nullptr, &to->top);
  if (st) delete to;
  return st;
}

void destroy_chain(void* state) { delete static_cast<Chain*>(state); }

}  // namespace

lamella_status info_push(const char* kind, const lamella_value* value, void** token) {
  Chain* c;
  if (lamella_status st = chain_for_thread(&c)) return st;
  Info* made;
  if (lamella_status st = make(kind, *value, c->top, &made)) return st;
  *token = c->top = made;
  return LAMELLA_OK;
}

lamella_status info_pop(void* token) {
  Chain* c = own_chain();
  if (!c || !token || c->top != token)
    return fail(LAMELLA_RUNTIME_ERROR, "debug_info: the entry to remove is not the innermost of this thread");
  Info* top = c->top;
  c->top = retain(top->below);
  release(top);
  return LAMELLA_OK;
}

lamella_status info_get(const char* kind, lamella_value* out) {
  const Chain* own = own_chain();
  const Info* found = nullptr;
  for (Info* top : {own ? own->top : nullptr, host_top(), shown})
    for (Info* i = top; i; i = i->below)
      if (i->kind == kind) {
        if (!found || found->number < i->number) found = i;
        break;
      }
  if (!found) return *out = none(), LAMELLA_OK;
  return api().value_retain(&found->value, out);
}

lamella_status info_each(lamella_status (*visit)(void*, const char*, const lamella_value*), void* context) {
  for (const Info* i : counting(own_chain(), host_top(), shown))
    if (lamella_status st = visit(context, i->kind.c_str(), &i->value)) return st;
  return LAMELLA_OK;
}

lamella_status info_make(const char* kind, const lamella_value* value, void* below, void** entry) {
  Info* made;
  if (lamella_status st = make(kind, *value, retain(static_cast<Info*>(below)), &made)) {
    release(static_cast<Info*>(below));
    return st;
  }
  *entry = made;
  carry_host_info();
  return LAMELLA_OK;
}

void info_free(void* entry) { release(static_cast<Info*>(entry)); }

void set_info_reader(void* (*innermost)()) { reader.store(innermost); }

void carry_host_info() {
  Chain* c;
  if (reader.load(std::memory_order_relaxed) && chain_for_thread(&c)) api().error_clear();
}

void* take_info() {
  Info* taken;
  if (!merge(own_chain(), host_top(), &taken)) return taken;
  api().error_clear();
  return nullptr;
}

void retain_info(void* taken) { retain(static_cast<Info*>(taken)); }

void* show_info(void* taken) { return std::exchange(shown, static_cast<Info*>(taken)); }

lamella_status register_info_slot(lamella_library* lib) {
  static const lamella_thread_slot_type type = {sizeof type,   0,      "profiler.debug_info", copy_chain,
                                                destroy_chain, nullptr};
  return api().thread_slot(lib, &type, &slot);
}

}  // namespace lamella::profiler
