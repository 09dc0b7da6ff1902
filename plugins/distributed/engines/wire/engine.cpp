// The engine "wire", for tests: the engine "mpi" behind a wire that is slow, loses calls, or ends a process. It leaves the
// flag LAMELLA_ENGINE_HOST_MEMORY out, so that every call goes through it.
#include <lamella/library.h>
#include <lamella/process_group.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>

namespace lamella::wire {
namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  double latency = 0, bandwidth = 0;
  int64_t drop = -1, kill = -1;
  int rank = -1;
};

Settings read_settings() {
  Settings s;
  const char* text = std::getenv("LAMELLA_WIRE");
  std::istringstream parts(text ? text : "");
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const double value = equals == std::string::npos ? 0 : std::atof(part.c_str() + equals + 1);
    if (name == "latency")
      s.latency = value;
    else if (name == "bandwidth")
      s.bandwidth = value;
    else if (name == "drop")
      s.drop = static_cast<int64_t>(value);
    else if (name == "kill")
      s.kill = static_cast<int64_t>(value);
    else if (name == "rank")
      s.rank = static_cast<int>(value);
    else
      throw Error(LAMELLA_VALUE_ERROR,
                  "LAMELLA_WIRE: expected latency, bandwidth, drop, kill or rank, got '" + part + "'");
  }
  return s;
}
const Settings& settings() {
  static const Settings read = read_settings();
  return read;
}

const lamella_process_group& inner() {
  static const auto* found = static_cast<const lamella_process_group*>(api().find_interface("process_group.mpi", 1));
  LAMELLA_CHECK(found, "process group 'wire': the engine 'mpi' is not loaded");
  return *found;
}

struct Group {
  void* group;
  int rank;
};
struct Work {
  void* work;  // null: it was lost
  Clock::time_point arrives;
};

std::atomic<int64_t> calls{0};

lamella_status open(void*, lamella_store* store, int32_t rank, int32_t size, int64_t timeout, void** out) {
  return guarded([&] {
    settings();
    void* group = nullptr;
    check(inner().open(inner().context, store, rank, size, timeout, &group));
    *out = new Group{group, rank};
    return LAMELLA_OK;
  });
}

lamella_status split(void* group, const int32_t* ranks, int32_t n, int32_t number, void** out) {
  const auto* whole = static_cast<Group*>(group);
  void* made = nullptr;
  const lamella_status status = inner().split(whole->group, ranks, n, number, &made);
  for (int32_t i = 0; !status && i < n; i++)
    if (ranks[i] == whole->rank) *out = new Group{made, i};
  return status;
}

lamella_status submit(void* group, const lamella_collective* c, void** out) {
  const auto* g = static_cast<Group*>(group);
  const Settings& s = settings();
  const int64_t number = ++calls;
  const bool here = s.rank < 0 || s.rank == g->rank;
  if (here && number == s.kill) std::raise(SIGKILL);
  double seconds = s.latency;
  if (s.bandwidth > 0) seconds += static_cast<double>(c->count * c->itemsize) / s.bandwidth;
  auto* work = new Work{nullptr, Clock::now() + std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9))};
  const lamella_status status = here && number == s.drop ? LAMELLA_OK : inner().submit(g->group, c, &work->work);
  if (status)
    delete work;
  else
    *out = work;
  return status;
}

lamella_status test(void* work, int32_t* done, int32_t* peer) {
  const auto* w = static_cast<Work*>(work);
  *done = 0;
  if (!w->work || Clock::now() < w->arrives) return LAMELLA_OK;
  return inner().test(w->work, done, peer);
}

void release(void* work) {
  auto* w = static_cast<Work*>(work);
  if (w->work) inner().release(w->work);
  delete w;
}

void close(void* group, int32_t orderly) {
  auto* g = static_cast<Group*>(group);
  inner().close(g->group, orderly);
  delete g;
}

lamella_process_group engine = {sizeof engine, 0, 0, nullptr, open, split, submit, test, release, close};

}  // namespace
}  // namespace lamella::wire

LAMELLA_LIBRARY_FRAGMENT(c10d, m) {
  lamella::wire::engine.reduces = lamella::wire::inner().reduces;
  m.interface("process_group.wire", 1, &lamella::wire::engine);
}
