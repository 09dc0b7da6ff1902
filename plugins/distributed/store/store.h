// Stores: bytes by keys that several processes share. Each kind is a class derived from Store, which is the counted
// object of <lamella/process_group.h> as well, so that engines of other libraries use it by its table.
#pragma once

#include <lamella/library.h>
#include <lamella/process_group.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace lamella::distributed {

using Clock = std::chrono::steady_clock;
using Keys = std::vector<std::string>;

// The kinds of errors, with the names of their classes in Python.
struct ErrorKinds {
  int32_t dist = 0, backend = 0, network = 0, store = 0;
};
extern ErrorKinds errors;
void register_errors(Library& m);

// Returns the moment at which a time limit ends. A negative limit is none.
Clock::time_point deadline_after(std::chrono::nanoseconds limit);

class Store : public lamella_store {
 public:
  Store();
  Store(const Store&) = delete;
  virtual ~Store() = default;

  virtual void set(const std::string& key, std::string_view value) = 0;
  virtual std::string get(const std::string& key, std::chrono::nanoseconds limit) = 0;
  virtual int64_t add(const std::string& key, int64_t amount) = 0;
  virtual void append(const std::string& key, std::string_view value) = 0;
  virtual bool check(const Keys& keys) = 0;
  virtual void wait(const Keys& keys, std::chrono::nanoseconds limit) = 0;
  virtual std::string compare_set(const std::string& key, std::string_view expected, std::string_view desired) = 0;
  virtual bool delete_key(const std::string& key) = 0;
  virtual int64_t num_keys() = 0;

  // What `set_timeout` has set: the limit of waits that name none.
  std::chrono::nanoseconds timeout() const { return std::chrono::nanoseconds(timeout_.load()); }
  void set_timeout(std::chrono::nanoseconds limit) { timeout_ = limit.count(); }

 private:
  std::atomic<int64_t> timeout_{std::chrono::nanoseconds(std::chrono::seconds(300)).count()};
};

// Owns one reference to a store, also one that another library or the host language has made.
class StoreRef {
 public:
  StoreRef() = default;
  static StoreRef steal(lamella_store* s) {
    StoreRef r;
    r.store_ = s;
    return r;
  }
  static StoreRef borrow(lamella_store* s) {
    api().retain(s);
    return steal(s);
  }
  StoreRef(StoreRef&& o) noexcept : store_(std::exchange(o.store_, nullptr)) {}
  StoreRef(const StoreRef& o) : store_(o.store_) { api().retain(store_); }
  StoreRef& operator=(StoreRef o) noexcept {
    std::swap(store_, o.store_);
    return *this;
  }
  ~StoreRef() { api().release(store_); }
  lamella_store* get() const { return store_; }
  lamella_store* take() { return std::exchange(store_, nullptr); }

  void set(const std::string& key, std::string_view value) const;
  std::string get(const std::string& key, std::chrono::nanoseconds limit) const;
  int64_t add(const std::string& key, int64_t amount) const;
  bool check(const Keys& keys) const;
  void wait(const Keys& keys, std::chrono::nanoseconds limit) const;

 private:
  lamella_store* store_ = nullptr;
};

[[noreturn]] void raise_absent(const Keys& absent, std::chrono::nanoseconds limit);
// Returns the number that a value holds; raises for other text.
int64_t number_in(const std::string& key, std::string_view value);

StoreRef make_hash_store();
StoreRef make_prefix_store(std::string prefix, StoreRef inner);
// `world_size` processes use the file, and the last of them that releases its store removes it. With 0 the file stays.
StoreRef make_file_store(const std::string& path, int world_size);

struct TcpOptions {
  std::string host;
  int port = 0;        // of a server 0: any that is free
  int world_size = 0;  // 0: not known
  bool server = false;
  bool wait_for_workers = true;
  std::chrono::nanoseconds timeout;
};
// `port` becomes the server's.
StoreRef make_tcp_store(const TcpOptions& options, int* port);

}  // namespace lamella::distributed
