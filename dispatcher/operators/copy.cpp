// Copies and casts, within a device and between devices.
#include <atomic>

#include "dispatcher/operators/rules.h"

namespace lattis::dispatcher {
namespace {

lattis_status infer_copy(lattis_frame* f, const Value* a, Meta* m) { return same_with(f, a, 1, m); }

const Callee& empty_like() {
  static const Callee c("empty_like", "");
  return c;
}
const Callee& copy_() {
  static const Callee c("copy_", "");
  return c;
}

// copy_ for its effect.
lattis_status copy_into(lattis_frame* f, const Value& dst, const Value& src) {
  Value same = core::none();
  lattis_status st = copy_()(f, {dst, src, core::boolean(false)}, &same);
  core::release_value(same);
  return st;
}

// A copy of a[0] in a new tensor of the given dtype, device and memory format.
lattis_status copied(lattis_frame* f, const Value& self, const Value& dtype, const Value& device,
                     const Value& memory_format, Value* r) {
  if (lattis_status st = empty_like()(f, {self, dtype, core::none(), device, core::none(), memory_format}, r))
    return st;
  lattis_status st = copy_into(f, *r, self);
  if (st) core::release_value(*r);
  return st;
}

lattis_status clone(lattis_frame* f, const Value* a, Value* r) {
  return copied(f, a[0], core::none(), core::none(), a[1], r);
}

lattis_status contiguous(lattis_frame* f, const Value* a, Value* r) {
  if (a[1].tag == LATTIS_MEMORY_FORMAT && a[1].as.i == LATTIS_PRESERVE_FORMAT)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 1) + ": preserve_format asks for no order; pass another");
  if (lies_in(tensor_arg(a[0]), given(a[1]) ? a[1] : Value{LATTIS_MEMORY_FORMAT, 0, {LATTIS_CONTIGUOUS_FORMAT}})) {
    *r = core::retain_value(a[0]);
    return LATTIS_OK;
  }
  return copied(f, a[0], core::none(), core::none(),
                given(a[1]) ? a[1] : Value{LATTIS_MEMORY_FORMAT, 0, {LATTIS_CONTIGUOUS_FORMAT}}, r);
}

lattis_status convert(lattis_frame* f, const Value& self, const Value& dtype, const Value& device, const Value& copy,
                      const Value& memory_format, Value* r) {
  const Tensor* t = tensor_arg(self);
  bool same = dtype_or(dtype, t->dtype) == t->dtype &&
              (device.tag != LATTIS_DEVICE || core::operator_equal(device.as.device, t->device()));
  if (same && !copy.as.i && lies_in(t, memory_format)) {
    *r = core::retain_value(self);
    return LATTIS_OK;
  }
  return copied(f, self, dtype, device, memory_format, r);
}

// to.dtype(self, dtype, non_blocking, copy, *, memory_format)
lattis_status to_dtype(lattis_frame* f, const Value* a, Value* r) {
  return convert(f, a[0], a[1], core::none(), a[3], a[4], r);
}
// to.device(self, device, dtype, non_blocking, copy, *, memory_format)
lattis_status to_device(lattis_frame* f, const Value* a, Value* r) {
  return convert(f, a[0], a[2], a[1], a[4], a[5], r);
}
// to.other(self, other, non_blocking, copy, *, memory_format)
lattis_status to_other(lattis_frame* f, const Value* a, Value* r) {
  const Tensor* o = tensor_arg(a[1]);
  return convert(f, a[0], core::dtype_value(o->dtype), core::device_value(o->device()), a[3], a[4], r);
}

lattis_status item(lattis_frame* f, const Value* a, Value* r) {
  const Tensor* t = tensor_arg(a[0]);
  if (t->numel != 1)
    return raise(LATTIS_RUNTIME_ERROR, where(f, 0) + ": expected one element, got shape " + core::shape_string(t));
  if (t->backend == core::meta_backend)
    return raise(LATTIS_NOT_IMPLEMENTED, where(f, 0) + ": tensors on device 'meta' have no data");
  Value host = core::none();
  lattis_device cpu = {core::host_backend(), 0};
  if (lattis_status st =
          convert(f, a[0], core::none(), core::is_host(t->backend) ? core::none() : core::device_value(cpu),
                  core::boolean(false), core::none(), &host))
    return st;
  *r = core::read_number(host.as.tensor);
  core::release_value(host);
  if (t->dtype == LATTIS_UINT64 && r->as.i < 0)
    return raise(LATTIS_OVERFLOW,
                 where(f, 0) + ": its uint64 is above the 63 bits that a number argument carries; use tolist()");
  return LATTIS_OK;
}

std::atomic<int64_t> host_copies{0};

lattis_status landed(const Tensor* t, lattis_status st) {
  return core::from_backend(st, t->device(), "a copy from the host");
}
lattis_status fetched(const Tensor* t, lattis_status st) {
  return core::from_backend(st, t->device(), "a copy to the host");
}

