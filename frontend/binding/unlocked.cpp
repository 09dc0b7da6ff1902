#include "frontend/binding/unlocked.h"

#include <pthread.h>
#include <pybind11/pybind11.h>

#include <chrono>
#include <thread>

namespace lamella::binding {
namespace {

void release_briefly() {  // releases the lock for a millisecond, for the threads that are waited for
  PyThreadState* state = PyEval_SaveThread();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
}

bool others_run() { return work_unlocked.running > own_work(); }

}  // namespace

Work work_unlocked;

int64_t& own_work() {
  static thread_local int64_t own = 0;
  return own;
}

void* begin_unlocked() {
  int64_t& own = own_work();
  if (!own)
    while (work_unlocked.movers) release_briefly();
  work_unlocked.running++;
  own++;
  return PyEval_SaveThread();
}

void end_unlocked(void* state) {
  PyEval_RestoreThread(static_cast<PyThreadState*>(state));
  work_unlocked.running--;
  own_work()--;
}

int pause_unlocked() {
  int64_t& own = own_work();
  if (own != 1) return 0;
  own = 0;
  work_unlocked.running--;
  return 1;
}

void resume_unlocked() {
  while (work_unlocked.movers) release_briefly();
  work_unlocked.running++;
  own_work() = 1;
}

Exclusive::Exclusive(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (others_run() && std::chrono::steady_clock::now() < end) {
    release_briefly();
    if (PyErr_CheckSignals()) throw pybind11::error_already_set();
  }
  exclusive_ = !others_run();
}

void watch_unlocked() {
  pthread_atfork(nullptr, nullptr, [] { work_unlocked = {own_work(), 0}; });
}

}  // namespace lamella::binding
