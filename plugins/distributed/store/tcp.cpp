// A store in a server that processes reach over TCP. The process that is the master runs the server.
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "store/tcp_server.h"

namespace lamella::distributed {
namespace {

constexpr auto slice = std::chrono::milliseconds(50);  // after which a waiting thread looks for Ctrl-C

class Connection {
 public:
  explicit Connection(int fd) : fd_(fd) {}
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;

  // Returns false if the socket is not ready at the deadline.
  bool ready(short events, Clock::time_point end) const {
    while (true) {
      pollfd p{fd_, events, 0};
      const int n = ::poll(&p, 1, static_cast<int>(slice.count()));
      if (n > 0) return true;
      if (n < 0 && errno != EINTR) return true;  // the next call on the socket says what is wrong
      lamella::check(api().check_interrupt());
      if (Clock::now() >= end) return false;
    }
  }
  // Sends bytes, or throws; returns false at the deadline.
  bool send(std::string_view bytes, Clock::time_point end) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0) {
        bytes.remove_prefix(static_cast<size_t>(n));
      } else if (errno != EAGAIN && errno != EINTR) {
        throw std::string(std::strerror(errno));
      } else if (!ready(POLLOUT, end)) {
        return false;
      }
    }
    return true;
  }
  bool receive(Message& out, Clock::time_point end) {
    char part[65536];
    while (true) {
      std::string_view rest = in_;
      const Decoded found = decode(rest, out);
      if (found == Decoded::malformed) throw std::string("the server's answer is malformed");
      if (found == Decoded::message) return in_.erase(0, in_.size() - rest.size()), true;
      if (!ready(POLLIN, end)) return false;
      const ssize_t n = ::recv(fd_, part, sizeof part, MSG_DONTWAIT);
      if (n > 0)
        in_.append(part, static_cast<size_t>(n));
      else if (n == 0)
        throw std::string("the server has closed the connection");
      else if (errno != EAGAIN && errno != EINTR)
        throw std::string(std::strerror(errno));
    }
  }

 private:
  int fd_;
  std::string in_;
};

class TcpStore final : public Store {
 public:
  explicit TcpStore(const TcpOptions& o) : host_(o.host), port_(o.port) {
    set_timeout(o.timeout);
    if (o.server) {
      server_ = std::make_unique<TcpServer>(o.host, o.port);
      port_ = server_->port();
    }
    idle_.push_back(connect(o.timeout));
    if (o.world_size <= 0) return;
    const int64_t number = add("store/come", 1);
    if (number == o.world_size) set("store/all", "1");
    if (o.wait_for_workers) wait_for_workers(o.world_size);
  }
  int port() const { return port_; }

  void set(const std::string& key, std::string_view value) override { ask(Command::set, {key, value}); }
  std::string get(const std::string& key, std::chrono::nanoseconds limit) override {
    auto answer = ask_until(Command::get, {key}, limit);
    if (!answer) raise_absent({key}, limit);
    return std::move(answer->at(0));
  }
  int64_t add(const std::string& key, int64_t amount) override {
    return number_in(key, ask(Command::add, {key, std::to_string(amount)}).at(0));
  }
  void append(const std::string& key, std::string_view value) override { ask(Command::append, {key, value}); }
  bool check(const Keys& keys) override {
    return ask(Command::check, std::vector<std::string_view>(keys.begin(), keys.end())).at(0) == "1";
  }
  void wait(const Keys& keys, std::chrono::nanoseconds limit) override {
    if (ask_until(Command::wait, std::vector<std::string_view>(keys.begin(), keys.end()), limit)) return;
    Keys absent;
    for (const std::string& k : keys)
      if (!check({k})) absent.push_back(k);
    raise_absent(absent, limit);
  }
  std::string compare_set(const std::string& key, std::string_view expected, std::string_view desired) override {
    return ask(Command::compare_set, {key, expected, desired}).at(0);
  }
  bool delete_key(const std::string& key) override { return ask(Command::delete_key, {key}).at(0) == "1"; }
  int64_t num_keys() override { return number_in("", ask(Command::num_keys, {}).at(0)); }

 private:
  using Fields = std::vector<std::string>;