// Contiguous bytes between two devices, through host memory.
lattis_status move_bytes(const Tensor* dst, const Tensor* src) {
  int64_t bytes = src->numel * core::itemsize(src->dtype);
  const lattis_backend *from = core::backend(src->backend), *to = core::backend(dst->backend);
  for (const Tensor* t : {src, dst})
    if (!core::backend(t->backend))
      return raise(LATTIS_RUNTIME_ERROR,
                   std::string("copy_: device '") + core::backend_name(t->backend) + "' is no longer registered");
  if (bytes == 0 || dst->backend == core::meta_backend) return LATTIS_OK;
  int32_t si = src->dl.device.device_id, di = dst->dl.device.device_id;
  if (core::is_host(src->backend) || src->backend == core::meta_backend) {
    if (src->backend == core::meta_backend) return from->copy_to_host(from->context, si, nullptr, nullptr, bytes);
    return landed(dst, to->copy_from_host(to->context, di, dst->dl.data, src->dl.data, bytes));
  }
  if (core::is_host(dst->backend))
    return fetched(src, from->copy_to_host(from->context, si, dst->dl.data, src->dl.data, bytes));
  host_copies++;
  core::Storage* stage;
  if (lattis_status st = core::new_storage(bytes, {core::host_backend(), 0}, &stage)) return st;
  lattis_status st = fetched(src, from->copy_to_host(from->context, si, stage->data, src->dl.data, bytes));
  if (!st) st = landed(dst, to->copy_from_host(to->context, di, dst->dl.data, stage->data, bytes));
  core::release(stage);
  return st;
}

}  // namespace

// Between devices: contiguous on the source's side, bytes over, then converted and laid out on the host's or, where
// neither is a host, the destination's side.
lattis_status copy_between_devices(lattis_frame* f, const Value* a) {
  const Tensor *dst = tensor_arg(a[0]), *src = tensor_arg(a[1]);
  static const Callee contiguous_op("contiguous", "");
  Value packed = core::none(), landed = core::none();
  lattis_status st = contiguous_op(f, {a[1], core::none()}, &packed);
  const Tensor* p = st ? nullptr : tensor_arg(packed);
  bool direct = !st && dst->contiguous() && dst->dtype == p->dtype && dst->numel == p->numel;
  if (!st && direct) {
    st = move_bytes(dst, p);
  } else if (!st && core::is_host(src->backend) && dst->dtype != p->dtype) {  // convert here, then go over
    Value converted = core::none();
    st =
        convert(f, packed, core::dtype_value(dst->dtype), core::none(), core::boolean(false), core::none(), &converted);
    if (!st) st = copy_into(f, a[0], converted);
    core::release_value(converted);
  } else if (!st) {
    st = empty_like()(
        f, {packed, core::none(), core::none(), core::device_value(dst->device()), core::none(), core::none()},
        &landed);
    if (!st) st = move_bytes(tensor_arg(landed), p);
    if (!st) st = copy_into(f, a[0], landed);
  }
  core::release_value(packed);
  core::release_value(landed);
  return st;
}

const std::vector<Declaration>& copy_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)", "copy", method | function,
       infer_copy, nullptr,
       "Copies `src` into `self`, converting the dtype and broadcasting; the devices may differ.\n\n>>> "
       "lattis.zeros(2).copy_(lattis.tensor([1, 2]))\ntensor([1., 2.])\n"},
      {"clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "copy", everywhere, nullptr, clone,
       "A copy with memory of its own.\n\n>>> lattis.clone(lattis.tensor([1, 2]))\ntensor([1, 2])\n"},
      {"contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)", "copy", method,
       nullptr, contiguous,
       "`self` if its elements lie in row-major order, else such a copy.\n\n>>> lattis.ones(2, "
       "3).t().contiguous().stride()\n(2, 1)\n"},
      {"to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? "
       "memory_format=None) -> Tensor(a)",
       "copy", method, nullptr, to_dtype,
       "`self` in another dtype or on another device; itself if nothing changes and `copy` is false.\n\n>>> "
       "lattis.tensor([1, 2]).to(lattis.float32)\ntensor([1., 2.])\n"},
      {"to.device(Tensor(a) self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, bool "
       "copy=False, *, MemoryFormat? memory_format=None) -> Tensor(a)",
       "copy", method, nullptr, to_device, nullptr},
      {"to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, *, MemoryFormat? "
       "memory_format=None) -> Tensor(a)",
       "copy", method, nullptr, to_other, nullptr},
      {"item(Tensor self) -> Scalar", "host", method, nullptr, item,
       "The one element as a Python number.\n\nRaises:\n    RuntimeError: there is not exactly one element\n\n>>> "
       "lattis.tensor([3.5]).item()\n3.5\n"},
  };
  return *table;
}

}  // namespace lattis::dispatcher
