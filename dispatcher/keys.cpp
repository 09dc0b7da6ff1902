#include "dispatcher/keys.h"

#include <atomic>
#include <cctype>
#include <cstring>

#include "core/device.h"
#include "core/dtype.h"
#include "core/error.h"
#include "dispatcher/fill.h"
#include "dispatcher/layer.h"
#include "dispatcher/operators.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {
namespace {

// Raises if a name is already that of something of another kind, or is no key as it is spelled: kernels are registered
// under the names of layers, devices and dtypes.
lamella_status check_key(const char* what, const std::string& name) {
  const core::DType t = core::dtype_from_name(name.c_str());
  const char* other = what;
  if (layer_bit(name) >= 0)
    other = "layer";
  else if (core::backend_id(name.c_str()) >= 0)
    other = "backend";
  else if (t != LAMELLA_NO_DTYPE && !core::is_plain(t))
    other = "dtype";
  if (std::strcmp(other, what))
    return core::raise(LAMELLA_VALUE_ERROR, std::string(what) + ": '" + name + "' is the name of a " + other +
                                                " already, and kernels are registered under these names");
  std::string key;
  if (lamella_status st = read_key(what, name, &key)) return st;
  if (key == name && name != "backend" && name != "composite") return LAMELLA_OK;
  return core::raise(LAMELLA_VALUE_ERROR, std::string(what) + ": '" + name +
                                              "' cannot be its name: as a key of kernels it means '" + key + "'");
}

struct ForeignKey {
  const char* begin;  // of a torch key
  const char* advice;
};
constexpr const char* a_key = "expected the name of a device or a layer, 'backend' or 'composite'";
constexpr ForeignKey foreign_keys[] = {
    {"Autograd", "register_autograd gives an operator its derivative"},
    {"Autocast", "register_autocast says to which dtype autocast casts"},
    {"FuncTorchBatched", "register_vmap gives an operator its batching rule"},
    {"FuncTorchVmap", "register_vmap gives an operator its batching rule"},
    {"Batched", "register_vmap gives an operator its batching rule"},
    {"Vmap", "register_vmap gives an operator its batching rule"},
    {"PrivateUse", "a backend has the name that it registers itself by"},
    {"CompositeImplicitAutograd", a_key},  // also "CompositeImplicitAutogradNestedTensor" and the like
    {"CompositeExplicitAutograd", a_key},
    {"BackendSelect", a_key},
    {"Functionalize", a_key},
    {"FuncTorch", a_key},
    {"Python", a_key},
    {"ADInplaceOrView", a_key},
    {"Conjugate", a_key},
    {"Negative", a_key},
    {"ZeroTensor", a_key},
    {"Tracer", a_key},
    {"PreDispatch", a_key},
    {"Undefined", a_key},
    {"CatchAll", a_key},
    {"Named", a_key},
    {"Dense", a_key},
    {"Sparse", a_key},
    {"Quantized", a_key},
    {"Mkldnn", a_key},
    {"NestedTensor", a_key},
};

// Returns whether a key is `begin` or `begin` followed by no small letter: "Autograd", "AutogradCPU", but not
// "Autographs".
bool is_of_family(const std::string& key, const char* begin) {
  const size_t n = std::strlen(begin);
  return key.compare(0, n, begin) == 0 && (key.size() == n || !std::islower(static_cast<unsigned char>(key[n])));
}

}  // namespace