  void wait_for_workers(int world_size) {
    try {
      wait({"store/all"}, timeout());
    } catch (const Error& e) {
      if (e.kind() != errors.store) throw;
      throw Error(errors.store, detail::text("TCPStore: timed out after ", timeout().count() / 1000000,
                                             "ms waiting for clients: ", add("store/come", 0), " of ", world_size,
                                             " processes have come to ", host_, ":", port_));
    }
  }

  std::unique_ptr<Connection> connect(std::chrono::nanoseconds limit) const {
    const auto end = deadline_after(limit);
    std::string why;
    do {
      addrinfo hints{}, *found = nullptr;
      hints.ai_socktype = SOCK_STREAM;
      if (const int e = ::getaddrinfo(host_.c_str(), std::to_string(port_).c_str(), &hints, &found)) {
        why = ::gai_strerror(e);
        found = nullptr;
      }
      std::unique_ptr<Connection> made;
      for (const addrinfo* a = found; a && !made; a = a->ai_next) made = connect_to(*a, end, why);
      if (found) ::freeaddrinfo(found);
      if (made) return made;
      lamella::check(api().check_interrupt());
      std::this_thread::sleep_for(slice);
    } while (Clock::now() < end);
    throw Error(errors.network, detail::text("TCPStore: the client socket has timed out after ",
                                             std::chrono::duration_cast<std::chrono::milliseconds>(limit).count(),
                                             "ms while trying to connect to (", host_, ", ", port_, "): ", why));
  }
  static std::unique_ptr<Connection> connect_to(const addrinfo& a, Clock::time_point end, std::string& why) {
    const int fd = ::socket(a.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return why = std::strerror(errno), nullptr;
    auto made = std::make_unique<Connection>(fd);
    int error = ::connect(fd, a.ai_addr, a.ai_addrlen) ? errno : 0;
    if (error == EINPROGRESS) {
      socklen_t length = sizeof error;
      if (!made->ready(POLLOUT, end))
        error = ETIMEDOUT;
      else
        ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    }
    if (error) return why = std::strerror(error), nullptr;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    try {
      if (made->send(protocol, end)) return made;
      why = std::strerror(ETIMEDOUT);
    } catch (const std::string& e) {
      why = e;
    }
    return nullptr;
  }

  Fields ask(Command c, const std::vector<std::string_view>& fields) {
    auto answer = ask_until(c, fields, timeout());
    if (answer) return std::move(*answer);
    throw Error(errors.network, detail::text("TCPStore: the server at ", host_, ":", port_, " has not answered for ",
                                             timeout().count() / 1000000, "ms"));
  }
  // Sends a request over a connection that no other thread uses, and returns the answer's fields; none at the time
  // limit, after which the connection is closed, since the answer may still come.
  std::optional<Fields> ask_until(Command c, const std::vector<std::string_view>& fields,
                                  std::chrono::nanoseconds limit) {
    size_t bytes = 1;
    for (const std::string_view f : fields) bytes += 4 + f.size();
    LAMELLA_CHECK_VALUE(bytes <= longest_message, "TCPStore: a request of ", bytes, " bytes is too long; it takes ",
                        longest_message);
    const auto end = deadline_after(limit);
    std::unique_ptr<Connection> connection = take();
    Message answer;
    try {
      if (!connection->send(encode(static_cast<uint8_t>(c), fields), end)) return {};
      if (!connection->receive(answer, end)) return {};
    } catch (const std::string& why) {
      lost_ = true;
      throw Error(errors.network, detail::text("TCPStore: the connection to ", host_, ":", port_, " is lost: ", why,
                                               "; the process that runs the store may have ended"));
    }
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
    if (static_cast<Answer>(answer.head) == Answer::done) return std::move(answer.fields);
    throw Error(static_cast<int>(number_in("", answer.fields.at(0))), answer.fields.at(1));
  }
  std::unique_ptr<Connection> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto c = std::move(idle_.back());
        idle_.pop_back();
        return c;
      }
    }
    // A server that was there and has gone does not come back: one attempt shows whether it was the connection alone.
    return connect(lost_ ? std::chrono::nanoseconds(0) : timeout());
  }

  std::string host_;
  int port_;
  std::unique_ptr<TcpServer> server_;  // goes after the connections
  std::atomic<bool> lost_{false};      // a connection was lost
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace

StoreRef make_tcp_store(const TcpOptions& options, int* port) {
  auto* made = new TcpStore(options);
  *port = made->port();
  return StoreRef::steal(made);
}

}  // namespace lamella::distributed
