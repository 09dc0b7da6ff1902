// The life of a group: how it is made and closed, the order of its calls, and what ends a call that waits.
#include "group/group.h"

#include <pthread.h>

#include <map>

#include "group/kinds.h"
#include "group/pace.h"
#include "group/recorder.h"
#include "operators.h"

namespace lamella::distributed {

using namespace std::chrono_literals;

std::atomic<bool> forked{false};

namespace {

// The groups of this process by their names. It is never freed: threads of groups may run until the process ends.
struct Groups {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Group>, std::less<>> by_name;
};
Groups& groups() {
  static auto* all = new Groups;
  return *all;
}

thread_local const Group* serving = nullptr;  // the group whose thread this is

}  // namespace

Group::Group(const lamella_group_options& o, const lamella_process_group& engine, StoreRef store,
             std::shared_ptr<Peers> peers)
    : name_(o.name),
      rank_(o.rank),
      size_(o.num_ranks),
      limit_(o.timeout),
      compares_(o.flags & LAMELLA_GROUP_COMPARES),
      ordered_(o.flags & LAMELLA_GROUP_ORDERED),
      shares_(o.flags & LAMELLA_GROUP_SHARES_MEMORY && engine.flags & LAMELLA_ENGINE_HOST_MEMORY),
      is_world_(!o.part_of || !*o.part_of),
      engine_(engine),
      store_(std::move(store)),
      peers_(std::move(peers)) {}

Group::~Group() {
  stop();
  if (!handle_) return;  // it was not made whole
  if (is_world_) peers_->leave(rank_);
  engine_.close(handle_, !disorder_);
}

void Group::stop() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  if (shared_) shared_->end(SharedMemory::Absence::closed);
  const std::string message = "group '" + name_ + "' was closed before the call was done";
  const auto end = [&](const WorkRef& work) {
    (void)api().raise(errors.backend, message.c_str());
    work->finish(true, -1);
  };
  std::deque<WorkRef> queued;
  {
    const std::lock_guard lock(mutex_);
    queued.swap(queue_);
    flights_.splice(flights_.end(), messages_);
  }
  for (const WorkRef& w : queued) end(w);
  for (const Flight& f : flights_) {
    break_down(f.message->job(), message);
    end(f.message);
  }
  flights_.clear();
}

std::shared_ptr<Group> Group::find(std::string_view name) {
  LAMELLA_CHECK(!forked, "group '", name, "': this process was forked from a rank, and has no group");
  const std::lock_guard lock(groups().mutex);
  const auto found = groups().by_name.find(name);
  if (found != groups().by_name.end()) return found->second;
  throw Error(LAMELLA_VALUE_ERROR,
              "there is no group '" + std::string(name) + "': init_process_group and new_group make groups");
}

void Group::open(const lamella_group_options& o, lamella_store* store) {
  LAMELLA_CHECK(!forked, "group '", o.name, "': this process was forked from a rank, and can make no group");
  static const bool watched = [] { return ::pthread_atfork(nullptr, nullptr, [] { forked = true; }) == 0; }();
  (void)watched;
  const std::string part_of = o.part_of ? o.part_of : "", name = o.name;
  {
    const std::lock_guard lock(groups().mutex);
    LAMELLA_CHECK(!groups().by_name.count(name), "group '", name, "' exists already");
  }
  LAMELLA_CHECK_VALUE(o.num_ranks >= 1 && o.rank >= 0 && o.rank < o.num_ranks, "group '", name, "': rank ", o.rank,
                      " of ", o.num_ranks, ": expected a rank from 0 to the number of ranks less one");
  const auto* engine = static_cast<const lamella_process_group*>(
      api().find_interface(("process_group." + std::string(o.engine)).c_str(), 1));
  LAMELLA_CHECK(engine, "group '", name, "': the engine '", o.engine, "' is not loaded");
  std::shared_ptr<Group> made;
  if (part_of.empty()) {
    const StoreRef own = make_prefix_store(name, StoreRef::borrow(store));
    const std::chrono::nanoseconds limit(o.timeout);
    made = std::make_shared<Group>(o, *engine, own, std::make_shared<Peers>(own, o.rank, o.num_ranks, limit));
    lamella::check(engine->open(engine->context, own.get(), o.rank, o.num_ranks, o.timeout, &made->handle_));
  } else {
    const std::shared_ptr<Group> whole = find(part_of);
    whole->check_usable();
    made = std::make_shared<Group>(o, *engine, whole->store_,
                                   std::make_shared<Peers>(*whole->peers_, o.ranks, o.num_ranks));
    made->meet();
    lamella::check(engine->split(whole->handle_, o.ranks, o.num_ranks, o.number, &made->handle_));
  }
  if (made->shares_ && made->size_ > 1 && made->peers_->on_one_machine())
    made->shared_ = SharedMemory::open(made->store_, "shared/" + name, o.rank, o.num_ranks,
                                       std::chrono::nanoseconds(o.timeout), *made->peers_);
  const std::lock_guard lock(groups().mutex);
  LAMELLA_CHECK(groups().by_name.try_emplace(name, made).second, "group '", name, "' exists already");
}

