#include "store/tcp_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lamella::distributed {
namespace {

constexpr size_t most_clients = 65536, most_unread = 512u << 20;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// Returns a socket that listens at an address, or -1.
int listen_at(const sockaddr* address, socklen_t length) {
  const int fd = ::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!::bind(fd, address, length) && !::listen(fd, 4096)) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

bool listens_on_loopback(int fd) {
  sockaddr_storage name{};
  socklen_t length = sizeof name;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &length);
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(name);
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(name);
  return name.ss_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) : ntohl(v4.sin_addr.s_addr) >> 24 == 127;
}

}  // namespace

TcpServer::TcpServer(const std::string& host, int port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int e = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found))
    throw Error(errors.network, "TCPStore: the host '" + host + "' has no address: " + ::gai_strerror(e));
  int error = 0;
  for (const addrinfo* a = found; a && listener_ < 0; a = a->ai_next) {
    listener_ = listen_at(a->ai_addr, a->ai_addrlen);
    error = errno;
  }
  ::freeaddrinfo(found);
  const bool is_loopback = host == "localhost" || host.rfind("127.", 0) == 0 || host == "::1";
  // A name may stand for this machine elsewhere, as that of a container does, and Debian gives the machine's own name an
  // address of its loopback.
  if (!is_loopback && (error == EADDRNOTAVAIL || (listener_ >= 0 && listens_on_loopback(listener_)))) {
    if (listener_ >= 0) ::close(listener_);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_port = htons(static_cast<uint16_t>(port));
    listener_ = listen_at(reinterpret_cast<const sockaddr*>(&any), sizeof any);
    error = errno;
  }
  if (listener_ < 0)
    throw Error(errors.network,
                detail::text("TCPStore: the server cannot listen at ", host, ":", port, ": ", std::strerror(error),
                             "; port 0 takes a free one, which `port` then says"));
  sockaddr_storage name{};
  socklen_t length = sizeof name;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&name), &length);
  port_ = ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(name).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(name).sin_port);
  if (::pipe2(stop_, O_CLOEXEC | O_NONBLOCK) < 0) {
    ::close(listener_);
    throw Error(errors.network, detail::text("TCPStore: no pipe: ", std::strerror(errno)));
  }
  pid_ = ::getpid();
  thread_ = std::thread([this] { run(); });
}

TcpServer::~TcpServer() {
  ::close(stop_[1]);
  if (::getpid() == pid_)
    thread_.join();
  else
    thread_.detach();  // a fork has no such thread
  for (const Client& c : clients_) ::close(c.fd);
  ::close(listener_);
  ::close(stop_[0]);
}

void TcpServer::run() {
  std::vector<pollfd> fds;
  while (true) {
    fds.assign({{stop_[0], POLLIN, 0}, {full_ ? -1 : listener_, POLLIN, 0}});
    for (const Client& c : clients_)
      fds.push_back({c.fd, static_cast<short>(POLLIN | (c.out.empty() ? 0 : POLLOUT)), 0});
    if (::poll(fds.data(), fds.size(), full_ ? 100 : -1) < 0 && errno != EINTR) return;
    if (fds[0].revents) return;
    full_ = false;
    serve_all(fds);
    for (auto c = clients_.begin(); c != clients_.end();) {
      const bool ends = c->closing;
      if (ends) ::close(c->fd);
      c = ends ? clients_.erase(c) : std::next(c);
    }
    if (fds[1].revents) accept();
  }
}

// Serves the clients that are ready. One that makes the server run out of memory is closed.
void TcpServer::serve_all(const std::vector<pollfd>& fds) {
  size_t i = 2;
  for (Client& c : clients_) {
    const short ready = fds[i++].revents;
    try {
      if (ready & (POLLIN | POLLHUP | POLLERR)) receive(c);
      if (ready & POLLOUT) send(c);
      if (changed_) wake_waiters();
    } catch (const std::exception&) {
      c.closing = true;
    }
  }
}

void TcpServer::accept() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      full_ = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
      return;
    }
    if (clients_.size() >= most_clients) {
      ::close(fd);
      continue;
    }
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    clients_.push_back({fd, false, false, {}, {}, false, {}});
  }
}

