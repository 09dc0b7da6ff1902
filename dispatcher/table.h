// Table: the immutable snapshot that a call reads: the set of layers that have an entry for the operator, and one entry
// for each of them and for each backend. It is replaced as a whole, never changed, and never freed unless it is pinned
// (see Note [Snapshots] in fill.h).
#pragma once

#include "core/error.h"
#include "dispatcher/operator.h"

namespace lamella::dispatcher {

enum EntryFlags : uint32_t {
  calls_operators = LAMELLA_KERNEL_CALLS_OPERATORS,
  fails_late = LAMELLA_KERNEL_FAILS_LATE,
  takes_opaque = LAMELLA_KERNEL_OPAQUE,
  any_dtype = LAMELLA_KERNEL_ANY_DTYPE,
  between_devices = LAMELLA_KERNEL_BETWEEN_DEVICES,
  composite = 1 << 8,      // written over other operators; allocates its own results
  stays_on = 1 << 9,       // a composite that a layer runs while it stays on
  no_kernel = 1 << 10,     // the shape rule alone serves (meta, views)
  mixed_dtypes = 1 << 11,  // the backend converts operands itself
  copies = 1 << 12,        // the result is a copy of the first argument, whose slots are carried
  stores = 1 << 13         // a kernel, not a composite: its own results are stored in the caller's targets
};
// The highest byte of an entry's flags is the dtype that is its kernel's key; 0, which is a plain dtype, stands for
// none.
inline constexpr int dtype_shift = 24;

// Under AddressSanitizer, copies the arguments into a vector, so that a read beyond the last one is reported.
#ifdef __SANITIZE_ADDRESS__
class Exactly {
 public:
  Exactly(const lamella_frame& f, const lamella_value* args) : own_(args, args + f.num_args) {}
  operator const lamella_value*() const { return own_.data(); }

 private:
  std::vector<lamella_value> own_;
};
#else
struct Exactly {
  Exactly(const lamella_frame&, const lamella_value* args) : args(args) {}
  operator const lamella_value*() const { return args; }
  const lamella_value* args;
};
#endif

struct Entry {
  lamella_kernel fn = nullptr;
  void* context = nullptr;
  uint32_t flags = 0;

  core::DType dtype() const { return static_cast<core::DType>(flags >> dtype_shift); }

  lamella_status operator()(lamella_frame& f, const lamella_value* args, lamella_value* rets) const {
    return core::guarded([&] { return fn(&f, Exactly(f, args), rets); });
  }
};

struct Table {
  uint64_t mask = 0;  // the keys of layers with an entry, and restricted_key
  uint64_t gift = 0;  // last_gift() before the layers were read: a bit that is given later belongs to another layer
  const CallInfo* info = nullptr;
  lamella_infer infer = nullptr;
  void* infer_context = nullptr;
  int32_t num_backends = 0;
  int32_t bytes = 0;
  int32_t num_dtypes = 0;
  uint8_t layer_index[LAMELLA_MAX_LAYERS] = {};
  const Entry* layers = nullptr;
  const Entry* backends = nullptr;
  const Entry* next = nullptr;      // for each backend: the entry for calls that the kernel in `backends` declines
  const Entry* dtypes = nullptr;    // kernels whose keys are dtypes
  const Entry* fallback = nullptr;  // the operator's composite, for arguments that a kernel does not take; or null
  uint64_t forced = 0;              // of a pinned table: the layer at which it begins, whatever keys the tensors have
  bool pinned = false;              // made by pin() for one kernel: never replaced, and freed by its caller

  lamella_status run_infer(lamella_frame& f, const lamella_value* args, lamella_meta* metas) const {
    return core::guarded([&] { return infer(&f, Exactly(f, args), metas); });
  }
};

}  // namespace lamella::dispatcher
