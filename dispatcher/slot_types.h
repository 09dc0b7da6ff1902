// The table of slot types: one each for the slots of tensors, of storages and of threads.
#pragma once

#include <atomic>
#include <cstring>

#include "core/error.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {

// Types below the count are never written again, so readers need no lock.
template <class Type, bool (*same)(const Type&, const Type&)>
class SlotTypes {
 public:
  explicit constexpr SlotTypes(const char* what) : what_(what) {}

  int count() const { return count_.load(std::memory_order_acquire); }
  const Type& operator[](int i) const { return all_[i]; }

  // Adds a type, or finds the registered one that has its name and for which same() is true.
  lamella_status add(const Type& t, int32_t* index) {
    RegistryLock lock;
    const int n = count();
    for (int i = 0; i < n; i++)
      if (!std::strcmp(all_[i].name, t.name) && same(all_[i], t)) {
        *index = i;
        return LAMELLA_OK;
      }
    if (n == most)
      return core::raise(LAMELLA_RUNTIME_ERROR,
                         core::format("%s: all %d are taken; there is none left for '%s'", what_, n, t.name));
    all_[n] = t;
    all_[n].name = strdup(t.name);
    *index = n;
    count_.store(n + 1, std::memory_order_release);
    return LAMELLA_OK;
  }

  // Raises for an index that add() did not return.
  lamella_status check(const char* entry, int32_t index) const {
    if (__builtin_expect(index >= 0 && index < count(), 1)) return LAMELLA_OK;
    return core::raise(LAMELLA_INDEX_ERROR, core::format("%s: there is no slot %d", entry, index));
  }

  void destroy(int index, void* state) const {
    if (all_[index].destroy) all_[index].destroy(state);
  }

 private:
  static constexpr int most = 256;  // a plugin that is edited and loaded again takes new slots
  Type all_[most] = {};
  std::atomic<int> count_{0};
  const char* what_;
};

}  // namespace lamella::dispatcher
