#include "core/device.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>

#include "core/dtype.h"
#include "core/error.h"
#include "core/fork.h"

namespace lamella::core {
namespace {

struct Slot {
  std::atomic<const lamella_backend*> live{nullptr};
  std::string name, owner;
};

std::mutex& mutex = new_innermost_mutex();
Slot slots[max_backends];
std::atomic<int32_t> count{0};

}  // namespace

lamella_status add_backend(const lamella_backend& desc, const std::string& owner, int32_t* id) {
  std::unique_lock lock(mutex);
  const auto refused = [&lock](const std::string& why) {
    lock.unlock();  // raise() may destroy the pending error, which takes other locks
    return raise(LAMELLA_RUNTIME_ERROR, why);
  };
  int32_t n = count.load(), i = 0;
  while (i < n && slots[i].name != desc.name) i++;
  if (i < n && slots[i].live.load())
    return refused(format("backend: the device name '%s' is taken by %s; %s cannot register it too", desc.name,
                          slots[i].owner.c_str(), owner.c_str()));
  if (i == max_backends)
    return refused(format("backend: %d backends are registered, '%s' is one too many", n, desc.name));
  if (i == n) slots[i].name = desc.name;
  slots[i].owner = owner;
  auto* copy = new lamella_backend(desc);  // never freed: a tensor may outlive its backend's registration
  copy->name = slots[i].name.c_str();
  if (std::all_of(copy->dtypes, std::end(copy->dtypes), [](uint64_t bits) { return bits == 0; }))
    std::fill(copy->dtypes, std::end(copy->dtypes), ~uint64_t{0});
  else
    copy->flags |= declares_dtypes;
  slots[i].live.store(copy, std::memory_order_release);
  if (i == n) count.store(n + 1, std::memory_order_release);
  *id = i;
  return LAMELLA_OK;
}

void remove_backend(int32_t id) { slots[id].live.store(nullptr, std::memory_order_release); }

const lamella_backend* backend(int32_t id) {
  return id >= 0 && id < max_backends ? slots[id].live.load(std::memory_order_acquire) : nullptr;
}

int32_t backend_id(const char* name) {
  for (int32_t i = 0, n = backend_count(); i < n; i++)
    if (slots[i].live.load(std::memory_order_acquire) && slots[i].name == name) return i;
  return -1;
}

int32_t backend_count() { return count.load(std::memory_order_acquire); }
const char* backend_name(int32_t id) { return id >= 0 && id < backend_count() ? slots[id].name.c_str() : "none"; }
std::string backend_owner(int32_t id) { return slots[id].owner; }

std::string device_name(lamella_device d) {
  const lamella_backend* b = backend(d.backend);
  std::string s = backend_name(d.backend);
  if (b && b->device_count) s += ":" + std::to_string(d.index);
  return s;
}

bool split_device(const std::string& text, std::string* name, int32_t* index) {
  const size_t colon = text.find(':');
  *name = text.substr(0, colon);
  *index = -1;
  if (colon == std::string::npos) return true;
  const std::string digits = text.substr(colon + 1);
  if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string::npos) return false;
  *index = std::stoi(digits);
  return true;
}

lamella_status lacks_dtype(const lamella_backend* b, uint8_t dtype) {
  std::string has;
  for (int t = 0; t < LAMELLA_NO_DTYPE; t++)
    if (has_dtype(b, static_cast<DType>(t)) && is_dtype(t))
      has += (has.empty() ? "" : ", ") + std::string(dtype_info(static_cast<DType>(t)).name);
  return raise(LAMELLA_TYPE_ERROR,
               format("device '%s' has no %s; it has %s. Convert the tensor before it goes there, as "
                      "with to(lamella.float32)",
                      b->name, dtype_info(dtype).name, has.c_str()));
}

lamella_status current_index(int32_t id, int32_t* index) {
  const lamella_backend* b = backend(id);
  *index = 0;
  if (!b || !b->device_current) return LAMELLA_OK;
  return from_backend(b->device_current(b->context, index), {id, 0}, "reading the current device");
}

lamella_status from_backend(lamella_status st, lamella_device d, const std::string& doing) {
  if (__builtin_expect(st == LAMELLA_OK, 1)) return st;
  const std::string where = doing + " on device '" + device_name(d) + "'";
  Error& e = pending_error();
  if (e.kind == LAMELLA_OK) return raise(LAMELLA_RUNTIME_ERROR, where + " failed; the backend does not say why");
  const std::string& said = e.payload ? e.notes : e.message;
  if (said.find(device_name(d)) == std::string::npos) add_note((where + " failed").c_str());
  return st;
}

lamella_status check_device(const std::string& who, lamella_device d) {
  const lamella_backend* b = backend(d.backend);
  if (!b) {
    const char* name = backend_name(d.backend);
    return raise(LAMELLA_RUNTIME_ERROR, d.backend >= 0 && d.backend < backend_count()
                                            ? format("%s: device '%s' is no longer registered", who.c_str(), name)
                                            : format("%s: there is no backend %d", who.c_str(), d.backend));
  }
  const int32_t n = b->device_count ? b->device_count(b->context) : 1;
  if (d.index >= 0 && d.index < n) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR,
               format("%s: device '%s:%d' does not exist; there are %d", who.c_str(), b->name, d.index, n));
}

bool is_host(int32_t id) {
  const lamella_backend* b = backend(id);
  return b && (b->flags & LAMELLA_BACKEND_HOST);
}

int32_t host_backend() {
  for (int32_t i = 0, n = backend_count(); i < n; i++)
    if (is_host(i)) return i;
  return -1;
}

}  // namespace lamella::core
