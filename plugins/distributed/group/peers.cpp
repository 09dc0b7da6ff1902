#include "group/peers.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>

namespace lamella::distributed {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream f(path);
  std::string line;
  std::getline(f, line);
  return line;
}

// Returns when a process began, in ticks since the start of the machine; it tells a process from a later one with its
// number. The field follows the name, which is in parentheses and may contain spaces.
std::string begin_of(int pid) {
  const std::string line = first_line("/proc/" + std::to_string(pid) + "/stat");
  size_t at = line.rfind(')');
  for (int i = 0; i < 20 && at != std::string::npos; i++) at = line.find(' ', at + 1);
  return at == std::string::npos ? "" : line.substr(at + 1, line.find(' ', at + 1) - at - 1);
}

int open_process(int pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

std::string left_key(int rank) { return "left/" + std::to_string(rank); }

}  // namespace

std::string machine() {
  char link[64] = {};
  const ssize_t n = ::readlink("/proc/self/ns/pid", link, sizeof link - 1);
  return first_line("/proc/sys/kernel/random/boot_id") + std::string(link, n > 0 ? static_cast<size_t>(n) : 0);
}

Peers::Peers(const StoreRef& store, int rank, int size, std::chrono::nanoseconds limit) : store_(store) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  const auto key = [](int r) { return "peer/" + std::to_string(r); };
  const std::string here = machine();
  const int own = ::getpid();
  store.set(key(rank), std::to_string(own) + "\n" + begin_of(own) + "\n" + here + "\n" + host);
  Keys all;
  for (int r = 0; r < size; r++) all.push_back(key(r));
  store.wait(all, limit);
  for (int r = 0; r < size; r++) {
    const std::string text = store.get(key(r), limit);
    const size_t a = text.find('\n'), b = text.find('\n', a + 1), c = text.find('\n', b + 1);
    Peer& p = peers_.emplace_back();
    p.world_rank = r;
    p.pid = std::atoi(text.c_str());
    p.host = c == std::string::npos ? "" : text.substr(c + 1);
    p.here = c != std::string::npos && text.substr(b + 1, c - b - 1) == here;
    if (r == rank || !p.here) continue;
    p.fd = open_process(p.pid);
    if (p.fd < 0 && errno == ESRCH) p.state = State::ended;
    if (p.fd < 0 || begin_of(p.pid) == text.substr(a + 1, b - a - 1)) continue;
    ::close(p.fd);  // the number belongs to another process by now
    p.fd = -1;
    p.state = State::ended;
  }
}

Peers::Peers(const Peers& all, const int32_t* ranks, int n) : store_(all.store_) {
  const std::lock_guard lock(all.mutex_);
  for (int i = 0; i < n; i++) {
    Peer& p = peers_.emplace_back(all.peers_.at(static_cast<size_t>(ranks[i])));
    if (p.fd >= 0) p.fd = ::fcntl(p.fd, F_DUPFD_CLOEXEC, 0);
  }
}

Peers::~Peers() {
  for (const Peer& p : peers_)
    if (p.fd >= 0) ::close(p.fd);
}

std::vector<Peers::State> Peers::look() {
  const std::lock_guard lock(mutex_);
  std::vector<pollfd> fds;
  for (const Peer& p : peers_) fds.push_back({p.fd, POLLIN, 0});  // poll passes over -1
  ::poll(fds.data(), fds.size(), 0);
  // A process that has left may be alive, and wait for the others to leave.
  const bool asks = Clock::now() - asked_ > std::chrono::seconds(1);
  if (asks) asked_ = Clock::now();
  std::vector<State> states;
  for (size_t i = 0; i < fds.size(); i++) {
    Peer& p = peers_[i];
    const bool ended = fds[i].revents;
    if (p.state == State::there && (ended || asks)) {
      if (ended) p.state = State::ended;
      try {
        if (store_.check({left_key(p.world_rank)})) p.state = State::left;
      } catch (const Error&) {
        if (ended) p.state = State::lost;
      }
    }
    if (ended) {
      ::close(p.fd);
      p.fd = -1;
    }
    states.push_back(p.state);
  }
  return states;
}

std::string Peers::describe(int rank) const {
  const Peer& p = peers_.at(static_cast<size_t>(rank));
  return detail::text("rank ", rank, " (process ", p.pid, " on ", p.host, ")");
}

bool Peers::on_one_machine() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const Peer& p) { return p.here; });
}

void Peers::leave(int rank) const {
  try {
    store_.set(left_key(peers_.at(static_cast<size_t>(rank)).world_rank), "");
  } catch (const Error&) {  // the store has gone: nobody can read this
  }
}

}  // namespace lamella::distributed
