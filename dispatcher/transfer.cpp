#include "dispatcher/transfer.h"

#include "core/device.h"
#include "core/error.h"
#include "core/event.h"
#include "core/storage.h"

namespace lamella::dispatcher {
namespace {

using core::Tensor;

Copying injected;

// Layers that the call has passed are off while this lives.
class Aside {
 public:
  explicit Aside(Frame& f) : calling_(f), thread_(f.thread), saved_(f.thread->exclude) { thread_->exclude |= f.passed; }
  ~Aside() { thread_->exclude = saved_; }
  Aside(const Aside&) = delete;

 private:
  Calling calling_;
  lamella_thread* thread_;
  uint64_t saved_;
};

lamella_status from_host(const lamella_backend* to, const Tensor* dst, const void* bytes, int64_t size) {
  const int32_t index = dst->dl.device.device_id;
  return core::from_backend(to->copy_from_host(to->context, index, dst->dl.data, bytes, size), dst->device(),
                            "a copy from the host");
}
lamella_status to_host(const lamella_backend* from, const Tensor* src, void* bytes, int64_t size) {
  const int32_t index = src->dl.device.device_id;
  return core::from_backend(from->copy_to_host(from->context, index, bytes, src->dl.data, size), src->device(),
                            "a copy to the host");
}

}  // namespace

void set_copying(const Copying& c) { injected = c; }
const Copying& copying() { return injected; }

lamella_status copy_aside(Frame& f, Tensor* to, Tensor* from) {
  const Aside aside(f);
  return injected.copy(to, from);
}

lamella_status clone_aside(Frame& f, Tensor* from, core::TensorRef* out) {
  const Aside aside(f);
  return injected.clone(from, out);
}

namespace {

// Tells of a copy between devices as it begins and ends.
class Told {
 public:
  Told(const Tensor* dst, const Tensor* src, int64_t bytes)
      : event_(core::new_event(LAMELLA_EVENT_COPY, LAMELLA_EVENT_BEGIN)) {
    if (!core::event_wanted(LAMELLA_EVENT_COPY)) return;
    event_.device = dst->device();
    event_.from = src->device();
    event_.bytes = bytes;
    core::send_event(event_);
    told_ = true;
  }
  ~Told() {
    if (!told_) return;
    event_.phase = LAMELLA_EVENT_END;
    core::send_event(event_);
  }
  Told(const Told&) = delete;

 private:
  lamella_event event_;
  bool told_ = false;
};

}  // namespace

lamella_status move_bytes(const Tensor* dst, const Tensor* src) {
  const int64_t bytes = src->numel * core::itemsize(src->dtype);
  const lamella_backend *from = core::backend(src->backend), *to = core::backend(dst->backend);
  for (const Tensor* t : {src, dst})
    if (!core::backend(t->backend))
      return core::raise(LAMELLA_RUNTIME_ERROR,
                         std::string("copy_: device '") + core::backend_name(t->backend) + "' is no longer registered");
  if (bytes == 0 || dst->backend == core::meta_backend) return LAMELLA_OK;
  const Told told(dst, src, bytes);
  for (const lamella_backend* asked : {to, from})
    if (asked->copy_between) {
      int32_t done = 0;
      lamella_status st =
          asked->copy_between(asked->context, dst->device(), dst->dl.data, src->device(), src->dl.data, bytes, &done);
      if (st) return core::from_backend(st, dst->device(), "a copy from " + core::device_name(src->device()));
      if (done) return LAMELLA_OK;
    }
  if (src->backend == core::meta_backend) return to_host(from, src, nullptr, bytes);  // an error: there is no data
  if (core::is_host(src->backend)) return from_host(to, dst, src->dl.data, bytes);
  if (core::is_host(dst->backend)) return to_host(from, src, dst->dl.data, bytes);
  core::Storage* stage;
  if (lamella_status st = core::new_storage(bytes, {core::host_backend(), 0}, &stage)) return st;
  lamella_status st = to_host(from, src, stage->data, bytes);
  if (!st) st = from_host(to, dst, stage->data, bytes);
  core::release(stage);
  return st;
}

}  // namespace lamella::dispatcher
