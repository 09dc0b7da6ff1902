// The threads of futures, and their results.
#include "run/future.h"

#include "run/forks.h"
#include "run/shared_state.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

namespace lamella::graph {
namespace {

struct Future {
  lamella_object object{1, &future_type};
  enum class State : uint8_t { waiting, running, done } state = State::waiting;
  std::mutex lock;
  std::condition_variable ended;
  std::shared_ptr<const Executable> exe;
  Limits limits;
  const Code* callee = nullptr;
  std::vector<lamella_value> args;
  lamella_captured* thread = nullptr;  // the settings of the thread that forked
  lamella_value result = none();
  std::optional<Error> error;
  std::vector<std::string> trace;  // the calls that were under way at the error

  bool is_done() {
    const std::lock_guard<std::mutex> guard(lock);
    return state == State::done;
  }
  void wait_a_moment() {  // so that the one who waits can be interrupted
    std::unique_lock<std::mutex> guard(lock);
    ended.wait_for(guard, std::chrono::milliseconds(50), [this] { return state == State::done; });
  }
};

Future& future_of(const lamella_value& v) { return *reinterpret_cast<Future*>(v.as.object); }

}  // namespace

void delete_future(lamella_object* o) {
  auto* f = reinterpret_cast<Future*>(o);
  for (lamella_value& v : f->args) release(v);
  release(f->result);
  api().thread_discard(f->thread);
  delete f;
}

namespace {

// A wait that runs the function itself takes as much of the stack as this many calls.
constexpr int64_t depth_of_wait = 8;

// Runs the function if nobody does yet, within `depth` calls. Returns whether it ran here.
bool run_here(Future& f, int64_t depth) {
  {
    const std::lock_guard<std::mutex> guard(f.lock);
    if (f.state != Future::State::waiting) return false;
    f.state = Future::State::running;
  }
  lamella_value result = none();
  std::optional<Error> error;
  std::vector<lamella_value> args = std::move(f.args);
  f.args.clear();
  bool swapped = false, begun = false;
  std::optional<Machine> machine;
  try {
    if (f.thread) check(api().thread_swap(f.thread));
    swapped = f.thread != nullptr;
    const SharedState state(f.exe->uses_shared);
    Limits limits = f.limits;
    limits.depth = std::max(limits.depth, depth);
    machine.emplace(*f.exe, limits);
    begun = true;  // the run takes the arguments over
    machine->run(*f.callee, args.data(), &result);
  } catch (const Error& e) {
    error.emplace(e);
    api().error_clear();
  } catch (const std::exception& e) {
    error.emplace(LAMELLA_RUNTIME_ERROR, e.what());
  }
  if (swapped) api().thread_swap(f.thread);
  if (!begun)
    for (lamella_value& v : args) release(v);
  const std::lock_guard<std::mutex> guard(f.lock);
  f.result = result;
  if (error) {
    f.error.emplace(*error);
    if (machine) f.trace = machine->trace();
  }
  f.state = Future::State::done;
  f.ended.notify_all();
  return true;
}

// The futures that no thread runs yet, and how many threads run some. Never destroyed: threads may outlive main().
ForkMutex queue_lock;
struct Queue {
  std::deque<lamella_value> futures;  // owned
  int32_t threads = 0;
};
Queue& queue() {
  static auto& q = *new Queue;
  return q;
}

void work() {
  while (true) {
    lamella_value next;
    {
      Queue& q = queue();
      const std::lock_guard<std::mutex> guard(queue_lock);
      if (q.futures.empty()) {
        q.threads--;
        return;
      }
      next = q.futures.front();
      q.futures.pop_front();
    }
    run_here(future_of(next), 0);
    release(next);
  }
}

}  // namespace

const lamella_object_type future_type = {sizeof future_type, 0, "graph.Future", destroy};

void forget_threads() { queue().threads = 0; }

lamella_value start_future(const Executable& exe, Limits limits, const Code& callee, std::vector<lamella_value> args) {
  auto* f = new Future;
  f->exe = exe.shared_from_this();
  f->limits = limits;
  f->callee = &callee;
  f->args = std::move(args);
  OwnedValue own = adopt(value_of(&f->object));
  check(api().thread_capture(&f->thread));
  Queue& q = queue();
  const std::lock_guard<std::mutex> guard(queue_lock);
  q.futures.push_back(copy_of(own.get()));
  if (q.threads < api().num_threads()) {
    try {
      std::thread(work).detach();
      q.threads++;
    } catch (const std::system_error&) {  // there may be no more threads: whoever waits runs the function
    }
  }
  return own.release();
}

lamella_value result_of_future(const lamella_value& v, int64_t depth, std::vector<std::string>* trace) {
  Future& f = future_of(v);
  run_here(f, depth + depth_of_wait);
  while (!f.is_done()) {
    wait_outside([](void* future) { static_cast<Future*>(future)->wait_a_moment(); }, &f);
    const Outside outside;
    check(api().check_interrupt());
  }
  const std::lock_guard<std::mutex> guard(f.lock);
  if (f.error) {  // the host's exception is given once; whoever waits again gets its text
    trace->insert(trace->end(), f.trace.begin(), f.trace.end());
    const Error first(*f.error);
    f.error.emplace(first.kind(), first.what());
    throw Error(first);
  }
  return copy_of(f.result);
}

}  // namespace lamella::graph
