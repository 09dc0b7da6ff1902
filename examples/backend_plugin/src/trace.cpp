// Reports tasks to profiles: when each one ran, by the device's own clock, and the number of its launch.
#include <chrono>
#include "streams.h"

namespace bank {
namespace {
std::atomic<const lamella_device_sink*> sink{nullptr};  // null if no profile is open

int64_t steady() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
}  // namespace

// The device's clock. As in hardware it differs from the host's: it starts at another number, and is slower by one part
// in ten thousand.
int64_t device_time() {
  static const int64_t zero = steady();
  const int64_t passed = steady() - zero;
  return 77'000'000'000 + passed - passed / 10'000;
}

uint64_t launched() {
  const lamella_device_sink* s = sink.load(std::memory_order_acquire);
  return s ? s->launched() : 0;
}

void tell(const Stream& stream, const Label& label, uint64_t launch, int64_t begin) {
  const lamella_device_sink* s = sink.load(std::memory_order_acquire);
  if (!s) return;
  lamella_device_activity a{};
  a.end = device_time();
  a.size = sizeof a;
  a.kind = label.name ? LAMELLA_ACTIVITY_KERNEL : LAMELLA_ACTIVITY_COPY;
  a.name = label.name;
  if (lamella::api().find_backend("bank", &a.device.backend)) return lamella::api().error_clear();
  a.device.index = stream.device;
  a.to = label.to;
  a.from = label.from;
  a.stream = stream.number;
  a.launch = launch;
  a.begin = begin;
  a.bytes = label.name ? 0 : label.bytes;
  s->activity(&a);
}

void add_trace(lamella::Library& m) {
  static const lamella_device_trace table = {
      sizeof table,
      0,
      nullptr,
      [](void*, const lamella_device_sink* given) -> lamella_status { return sink = given, LAMELLA_OK; },
      [](void*) -> lamella_status {
        return closed([] {
          for (int32_t i = 0; i < devices; i++) wait_for_all(i);
          return LAMELLA_OK;
        });
      },
      [](void*) { sink = nullptr; },
      [](void*, int32_t, int64_t* ns) -> lamella_status { return *ns = device_time(), LAMELLA_OK; }};
  m.interface("device_trace.bank", 1, &table);
}
}  // namespace bank
