#include "dispatcher/dims.h"

#include <atomic>

#include "core/error.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

struct DimResolver {
  std::string owner;
  lamella_resolve_dim resolve;
  void* context;
};
// Never freed, because a call may still use a function that another thread withdraws.
std::atomic<const DimResolver*> registered{nullptr};

}  // namespace

lamella_status add_dim_resolver(Library& lib, lamella_resolve_dim resolve, void* context, lamella_handle* handle) {
  RegistryLock lock;
  if (const DimResolver* old = registered)
    return core::raise(LAMELLA_RUNTIME_ERROR, "dim_resolver: names of dimensions are resolved by " + old->owner + "; " +
                                                  lib.owner +
                                                  " cannot resolve them too; switch one of them off, as by "
                                                  "LAMELLA_PLUGINS=-NAME");
  registered = new DimResolver{lib.owner, resolve, context};
  const lamella_handle h = enter(lib, [](lamella_handle) { registered = nullptr; });
  if (handle) *handle = h;
  return LAMELLA_OK;
}

bool any_dim_resolver() { return registered.load(std::memory_order_relaxed) != nullptr; }

lamella_status resolve_dim(core::Tensor* self, const char* name, int64_t* dim) {
  const DimResolver* by = registered;
  if (!by)
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       std::string("there is no dimension '") + name + "': no plugin resolves names of dimensions");
  int64_t found = -1;
  if (lamella_status st = core::guarded([&] { return by->resolve(by->context, self, name, &found); })) return st;
  if (found < 0 || found >= self->ndim())
    return core::raise(LAMELLA_RUNTIME_ERROR, core::format("the resolver of %s found dimension %lld for the name '%s', "
                                                           "but the tensor has %d dimensions, counted from 0",
                                                           by->owner.c_str(), (long long)found, name, self->ndim()));
  *dim = found;
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
