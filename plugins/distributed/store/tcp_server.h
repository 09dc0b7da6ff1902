// The server of TCP stores: one thread that holds the values.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <list>
#include <string>
#include <thread>

#include "store/values.h"
#include "store/wire.h"

namespace lamella::distributed {

class TcpServer {
 public:
  // Listens at the address of the host, at a port, or at any free port for 0.
  TcpServer(const std::string& host, int port);
  ~TcpServer();
  TcpServer(const TcpServer&) = delete;
  int port() const { return port_; }

 private:
  struct Client {
    int fd;
    bool greeted = false, closing = false;
    std::string in, out;
    bool waits = false;  // for the keys of `request`
    Message request;
  };

  void run();
  void serve_all(const std::vector<pollfd>& fds);
  void accept();
  void receive(Client& c);
  void take(Client& c);  // serves the messages that have come, until one has to wait
  void send(Client& c);
  // Returns false if the request waits for keys.
  bool serve(Client& c, const Message& request);
  void wake_waiters();

  int listener_ = -1, port_ = 0;
  int stop_[2] = {-1, -1};  // a pipe that ends the thread
  std::list<Client> clients_;
  Values values_;
  bool changed_ = false;
  bool full_ = false;  // this process can open no further connection now
  pid_t pid_;
  std::thread thread_;
};

}  // namespace lamella::distributed
