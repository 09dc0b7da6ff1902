#include "dispatcher/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error.h"
#include "dispatcher/thread_state.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace lamella::dispatcher {
namespace {

// Returns OMP_NUM_THREADS if it is a positive number, else the number of CPUs in the affinity mask, limited by the
// cgroup's quota.
int default_threads() {
  cpu_set_t set;
  int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  if (FILE* f = std::fopen("/sys/fs/cgroup/cpu.max", "r")) {
    double quota, period;
    if (std::fscanf(f, "%lf %lf", &quota, &period) == 2 && period > 0)
      n = std::min(n, static_cast<int>(std::ceil(quota / period)));
    std::fclose(f);
  }
  if (const char* omp = std::getenv("OMP_NUM_THREADS"))
    if (int k = std::atoi(omp); k > 0) n = k;
  return std::max(n, 1);
}

// The pool's threads are gone after a fork: the child uses one thread.
void child_after_fork();

std::atomic<int>& threads() {
  static std::atomic<int> n = [] {
    pthread_atfork(nullptr, nullptr, child_after_fork);
    return default_threads();
  }();
  return n;
}

std::atomic<bool> forked{false};

void child_after_fork() {
  forked = true;
  threads() = 1;
#ifdef _OPENMP
  omp_set_num_threads(1);
#endif
}

std::atomic<lamella_status (*)()> interrupt_hook{nullptr};

int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return t.tv_sec * int64_t{1000000000} + t.tv_nsec;
}

// The flag of the work that this thread of the pool helps with: nonzero once another thread has failed or was
// interrupted. Nested work on the same thread uses the same flag.
thread_local const std::atomic<int>* helped = nullptr;

// The state of the thread that begins a region, copied for the other threads of its team. The beginning thread makes
// the copies and frees them: states may belong to the host language, whose lock it may hold.
class CapturedStates {
 public:
  CapturedStates() = default;
  CapturedStates(const CapturedStates&) = delete;
  ~CapturedStates() {
    for (lamella_captured* c : each_) discard_captured(c);
  }
  lamella_status take(int others) {
    if (!has_state()) return LAMELLA_OK;
    each_.resize(static_cast<size_t>(others));
    for (lamella_captured*& c : each_)
      if (lamella_status st = capture_thread(&c)) return st;
    return LAMELLA_OK;
  }
  lamella_captured* of(int64_t thread) const {  // thread 0 is the caller
    return thread && !each_.empty() ? each_[static_cast<size_t>(thread - 1)] : nullptr;
  }

 private:
  std::vector<lamella_captured*> each_;
};

// While a StateGuard lives, this thread has the captured state; null changes nothing.
class StateGuard {
 public:
  explicit StateGuard(lamella_captured* c) : c_(c) {
    if (c_) swap_captured(c_);
  }
  ~StateGuard() {
    if (c_) swap_captured(c_);
  }
  StateGuard(const StateGuard&) = delete;

 private:
  lamella_captured* c_;
};

// Runs one thread's share in pieces, short enough to react to an interrupt; `stop` is null for work that is not shared.
lamella_status run_pieces(int64_t begin, int64_t end, int64_t grain, lamella_body body, void* context,
                          const std::atomic<int>* stop, bool caller) {
  const int64_t piece = std::min(grain, end - begin) * 4;
  struct Helping {
    const std::atomic<int>* before = helped;
    ~Helping() { helped = before; }
  } helping;
  if (!caller) helped = stop;
  for (int64_t b = begin; b < end; b += piece) {
    if (stop && stop->load(std::memory_order_relaxed)) return LAMELLA_OK;
    if (lamella_status st = core::guarded([&] { return body(context, b, std::min(end, b + piece)); })) return st;
    if (caller && b + piece < end)
      if (lamella_status st = check_interrupt()) return st;
  }
  return LAMELLA_OK;
}

}  // namespace

int get_num_threads() { return threads().load(std::memory_order_relaxed); }

void set_num_threads(int n) {
  if (forked) n = 1;
  threads() = n;
#ifdef _OPENMP
  omp_set_num_threads(n);
#endif
}

void set_interrupt_hook(lamella_status (*hook)()) { interrupt_hook = hook; }

lamella_status check_interrupt() {
  static thread_local int64_t last = 0;
  auto hook = interrupt_hook.load(std::memory_order_relaxed);
  if (!hook) return LAMELLA_OK;
#ifdef _OPENMP
  // The caller may hold the host language's lock until its team is done: a thread of the team that waited for that lock
  // would never get it. It reads the caller's stop flag instead.
  if (omp_in_parallel() && omp_get_thread_num() != 0)
    return helped && helped->load(std::memory_order_relaxed) ? LAMELLA_INTERRUPTED : LAMELLA_OK;
#endif
  int64_t now = now_ns();
  if (now - last < 20000000) return LAMELLA_OK;
  last = now;
  return hook();
}

lamella_status parallel_for(int64_t begin, int64_t end, int64_t grain, lamella_body body, void* context) {
  grain = std::max<int64_t>(grain, 1);
  int64_t n = end - begin;
  if (n <= 0) return LAMELLA_OK;
#ifdef _OPENMP
  auto team = static_cast<int>(std::min<int64_t>(get_num_threads(), n / grain));
  if (team > 1 && !omp_in_parallel()) {
    std::atomic<int> stop{0};
    core::Error first;
    lamella_status result = LAMELLA_OK;
    CapturedStates carried;
    if (lamella_status st = core::guarded([&] { return carried.take(team - 1); })) return st;
#pragma omp parallel num_threads(team)
    {
      int64_t k = omp_get_thread_num(), all = omp_get_num_threads();
      int64_t b = begin + n * k / all, e = begin + n * (k + 1) / all;
      const auto share = [&] {
        const StateGuard lent(carried.of(k));
        return run_pieces(b, e, grain, body, context, &stop, k == 0);
      };
      if (lamella_status st = core::guarded(share)) {
        if (stop.exchange(1) == 0) {  // the first error moves to the caller's thread
          result = st;
          first = core::pending_error();
          core::pending_error() = core::Error{};
        } else {
          core::pending_error().clear();
        }
      }
    }
    if (result) core::pending_error() = first;
    return result;
  }
#endif
  return run_pieces(begin, end, grain, body, context, nullptr, true);
}

}  // namespace lamella::dispatcher
