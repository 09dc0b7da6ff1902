#include "dispatcher/transfer.h"

#include <cstring>

#include "core/device.h"
#include "core/error.h"
#include "core/event.h"
#include "core/storage.h"

namespace lamella::dispatcher {
namespace {

using core::Tensor;

Copying injected;

// Turns off the layers that the call has passed, while it lives.
class PassedLayersGuard {
 public:
  explicit PassedLayersGuard(Frame& f) : calling_(f), thread_(f.thread), saved_(f.thread->exclude) {
    thread_->exclude |= f.passed;
  }
  ~PassedLayersGuard() { thread_->exclude = saved_; }
  PassedLayersGuard(const PassedLayersGuard&) = delete;

 private:
  Calling calling_;
  lamella_thread* thread_;
  uint64_t saved_;
};

// Calls a backend to move bytes. *done: false if the backend does not support the copy.
lamella_status ask(const lamella_backend* b, lamella_device own, const char* what, const lamella_copy& c, bool* done) {
  int32_t moved = 1;
  const lamella_status st = b->copy(b->context, &c, &moved);
  *done = moved != 0;
  return core::from_backend(st, own, what);
}

// Copies between a device and host memory, which its backend must support.
lamella_status with_host(lamella_device device, const char* what, const lamella_copy& c) {
  bool done;
  const lamella_status st = ask(core::backend(device.backend), device, what, c, &done);
  if (st || done) return st;
  return core::raise(LAMELLA_NOT_IMPLEMENTED, core::format("%s: the backend of device '%s' does not support it", what,
                                                           core::device_name(device).c_str()));
}

}  // namespace

void set_copying(const Copying& c) { injected = c; }
const Copying& copying() { return injected; }

lamella_status copy_aside(Frame& f, Tensor* to, Tensor* from) {
  const PassedLayersGuard aside(f);
  return injected.copy(to, from);
}

lamella_status clone_aside(Frame& f, Tensor* from, core::TensorRef* out) {
  const PassedLayersGuard aside(f);
  return injected.clone(from, out);
}

namespace {

// Sends the events of a copy between devices: its begin, and its end when the scope ends.
class CopyEvents {
 public:
  CopyEvents(const Tensor* dst, const Tensor* src, int64_t bytes)
      : event_(core::new_event(LAMELLA_EVENT_COPY, LAMELLA_EVENT_BEGIN)) {
    if (!core::event_wanted(LAMELLA_EVENT_COPY)) return;
    event_.device = dst->device();
    event_.from = src->device();
    event_.bytes = bytes;
    core::send_event(event_);
    sent_ = true;
  }
  ~CopyEvents() {
    if (!sent_) return;
    event_.phase = LAMELLA_EVENT_END;
    core::send_event(event_);
  }
  CopyEvents(const CopyEvents&) = delete;

 private:
  lamella_event event_;
  bool sent_ = false;
};

}  // namespace

lamella_status move_bytes(const Tensor* dst, const Tensor* src, bool non_blocking) {
  const int64_t bytes = src->numel * core::itemsize(src->dtype);
  for (const Tensor* t : {src, dst})
    if (!core::backend(t->backend))
      return core::raise(LAMELLA_RUNTIME_ERROR,
                         std::string("copy_: device '") + core::backend_name(t->backend) + "' is no longer registered");
  if (bytes == 0 || dst->backend == core::meta_backend) return LAMELLA_OK;
  const CopyEvents events(dst, src, bytes);
  lamella_copy c{sizeof c,      non_blocking ? uint32_t{LAMELLA_COPY_NON_BLOCKING} : 0,
                 dst->device(), src->device(),
                 dst->dl.data,  src->dl.data,
                 bytes};
  const bool from_host = core::is_host(src->backend), to_host = core::is_host(dst->backend);
  c.flags |= (from_host ? LAMELLA_COPY_FROM_HOST : 0) | (to_host ? LAMELLA_COPY_TO_HOST : 0);
  if (from_host && to_host) return std::memcpy(c.dst, c.src, bytes), LAMELLA_OK;
  if (from_host) return with_host(dst->device(), "a copy from the host", c);
  if (to_host || src->backend == core::meta_backend) return with_host(src->device(), "a copy to the host", c);
  for (const Tensor* asked : {dst, src}) {
    bool done;
    const std::string what = "a copy from " + core::device_name(src->device());
    if (lamella_status st = ask(core::backend(asked->backend), asked->device(), what.c_str(), c, &done)) return st;
    if (done) return LAMELLA_OK;
  }
  core::Storage* stage;
  const lamella_device host{core::host_backend(), 0};
  if (lamella_status st = core::new_storage(bytes, host, LAMELLA_UINT8, &stage)) return st;
  lamella_copy out = c, in = c;  // both block, since the memory between them is freed at once
  out.flags = LAMELLA_COPY_TO_HOST;
  in.flags = LAMELLA_COPY_FROM_HOST;
  out.to = in.from = host;
  out.dst = stage->data;
  in.src = stage->data;
  lamella_status st = with_host(src->device(), "a copy to the host", out);
  if (!st) st = with_host(dst->device(), "a copy from the host", in);
  core::release(stage);
  return st;
}

lamella_status run_behind(lamella_device device, void* stream, void* behind) {
  const lamella_backend* b = core::backend(device.backend);
  if (!b || stream == behind) return LAMELLA_OK;
  const auto named = [&](lamella_status st) { return core::from_backend(st, device, "an event between streams"); };
  if (!b->event_create || !b->event_record || !b->event_wait || !b->event_destroy)
    return b->stream_synchronize ? named(b->stream_synchronize(b->context, device.index, behind)) : LAMELLA_OK;
  void* event;
  if (lamella_status st = b->event_create(b->context, device.index, 0, &event)) return named(st);
  lamella_status st = b->event_record(b->context, device.index, event, behind);
  if (!st) st = b->event_wait(b->context, device.index, event, stream);
  b->event_destroy(b->context, device.index, event);
  return named(st);
}

}  // namespace lamella::dispatcher