void TcpServer::receive(Client& c) {
  char part[65536];
  while (!c.closing) {
    const ssize_t n = ::recv(c.fd, part, sizeof part, 0);
    if (n < 0 && would_block()) break;
    if (n <= 0)
      c.closing = true;
    else
      c.in.append(part, static_cast<size_t>(n));
    if (n < static_cast<ssize_t>(sizeof part)) break;
    take(c);
    if (c.in.size() > longest_message + 4) c.closing = true;  // it sends on while it waits
  }
  if (!c.closing) take(c);
}

void TcpServer::take(Client& c) {
  std::string_view rest = c.in;
  if (!c.greeted) {
    const std::string_view start = rest.substr(0, protocol.size());
    if (start != protocol.substr(0, start.size())) c.closing = true;
    if (c.closing || rest.size() < protocol.size()) return;
    rest.remove_prefix(protocol.size());
    c.greeted = true;
  }
  Message request;
  while (!c.waits && !c.closing) {
    const Decoded found = decode(rest, request);
    if (found == Decoded::incomplete) break;
    if (found == Decoded::malformed) {
      c.closing = true;
    } else if (!serve(c, request)) {
      c.waits = true;
      c.request = std::move(request);
    }
  }
  c.in.erase(0, c.in.size() - rest.size());
  send(c);
}

void TcpServer::send(Client& c) {
  while (!c.out.empty() && !c.closing) {
    const ssize_t n = ::send(c.fd, c.out.data(), c.out.size(), MSG_NOSIGNAL);
    if (n < 0 && would_block()) break;
    if (n <= 0)
      c.closing = true;
    else
      c.out.erase(0, static_cast<size_t>(n));
  }
  if (c.out.size() > most_unread) c.closing = true;
}

bool TcpServer::serve(Client& c, const Message& request) {
  const auto& f = request.fields;
  const auto answer = [&](const std::vector<std::string_view>& fields, Answer a = Answer::done) {
    c.out += encode(static_cast<uint8_t>(a), fields);
    return true;
  };
  const auto takes = [&](size_t n) {
    if (f.size() == n) return true;
    c.closing = true;
    return false;
  };
  try {
    switch (static_cast<Command>(request.head)) {
      case Command::set:
        if (!takes(2)) return true;
        values_.set(f[0], f[1]);
        changed_ = true;
        return answer({});
      case Command::get:
        if (!takes(1)) return true;
        if (const std::string* value = values_.find(f[0])) return answer({*value});
        return false;
      case Command::add: {
        if (!takes(2)) return true;
        const std::string sum = std::to_string(values_.sum(f[0], number_in(f[0], f[1])));
        values_.set(f[0], sum);
        changed_ = true;
        return answer({sum});
      }
      case Command::append:
        if (!takes(2)) return true;
        values_.append(f[0], f[1]);
        changed_ = true;
        return answer({});
      case Command::check:
        return answer({values_.absent(f).empty() ? "1" : "0"});
      case Command::wait:
        return values_.absent(f).empty() ? answer({}) : false;
      case Command::compare_set:
        if (!takes(3)) return true;
        if (!values_.fits(f[0], f[1])) return answer({values_.value_or(f[0], f[1])});
        values_.set(f[0], f[2]);
        changed_ = true;
        return answer({f[2]});
      case Command::delete_key:
        if (!takes(1)) return true;
        return answer({values_.erase(f[0]) ? "1" : "0"});
      case Command::num_keys:
        return answer({std::to_string(values_.size())});
    }
    c.closing = true;  // no command
    return true;
  } catch (const Error& e) {
    return answer({std::to_string(e.kind()), e.what()}, Answer::failed);
  }
}

void TcpServer::wake_waiters() {
  while (changed_) {  // a waiter that goes on may have sent a request that sets a key
    changed_ = false;
    for (Client& c : clients_) {
      if (!c.waits || c.closing || !serve(c, c.request)) continue;
      c.waits = false;
      take(c);
    }
  }
}

}  // namespace lamella::distributed
