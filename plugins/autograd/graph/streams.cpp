#include "graph/streams.h"

namespace lamella::autograd {

std::atomic<bool> without_streams[known_backends];

void* ask_for_stream(lamella_device d) {
  const lamella_backend* b = api().backend_description(d.backend);
  if (b && b->flags & LAMELLA_BACKEND_HOST && static_cast<unsigned>(d.backend) < known_backends)
    without_streams[d.backend] = true;
  void* s = nullptr;
  if (!b || !b->stream_current || !b->stream_set_current || b->stream_current(b->context, d.index, &s)) {
    api().error_clear();
    return nullptr;
  }
  return s;
}

void Streams::On::enter(Streams& all, lamella_device d, void* stream) {
  void* now = current_stream(d);
  if (!now || now == stream) return;
  all.callers(d);
  const lamella_backend* b = api().backend_description(d.backend);
  if ((status_ = b->stream_set_current(b->context, d.index, stream))) return;
  all.switched_ = true;
  device_ = d;
  before_ = now;
}

void Streams::On::leave() {
  if (const lamella_backend* b = api().backend_description(device_.backend))
    b->stream_set_current(b->context, device_.index, before_);
}

// Returns the caller's stream. The first call for a device comes before On changes that device's stream, so it sees the
// caller's; later calls return the stored one.
void* Streams::callers(lamella_device d) {
  for (const Base& base : bases_)
    if (same(base.device, d)) return base.stream;
  bases_.push_back({d, current_stream(d)});
  return bases_.back().stream;
}

lamella_status Streams::follow(const lamella_tensor* g, void* from, void* to) {
  if (from == to || !to) return LAMELLA_OK;
  const lamella_device d = device_of(g);
  const lamella_backend* b = api().backend_description(d.backend);
  lamella_status st = api().run_behind(d, to, from);
  void* const data = api().storage_data(g->storage);
  if (!st && data && b && b->allocator->record_stream)
    st = b->allocator->record_stream(b->allocator->context, d.index, data, to);
  return st;
}

}  // namespace lamella::autograd