void Group::meet() {
  const std::string key = "group/" + name_, open = key + "/open";
  if (store_.add(key, 1) == size_) store_.set(open, "");
  const auto end = deadline_after(limit_);
  for (auto pause = std::chrono::milliseconds(1); !store_.check({open}); pause = std::min(pause * 2, 50ms)) {
    const auto states = peers_->look();
    for (int r = 0; r < size_; r++)
      if (states[static_cast<size_t>(r)] != Peers::State::there)
        raise_backend("new group '" + name_ + "': " + peers_->describe(r) + " has ended");
    if (Clock::now() >= end) raise_absent({open}, limit_);
    lamella::check(api().check_interrupt());
    std::this_thread::sleep_for(pause);
  }
}

void Group::close(const std::string& name) {
  if (forked) return;  // threads, locks and the engine are the parent's: the child leaves its copy as it is
  std::shared_ptr<Group> gone;
  {
    const std::lock_guard lock(groups().mutex);
    const auto found = groups().by_name.find(name);
    if (found == groups().by_name.end()) return;
    gone = std::move(found->second);
    groups().by_name.erase(found);
  }
  gone->stop();  // calls of other threads fail, and the last of them frees the group
}

// Enters a call into the flight recorder, unless it was entered before.
void Group::note(Job& job) {
  if (!Recorder::on() || job.entry >= 0) return;
  const int64_t number = is_message(job.collective.kind) ? 0 : ++noted_;
  job.entry = Recorder::note(job, name_, number, rank_, size_);
}

int Group::run(Job job) {
  check_usable();
  note(job);
  if (is_message(job.collective.kind)) return carry_out(job);  // messages wait for no collective
  if (!begin_turn()) return start(std::move(job))->wait(std::chrono::nanoseconds(-1));
  const EndOfTurn end{*this};
  return carry_out(job);
}

bool Group::begin_turn() {
  const std::lock_guard lock(mutex_);
  if (busy_ || !queue_.empty()) return false;
  return busy_ = true;
}

Group::EndOfTurn::~EndOfTurn() {
  const std::lock_guard lock(group.mutex_);
  group.busy_ = false;
  group.changed_.notify_all();
}

WorkRef Group::start(Job job) {
  check_usable();
  note(job);
  Flight flight{WorkRef(Work::make(std::move(job)))};
  const WorkRef work = flight.message;
  const bool message = is_message(work->job().collective.kind);
  const std::lock_guard lock(mutex_);
  if (stops_) raise_backend("group '" + name_ + "' was closed");
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  if (message) {  // it is submitted here, so that messages keep their order
    lamella::check(engine_.submit(handle_, &work->job().collective, &flight.work));
    messages_.push_back(std::move(flight));
  } else {
    queue_.push_back(work);
  }
  changed_.notify_all();
  return work;
}

void Group::serve() {
  serving = this;
  constexpr auto shortest = std::chrono::microseconds(50), longest = std::chrono::microseconds(1000);
  auto pause = shortest;  // between two looks at messages
  std::unique_lock lock(mutex_);
  while (true) {
    const auto comes = [&] { return stops_ || !messages_.empty() || (!busy_ && !queue_.empty()); };
    if (flights_.empty()) changed_.wait(lock, comes);
    pause = flights_.empty() || changed_.wait_for(lock, pause, comes) ? shortest : std::min(pause * 2, longest);
    if (stops_) return;
    const bool collective = !busy_ && !queue_.empty();
    const WorkRef work = collective ? queue_.front() : WorkRef(nullptr);
    if (collective) busy_ = true;
    lock.unlock();
    move_messages();
    if (collective) {
      int sender = -1;
      const lamella_status status = guarded([&] { return sender = carry_out(work->job()), LAMELLA_OK; });
      work->finish(status != LAMELLA_OK, sender);
    }
    lock.lock();
    if (!collective) continue;
    queue_.pop_front();
    busy_ = false;
    changed_.notify_all();
  }
}

std::string Group::place() const {
  return detail::text(" of group '", name_, "' on rank ", rank_, " of ", size_, ", after ", number_.load(),
                      " collectives: ");
}

void Group::check_usable() {
  LAMELLA_CHECK(!forked, "group '", name_, "': this process was forked from a rank, and has no group");
  const std::lock_guard lock(mutex_);
  if (!broken_.empty()) raise_backend("group '" + name_ + "' takes no more calls since one failed: " + broken_);
}

// Keeps a job's memory for good, since the engine may still read and write it. After a collective that failed the group
// takes no more calls; a message leaves the others as they are.
void Group::break_down(const Job& job, const std::string& message) {
  new Job(job);
  const std::lock_guard lock(mutex_);
  disorder_ = true;
  if (is_message(job.collective.kind)) return;
  if (broken_.empty()) broken_ = message;
  if (shared_) shared_->end(SharedMemory::Absence::gave_up);
}

