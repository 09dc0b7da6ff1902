// Copies and casts, within a device and between devices.
#include <atomic>

#include "dispatcher/operators/compose.h"

namespace lamella::dispatcher {
namespace {

lamella_status infer_copy(lamella_frame* f, const Value* a, Meta* m) { return same_with(f, a, 1, m); }

// A copy in a new tensor of the given dtype, device and memory format.
template <class X, class Type, class Where, class Format>
Var copied(Compose& c, const X& x, const Type& dtype, const Where& device, const Format& format) {
  Var to = c.op<"empty_like">(x, dtype, Absent{}, device, Absent{}, format);
  c.op<"copy_">(to, x);
  return to;
}

lamella_status infer_clone(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor* self = tensor_arg(a[0]);
  fresh(m, self->ndim(), self->sizes(), self->dtype);
  return laid_out(f, 1, a[1], self, m);
}

lamella_status clone(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, copied(c, a[0], Absent{}, Absent{}, a[1]));
}

lamella_status contiguous(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Value format = given(a[1]) ? a[1] : Compose::value_of(contiguous_format);
  if (format.tag == LAMELLA_MEMORY_FORMAT && format.as.i == LAMELLA_PRESERVE_FORMAT)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 1) + ": preserve_format asks for no order; pass another");
  if (lies_in(tensor_arg(a[0]), format)) return c.give(r, c.arg(a[0]));
  return c.give(r, c.op<"clone">(a[0], format));
}

Var converted(Compose& c, const Value& self, const Value& dtype, const Value& device, const Value& copy,
              const Value& memory_format) {
  const Tensor* t = tensor_arg(self);
  bool same = dtype_or(dtype, t->dtype) == t->dtype &&
              (device.tag != LAMELLA_DEVICE || core::operator_equal(device.as.device, t->device()));
  if (same && !copy.as.i && lies_in(t, memory_format)) return c.arg(self);
  return copied(c, self, dtype, device, memory_format);
}

// to.dtype(self, dtype, non_blocking, copy, *, memory_format)
lamella_status to_dtype(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, converted(c, a[0], a[1], core::none(), a[3], a[4]));
}
// to.device(self, device, dtype, non_blocking, copy, *, memory_format)
lamella_status to_device(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, converted(c, a[0], a[2], a[1], a[4], a[5]));
}
// to.other(self, other, non_blocking, copy, *, memory_format)
lamella_status to_other(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  const Tensor* o = tensor_arg(a[1]);
  return c.give(r, converted(c, a[0], core::dtype_value(o->dtype), core::device_value(o->device()), a[3], a[4]));
}

lamella_status item(lamella_frame* f, const Value* a, Value* r) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->numel != 1)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": expected one element, got shape " + core::shape_string(t));
  if (t->backend == core::meta_backend)
    return raise(LAMELLA_NOT_IMPLEMENTED, where(f, 0) + ": tensors on device 'meta' have no data");
  Compose c(f);
  const Value to = core::is_host(t->backend) ? core::none() : core::device_value({core::host_backend(), 0});
  const Var host = converted(c, a[0], core::none(), to, core::boolean(false), core::none());
  if (c.status()) return c.status();
  *r = core::read_number(host.tensor());
  if (t->dtype == LAMELLA_UINT64 && r->as.i < 0)
    return raise(LAMELLA_OVERFLOW,
                 where(f, 0) + ": its uint64 is above the 63 bits that a number argument carries; use tolist()");
  return LAMELLA_OK;
}

std::atomic<int64_t> host_copies{0};

lamella_status landed(const Tensor* t, lamella_status st) {
  return core::from_backend(st, t->device(), "a copy from the host");
}
lamella_status fetched(const Tensor* t, lamella_status st) {
  return core::from_backend(st, t->device(), "a copy to the host");
}

