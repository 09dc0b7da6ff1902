// Observers that four threads add and remove while eight run operators, without Python: run under ThreadSanitizer. With
// the word "planted" the observers share a number without a lock, which must be reported.
// Usage: test_observers LIBLAMELLA_CPU LIBLAMELLA_PROFILER SECONDS [planted]
#include <lamella/profiler.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "program_calls.h"

namespace {

std::atomic<bool> stop{false};
std::atomic<long> calls{0}, added{0}, entered{0}, left{0}, destroyed{0};
bool planted = false;
long unlocked = 0;

struct Counted {
  int mine;  // written by the one who adds it, read by those who call it, and gone with it
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

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 4);
  begin_program(argv[1], argv[2]);
  planted = argc > 4 && !std::strcmp(argv[4], "planted");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++) threads.emplace_back(caller);
  for (int i = 0; i < 4; i++) threads.emplace_back(registrar, i);
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(argv[3])));
  stop = true;
  for (auto& t : threads) t.join();
  CHECK(calls > 100 && added > 10 && entered > 100 && entered == left);
  CHECK(destroyed == added);  // each closure went once its observer had gone
  std::printf("ok  %ld calls beside %ld observers, told %ld times\n", calls.load(), added.load(), entered.load());
  return 0;
}