void Group::give_up(const std::string& why) {
  if (size_ == 1) return;  // a group of one rank has no other rank that waits, and goes on
  {
    const std::lock_guard lock(mutex_);
    if (broken_.empty()) broken_ = why;
  }
  if (shared_)
    shared_->end(SharedMemory::Absence::gave_up);
  else if (is_world_)
    peers_->leave(rank_);
}

void Group::fail(const Job& job, const std::string& why) {
  const std::string message = describe(job) + place() + why;
  break_down(job, message);
  raise_backend(message);
}

int Group::step(const Job& job, const lamella_collective& c, Phase phase) {
  Flight flight{nullptr};
  lamella::check(engine_.submit(handle_, &c, &flight.work));
  Pace pace(dense_looks());
  int sender = -1;
  while (!look_at(flight, job, sender)) {
    if (!pace.pause()) continue;
    watch(flight, job, phase);
    between_looks(job);
  }
  return sender;
}

std::chrono::nanoseconds Group::dense_looks() const {
  if (serving == this) return std::chrono::microseconds(20);
  return std::chrono::milliseconds(50);
}

// Does what this thread has to do beside its call, about once a millisecond.
void Group::between_looks(const Job& job) {
  if (serving == this) return move_messages();
  if (!api().check_interrupt()) return;
  const Error e = Error::pending(LAMELLA_INTERRUPTED);
  break_down(job, describe(job) + " was interrupted");
  throw e;
}

bool Group::look_at(const Flight& flight, const Job& job, int& sender) {
  int32_t done = 0, peer = -1;
  const lamella_status status = engine_.test(flight.work, &done, &peer);
  if (!status && !done) return false;
  engine_.release(flight.work);
  if (status) fail(job, Error::pending(status).what());
  sender = peer;
  return true;
}

void Group::watch(Flight& flight, const Job& job, Phase phase) {
  const auto now = Clock::now();
  const lamella_collective& c = job.collective;
  if (stops_) fail(job, "the group was closed");
  if (now - flight.begin > limit_)
    fail(job, detail::text("timed out: ", limit_.count() / 1000000, " ms have passed, and some rank has not joined"));
  if (flight.culprit < 0) {
    const auto states = peers_->look();
    int gone = 0, last = -1;
    for (int r = 0; r < size_; r++) {
      const Peers::State state = states[static_cast<size_t>(r)];
      // A rank that has closed its groups may have done its part of a call before.
      const bool ends =
          is_message(c.kind) || phase == Phase::comparison ? state != Peers::State::there : state >= Peers::State::lost;
      if (ends) gone++, last = r;
      if (ends && (!is_message(c.kind) || r == c.peer)) flight.culprit = r;
    }
    if (c.kind == LAMELLA_RECV && c.peer < 0 && gone == size_ - 1) flight.culprit = last;
    if (flight.culprit < 0) return;
    // Data that a process sent before it ended may still arrive. A lost process may have closed its groups in order.
    const bool lost = states[static_cast<size_t>(flight.culprit)] == Peers::State::lost;
    flight.until = now + (lost ? std::chrono::milliseconds(5000) : std::chrono::milliseconds(200));
  }
  if (now > flight.until) fail(job, peers_->describe(flight.culprit) + " has ended, or has left the group");
}

// Takes over the messages that were started, and ends those that have arrived. Called by the group's thread.
void Group::move_messages() {
  {
    const std::lock_guard lock(mutex_);
    flights_.splice(flights_.end(), messages_);
  }
  for (auto f = flights_.begin(); f != flights_.end();) {
    int sender = -1;
    bool arrived = false;
    Job& job = f->message->job();
    const lamella_status status = guarded([&] {
      const ExcludeGuard guard(layer_mask());
      arrived = look_at(*f, job, sender);
      if (!arrived) watch(*f, job, Phase::call);
      if (arrived && job.target.defined()) job.target.copy_(job.output);
      return LAMELLA_OK;
    });
    if (arrived || status) {
      Recorder::set(job.entry, status ? CallState::failed : CallState::done);
      f->message->finish(status != LAMELLA_OK, sender);
    }
    f = arrived || status ? flights_.erase(f) : std::next(f);
  }
}

int Group::carry_out(Job& job) {
  struct Noted {
    int64_t entry;
    bool done = false;
    ~Noted() { Recorder::set(entry, done ? CallState::done : CallState::failed); }
  } noted{job.entry};
  Recorder::set(job.entry, CallState::running);
  const int sender = carry_out_noted(job);
  noted.done = true;
  return sender;
}

int Group::carry_out_noted(Job& job) {
  check_usable();
  const ExcludeGuard guard(layer_mask());  // what is under way in this memory is this call
  const lamella_collective& c = job.collective;
  if (is_message(c.kind)) return move(job);
  number_++;
  if (size_ == 1) return move(job);
  if (move_here(job)) return -1;
  if (compares_) compare(job);
  return or_break_down(job, [&] { return move(job); });
}

}  // namespace lamella::distributed
