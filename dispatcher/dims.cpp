#include "dispatcher/dims.h"

#include <atomic>
#include <vector>

#include "core/error.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

struct DimResolver {
  std::string owner;
  lamella_resolve_dim resolve;
  void* context;
};
using Resolvers = std::vector<const DimResolver*>;  // the newest first
// Null: none yet. Lists and functions are never freed, because a call may still use those that another thread replaces.
std::atomic<const Resolvers*> registered{nullptr};

const Resolvers& resolvers() {
  static const auto* none = new Resolvers;
  const Resolvers* all = registered.load(std::memory_order_acquire);
  return all ? *all : *none;
}

}  // namespace

lamella_status add_dim_resolver(Library& lib, lamella_resolve_dim resolve, void* context, lamella_handle* handle) {
  RegistryLock lock;
  const auto* made = new DimResolver{lib.owner, resolve, context};
  auto* all = new Resolvers(resolvers());
  all->insert(all->begin(), made);
  registered = all;
  const lamella_handle h = enter(lib, [made](lamella_handle) {
    auto* left = new Resolvers(resolvers());
    std::erase(*left, made);
    registered = left;
  });
  if (handle) *handle = h;
  return LAMELLA_OK;
}

bool any_dim_resolver() { return !resolvers().empty(); }

lamella_status resolve_dim(core::Tensor* self, const char* name, int64_t* dim) {
  for (const DimResolver* by : resolvers()) {
    int64_t found = -1;
    const lamella_status st = core::guarded([&] { return by->resolve(by->context, self, name, &found); });
    if (st == LAMELLA_DECLINED) continue;
    if (st) return st;
    if (found < 0 || found >= self->ndim())
      return core::raise(
          LAMELLA_RUNTIME_ERROR,
          core::format("the resolver of %s found dimension %lld for the name '%s', but the tensor has %d "
                       "dimensions, counted from 0",
                       by->owner.c_str(), (long long)found, name, self->ndim()));
    *dim = found;
    return LAMELLA_OK;
  }
  return core::raise(LAMELLA_RUNTIME_ERROR,
                     std::string("there is no dimension '") + name +
                         (any_dim_resolver() ? "', since the first tensor of the call has no names"
                                             : "': no plugin resolves names of dimensions"));
}

}  // namespace lamella::dispatcher