// Contiguous bytes between two devices, through host memory.
lamella_status move_bytes(const Tensor* dst, const Tensor* src) {
  int64_t bytes = src->numel * core::itemsize(src->dtype);
  const lamella_backend *from = core::backend(src->backend), *to = core::backend(dst->backend);
  for (const Tensor* t : {src, dst})
    if (!core::backend(t->backend))
      return raise(LAMELLA_RUNTIME_ERROR,
                   std::string("copy_: device '") + core::backend_name(t->backend) + "' is no longer registered");
  if (bytes == 0 || dst->backend == core::meta_backend) return LAMELLA_OK;
  for (const lamella_backend* asked : {to, from})
    if (asked->copy_between) {
      int32_t done = 0;
      lamella_status st =
          asked->copy_between(asked->context, dst->device(), dst->dl.data, src->device(), src->dl.data, bytes, &done);
      if (st) return core::from_backend(st, dst->device(), "a copy from " + core::device_name(src->device()));
      if (done) return LAMELLA_OK;
    }
  int32_t si = src->dl.device.device_id, di = dst->dl.device.device_id;
  if (core::is_host(src->backend) || src->backend == core::meta_backend) {
    if (src->backend == core::meta_backend) return from->copy_to_host(from->context, si, nullptr, nullptr, bytes);
    return landed(dst, to->copy_from_host(to->context, di, dst->dl.data, src->dl.data, bytes));
  }
  if (core::is_host(dst->backend))
    return fetched(src, from->copy_to_host(from->context, si, dst->dl.data, src->dl.data, bytes));
  host_copies++;
  core::Storage* stage;
  if (lamella_status st = core::new_storage(bytes, {core::host_backend(), 0}, &stage)) return st;
  lamella_status st = fetched(src, from->copy_to_host(from->context, si, stage->data, src->dl.data, bytes));
  if (!st) st = landed(dst, to->copy_from_host(to->context, di, dst->dl.data, stage->data, bytes));
  core::release(stage);
  return st;
}

}  // namespace

// Between devices: contiguous on the source's side, bytes over, then converted and laid out on the host's or, where
// neither is a host, the destination's side.
lamella_status copy_between_devices(lamella_frame* f, const Value* a) {
  Compose c(f);
  const Tensor *dst = tensor_arg(a[0]), *src = tensor_arg(a[1]);
  const Var packed = c.op<"contiguous">(a[1]);
  if (c.status()) return c.status();
  const Tensor* p = packed.tensor();
  if (dst->contiguous() && dst->dtype == p->dtype && dst->numel == p->numel) return move_bytes(dst, p);
  if (core::is_host(src->backend) && dst->dtype != p->dtype) {  // convert here, then go over
    c.op<"copy_">(a[0], c.op<"to.dtype">(packed, As{dst->dtype}));
    return c.status();
  }
  const Var landed = c.op<"empty_like">(packed, Absent{}, Absent{}, dst->device());
  if (c.status()) return c.status();
  if (lamella_status st = move_bytes(landed.tensor(), p)) return st;
  c.op<"copy_">(a[0], landed);
  return c.status();
}

const std::vector<Declaration>& copy_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", "copy", method | function,
       infer_copy, nullptr,
       "Copies `src` into `self`, converting the dtype and broadcasting; the devices may differ.\n\n>>> "
       "lamella.zeros(2).copy_(lamella.tensor([1, 2]))\ntensor([1., 2.])\n"},
      {"clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "copy", everywhere, infer_clone, clone,
       "A copy with memory of its own.\n\n>>> lamella.clone(lamella.tensor([1, 2]))\ntensor([1, 2])\n"},
      {"contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)", "copy", method,
       nullptr, contiguous,
       "`self` if its elements lie in row-major order, else such a copy.\n\n>>> lamella.ones(2, "
       "3).t().contiguous().stride()\n(2, 1)\n"},
      {"to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? "
       "memory_format=None) -> Tensor(a)",
       "copy", method, nullptr, to_dtype,
       "`self` in another dtype or on another device; itself if nothing changes and `copy` is false.\n\n>>> "
       "lamella.tensor([1, 2]).to(lamella.float32)\ntensor([1., 2.])\n"},
      {"to.device(Tensor(a) self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, bool "
       "copy=False, *, MemoryFormat? memory_format=None) -> Tensor(a)",
       "copy", method, nullptr, to_device, nullptr},
      {"to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, *, MemoryFormat? "
       "memory_format=None) -> Tensor(a)",
       "copy", method, nullptr, to_other, nullptr},
      {"item(Tensor self) -> Scalar", "host", method, nullptr, item,
       "The one element as a Python number.\n\nRaises:\n    RuntimeError: there is not exactly one element\n\n>>> "
       "lamella.tensor([3.5]).item()\n3.5\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