lamella_status read_key(const std::string& who, const std::string& key, std::string* out) {
  const auto wrong = [&](const std::string& what) { return core::raise(LAMELLA_VALUE_ERROR, who + ": " + what); };
  if (const size_t colon = key.find(':'); colon != std::string::npos)
    return wrong("expected the name of a type of device, got '" + key +
                 "'; a kernel serves every device of its type: '" + key.substr(0, colon) + "'");
  bool word = !key.empty() && !std::isdigit(static_cast<unsigned char>(key[0])), capitals = false, small = false;
  for (const unsigned char c : key) {
    word &= std::isalnum(c) || c == '_' || c == '-' || c == '.';
    capitals |= std::isupper(c) != 0;
    small |= std::islower(c) != 0;
  }
  if (!word) return wrong("expected a name of letters, digits, '_', '-' and '.', got '" + key + "'");
  if (key == "CompositeImplicitAutograd") return *out = "composite", LAMELLA_OK;
  if (key == "CompositeExplicitAutograd" || key == "CompositeExplicitAutogradNonFunctional" || key == "default")
    return *out = "backend", LAMELLA_OK;
  if (key == "Meta") return *out = "meta", LAMELLA_OK;
  for (const ForeignKey& f : foreign_keys)
    if (is_of_family(key, f.begin))
      return wrong("'" + key + "' is a key of torch that Lamella does not have; " + f.advice);
  *out = key;
  if (capitals && !small)
    for (char& c : *out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return LAMELLA_OK;
}

lamella_status register_layer(Library& lib, const lamella_layer& desc, int32_t* bit, lamella_handle* handle) {
  RegistryLock lock;
  int32_t b;
  if (lamella_status st = check_key("layer", desc.name)) return st;
  if (lamella_status st = add_layer(desc, lib.owner, &b)) return st;
  lamella_handle h = enter(lib, [b](lamella_handle) {
    remove_layer(b);
    invalidate_all();
  });
  invalidate_all();
  if (bit) *bit = b;
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status include_layers(Library& lib, uint64_t bits, lamella_handle* handle) {
  RegistryLock lock;
  for (uint64_t left = bits; left; left &= left - 1)
    if (const Layer* l = layer(__builtin_ctzll(left)); !l || !l->live)
      return core::raise(LAMELLA_VALUE_ERROR,
                         core::format("process_include: no layer has bit %d, which is set in 'bits', 0x%llx",
                                      __builtin_ctzll(left), (unsigned long long)bits));
  std::vector<Inclusion> on;
  for (uint64_t left = bits; left; left &= left - 1) on.push_back(include_in_process(__builtin_ctzll(left)));
  const lamella_handle h = enter(lib, [on](lamella_handle) {
    for (const Inclusion& i : on) end_inclusion(i);
  });
  if (handle) *handle = h;
  return LAMELLA_OK;
}

lamella_status register_backend(Library& lib, const lamella_backend& desc, int32_t* id, lamella_handle* handle) {
  RegistryLock lock;
  int32_t i;
  if (lamella_status st = check_key("backend", desc.name)) return st;
  if (!desc.allocator || !desc.allocator->alloc || !desc.allocator->free)
    return core::raise(LAMELLA_VALUE_ERROR, std::string("backend ") + desc.name + ": it has no allocator");
  if (!(desc.flags & LAMELLA_BACKEND_HOST) && !desc.copy)
    return core::raise(LAMELLA_VALUE_ERROR,
                       std::string("backend ") + desc.name + ": a backend that is not a host needs 'copy'");
  const int32_t known = core::backend_count();
  if (lamella_status st = core::add_backend(desc, lib.owner, &i)) return st;
  lamella_handle h = enter(lib, [i](lamella_handle) {
    core::remove_backend(i);
    invalidate_all();
  });
  if (i < known) invalidate_all();        // a backend registered again: tables filled in between have no entry for it
  for (Operator* op : known_operators())  // kernels may have been registered before this device
    for (const Registration& r : (op->functional ? op->functional : op)->kernels)
      if (r.key == desc.name) invalidate(op);
  if (id) *id = i;
  if (handle) *handle = h;
  return LAMELLA_OK;
}

namespace {

// The description of each dtype. A registration makes a new one; old ones are never freed, since kernels may read them.
std::atomic<const lamella_dtype_def*> descriptions[256];

void describe(core::DType t) {
  const core::DTypeInfo& info = core::dtype_info(t);
  descriptions[t].store(new lamella_dtype_def{sizeof(lamella_dtype_def), info.itemsize, info.name, info.dtype_class,
                                              info.dlpack, info.to_float32, info.from_float32, nullptr, 0, 0},
                        std::memory_order_release);
}

lamella_status check_dtype(const lamella_dtype_def& d) {
  const auto wrong = [&d](const std::string& what) {
    return core::raise(LAMELLA_VALUE_ERROR, std::string("dtype_register: ") + (d.name ? d.name : "") + what);
  };
  if (!d.name) return wrong("'name' must not be null");
  if (d.itemsize < 1 || d.itemsize > 16 || (d.itemsize & (d.itemsize - 1)))
    return wrong(core::format(": 'itemsize' is %d; it must be 1, 2, 4, 8 or 16", d.itemsize));
  if (d.dtype_class != LAMELLA_CLASS_BOOL && d.dtype_class != LAMELLA_CLASS_INTEGRAL &&
      d.dtype_class != LAMELLA_CLASS_FLOATING)
    return wrong(
        core::format(": 'dtype_class' is %u; it must be LAMELLA_CLASS_BOOL, _INTEGRAL or _FLOATING", d.dtype_class));
  if (!d.to_float32 || !d.from_float32) return wrong(": 'to_float32' and 'from_float32' must not be null");
  if (d.dlpack.bits * d.dlpack.lanes != 8 * d.itemsize)
    return wrong(core::format(": 'dlpack' has %d bits and %d lanes, which do not make the %d bytes of 'itemsize'",
                              d.dlpack.bits, d.dlpack.lanes, d.itemsize));
  if (d.num_promotions < 0)
    return wrong(core::format(": 'num_promotions' is %d; it must not be negative", d.num_promotions));
  if (d.num_promotions > 0 && !d.promotions) return wrong(": 'promotions' must not be null");
  for (int32_t i = 0; i < d.num_promotions; i++) {
    const auto [with, result] = d.promotions[i];
    const bool meant = result == LAMELLA_THIS_DTYPE || result == LAMELLA_NO_DTYPE || core::is_dtype(result);
    if (!core::is_dtype(with) || !meant)
      return wrong(core::format(": 'promotions' names the dtype %d, which does not exist", meant ? with : result));
  }
  return check_key("dtype", d.name);
}

}  // namespace

lamella_status register_dtype(Library& lib, const lamella_dtype_def& def, int32_t* dtype, lamella_handle* handle) {
  RegistryLock lock;
  core::DType t;
  if (lamella_status st = check_dtype(def)) return st;
  if (lamella_status st = core::add_dtype(def, lib.owner, &t)) return st;
  describe(t);
  const lamella_handle h = enter(lib, [t](lamella_handle) {
    core::withdraw_dtype(t);
    invalidate_all();
  });
  invalidate_all();
  if (dtype) *dtype = t;
  if (handle) *handle = h;
  return LAMELLA_OK;
}

const lamella_dtype_def* describe_dtype(int32_t dtype) {
  static const bool own = [] {
    for (int t = 0; t < LAMELLA_FIRST_PLUGIN_DTYPE; t++)
      if (core::is_dtype(t)) describe(static_cast<core::DType>(t));
    return true;
  }();
  (void)own;
  return dtype >= 0 && dtype < LAMELLA_NO_DTYPE ? descriptions[dtype].load(std::memory_order_acquire) : nullptr;
}

}  // namespace lamella::dispatcher
