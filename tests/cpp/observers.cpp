// Eight threads run operators while four add and remove observers and a fifth makes traces, without Python; run under
// ThreadSanitizer. With the word "planted" the observers share a number without a lock, which must be reported. Usage:
// test_observers LIBLAMELLA_CPU LIBLAMELLA_PROFILER SECONDS [planted]
#include <lamella/profiler.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "program_calls.h"

namespace {

std::atomic<bool> stop{false};
std::atomic<long> calls{0}, added{0}, entered{0}, left{0}, destroyed{0}, traced{0};
bool planted = false;
long unlocked = 0;

struct Counted {
  int mine;  // the adding thread writes it, calling threads read it
  explicit Counted(int which) : mine(which) {}
  Counted(const Counted&) = delete;
  ~Counted() {
    mine = -1;
    destroyed++;
  }
};

void caller() {
  const Ones ones;
  while (!stop) {
    const lamella::RecordBlock block("call");
    const lamella::DebugInfoGuard info("caller", int64_t{calls});
    ones.add();
    calls++;
  }
}

void registrar(int which) {
  using lamella::RecordFunction;
  using lamella::RecordScope;
  const Ones ones;
  while (!stop) {
    const auto counted = std::make_shared<Counted>(which);
    lamella::RecordFunctionCallback callback(
        [counted, which](const RecordFunction& r) {
          CHECK(counted->mine == which && !r.name().empty());
          if (planted) unlocked++;
          entered++;
          return which;
        },
        [counted, which](const RecordFunction&, int context) {
          CHECK(context == which && counted->mine == which);
          left++;
        });
    callback.sampling_prob(which % 2 ? 1 : 0.5).needs_ids(which > 1);
    callback.scopes({RecordScope::FUNCTION, RecordScope::USER_SCOPE, RecordScope::KERNEL});
    const uint64_t handle =
        which == 3 ? lamella::add_thread_local_callback(callback) : lamella::add_global_callback(callback);
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    ones.add();
    lamella::disable_callback(handle);
    lamella::reenable_callback(handle);
    lamella::remove_callback(handle);
    added++;
  }
}

// Makes traces, one at a time, and reads each while the others run.
void tracer() {
  const lamella_profiler& p = lamella::profiler_interface();
  for (uint32_t n = 0; !stop; n++) {
    lamella_trace_options options{};
    options.size = sizeof options;
    options.flags = n % 2 ? LAMELLA_TRACE_SHAPES | LAMELLA_TRACE_MEMORY : 0;
    lamella_trace* trace;
    lamella::check(p.trace_start(&options, &trace));
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    lamella::check(p.trace_stop(trace));
    const auto count = [](void*, const lamella_trace_event* e) -> lamella_status {
      CHECK(e->name && e->end >= e->begin);
      traced++;
      return LAMELLA_OK;
    };
    lamella::check(p.trace_events(trace, count, nullptr));
    p.trace_free(trace);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 4);
  begin_program(argv[1], argv[2]);
  planted = argc > 4 && !std::strcmp(argv[4], "planted");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++) threads.emplace_back(caller);
  for (int i = 0; i < 4; i++) threads.emplace_back(registrar, i);
  threads.emplace_back(tracer);
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(argv[3])));
  stop = true;
  for (auto& t : threads) t.join();
  CHECK(calls > 100 && added > 10 && entered > 100 && entered == left && traced > 100);
  CHECK(destroyed == added);  // each closure was destroyed after its observer was removed
  std::printf("ok  %ld calls beside %ld observers, told %ld times, traced %ld times\n", calls.load(), added.load(),
              entered.load(), traced.load());
  return 0;
}
