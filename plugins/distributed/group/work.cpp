#include "group/work.h"

#include "store/store.h"

namespace lamella::distributed {

const lamella_object_type Work::type = {sizeof type, 0, "Work",
                                        [](lamella_object* o) { delete reinterpret_cast<Work*>(o); }};

Work::Work(Job job) : object{1, &type}, job_(std::move(job)) {}

Work& Work::of(lamella_object* o) {
  LAMELLA_CHECK_TYPE(o->type == &type, "expected a Work, got a ", o->type->name);
  return *reinterpret_cast<Work*>(o);
}

void Work::finish(bool failed, int sender) {
  std::optional<Error> error;
  if (failed) {
    const Error e = Error::pending(api().error_kind());
    error.emplace(e.kind(), e.what());  // without the object of the pending error, which can be raised once
  }
  job_ = Job{};  // what the engine may still use was kept by break_down
  const std::lock_guard lock(mutex_);
  if (error) error_.emplace(*error);
  sender_ = sender;
  done_ = true;
  ended_.notify_all();
}

bool Work::done() {
  const std::lock_guard lock(mutex_);
  return done_;
}

bool Work::failed() {
  const std::lock_guard lock(mutex_);
  return error_.has_value();
}

int Work::sender() {
  const std::lock_guard lock(mutex_);
  return sender_;
}

int Work::wait(std::chrono::nanoseconds limit) {
  LAMELLA_CHECK(!forked, "Work.wait: this process was forked from a rank, and has no group");
  const auto end = deadline_after(limit);
  std::unique_lock lock(mutex_);
  while (!done_) {
    if (Clock::now() >= end)
      throw Error(errors.backend, detail::text("Work.wait: the collective is not done after ", limit.count() / 1000000,
                                               " ms; it goes on"));
    ended_.wait_for(lock, std::chrono::milliseconds(50));
    lock.unlock();
    lamella::check(api().check_interrupt());
    lock.lock();
  }
  if (error_) throw Error(*error_);
  return sender_;
}

}  // namespace lamella::distributed
