// A store in a file that processes of one machine, or of a shared file system with locks, append to.
//
// Note [Records]  The file begins with eight bytes that say its kind, and records follow: whether a key is set or
//   erased, the lengths of key and value, and these. Writers hold an exclusive lock, readers a shared one, so that a
//   reader sees whole records. A process that ends within a write leaves a part of a record: the next writer cuts it off.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

#include "store/values.h"

namespace lamella::distributed {
namespace {

constexpr std::string_view magic = "LMSTORE1";

struct Head {
  uint32_t erased, key, value;  // the lengths of the key and of the value
};

class FileStore final : public Store {
 public:
  FileStore(std::string path, int world_size) : path_(std::move(path)), world_size_(world_size) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (fd_ < 0) fail("opening");
    try {
      const Lock lock(*this, LOCK_EX);
      if (!size()) write_all(magic, 0);
      read();
    } catch (...) {
      ::close(fd_);
      throw;
    }
  }
  ~FileStore() override {
    try {  // the last process removes the file, so that the path can serve again; a fork is none of them
      if (world_size_ > 0 && ::getpid() == pid_ && add("store/left", 1) >= world_size_) ::unlink(path_.c_str());
    } catch (const std::exception&) {  // the folder is gone, or the disk is full: the file stays
    }
    ::close(fd_);
  }

  void set(const std::string& key, std::string_view value) override {
    const Lock lock(*this, LOCK_EX);
    read();
    record(key, value);
  }
  std::string get(const std::string& key, std::chrono::nanoseconds limit) override {
    const auto end = deadline_after(limit);
    while (true) {
      wait_until({key}, limit, end);
      const std::lock_guard lock(mutex_);  // another process may have erased the key since
      if (const std::string* value = values_.find(key)) return *value;
    }
  }
  int64_t add(const std::string& key, int64_t amount) override {
    const Lock lock(*this, LOCK_EX);
    read();
    const int64_t sum = values_.sum(key, amount);
    record(key, std::to_string(sum));
    return sum;
  }
  void append(const std::string& key, std::string_view value) override {
    const Lock lock(*this, LOCK_EX);
    read();
    record(key, values_.value_or(key, "") + std::string(value));
  }
  bool check(const Keys& keys) override {
    const Lock lock(*this, LOCK_SH);
    read();
    return values_.absent(keys).empty();
  }
  void wait(const Keys& keys, std::chrono::nanoseconds limit) override {
    wait_until(keys, limit, deadline_after(limit));
  }
  std::string compare_set(const std::string& key, std::string_view expected, std::string_view desired) override {
    const Lock lock(*this, LOCK_EX);
    read();
    if (!values_.fits(key, expected)) return values_.value_or(key, expected);
    record(key, desired);
    return std::string(desired);
  }
  bool delete_key(const std::string& key) override {
    const Lock lock(*this, LOCK_EX);
    read();
    if (!values_.find(key)) return false;
    record(key, {}, true);
    return true;
  }
  int64_t num_keys() override {
    const Lock lock(*this, LOCK_SH);
    read();
    return static_cast<int64_t>(values_.size());
  }

 private:
  // The locks of this store's threads and of the file's processes.
  struct Lock {
    Lock(FileStore& s, int kind) : guard(s.mutex_), fd(s.fd_) {
      while (::flock(fd, kind) < 0)
        if (errno != EINTR) s.fail("locking");
    }
    ~Lock() { ::flock(fd, LOCK_UN); }
    std::lock_guard<std::mutex> guard;
    int fd;
  };

  [[noreturn]] void fail(const char* what, int error = errno) const {
    throw Error(errors.store, detail::text("FileStore: ", what, " '", path_, "': ", std::strerror(error)));
  }
  int64_t size() const {
    struct stat s;
    if (::fstat(fd_, &s) < 0) fail("reading the size of");
    return s.st_size;
  }
  void wait_until(const Keys& keys, std::chrono::nanoseconds limit, Clock::time_point end) {
    for (auto pause = std::chrono::microseconds(200); !check(keys); pause = std::min(pause * 2, longest_pause)) {
      if (Clock::now() >= end) {
        const std::lock_guard lock(mutex_);
        raise_absent(values_.absent(keys), limit);
      }
      lamella::check(api().check_interrupt());
      std::this_thread::sleep_for(pause);
    }
  }

  // Reads the records that were added since.
  void read() {
    const int64_t end = size();
    if (end == read_) return;
    if (end < read_) throw Error(errors.store, "FileStore: '" + path_ + "' was cut off by another program");
    std::string bytes(static_cast<size_t>(end - read_), 0);
    for (size_t n = 0; n < bytes.size();) {
      const ssize_t got = ::pread(fd_, bytes.data() + n, bytes.size() - n, read_ + static_cast<int64_t>(n));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail("reading");
      n += static_cast<size_t>(got);
    }
    std::string_view rest = bytes;
    if (!read_ && rest.substr(0, magic.size()) != magic)
      throw Error(errors.store, "FileStore: '" + path_ + "' is not the file of a store; name one that does not exist");
    if (!read_) rest.remove_prefix(magic.size());
    Head h;
    while (rest.size() >= sizeof h) {
      std::memcpy(&h, rest.data(), sizeof h);
      if (rest.size() - sizeof h < uint64_t{h.key} + h.value) break;
      const std::string key(rest.substr(sizeof h, h.key));
      if (h.erased)
        values_.erase(key);
      else
        values_.set(key, rest.substr(sizeof h + h.key, h.value));
      rest.remove_prefix(sizeof h + h.key + h.value);
    }
    read_ = end - static_cast<int64_t>(rest.size());
  }

  // Adds a record behind what was read. The caller has the exclusive lock.
  void record(const std::string& key, std::string_view value, bool erased = false) {
    LAMELLA_CHECK_VALUE(key.size() < UINT32_MAX && value.size() < UINT32_MAX, "FileStore: a value is too long");
    const Head h = {erased, static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size())};
    std::string bytes(reinterpret_cast<const char*>(&h), sizeof h);
    bytes += key;
    bytes += value;
    write_all(bytes, read_);
    read_ += static_cast<int64_t>(bytes.size());
    if (erased)
      values_.erase(key);
    else
      values_.set(key, value);
  }
  // Writes bytes at the end of the whole records, or none of them.
  void write_all(std::string_view bytes, int64_t at) {
    if (size() > at && ::ftruncate(fd_, at) < 0) fail("writing to");
    for (size_t n = 0; n < bytes.size();) {
      const ssize_t put = ::pwrite(fd_, bytes.data() + n, bytes.size() - n, at + static_cast<int64_t>(n));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) {
        const int error = put ? errno : ENOSPC;
        if (::ftruncate(fd_, at) < 0) fail("writing to");
        fail("writing to", error);
      }
      n += static_cast<size_t>(put);
    }
  }

  static constexpr std::chrono::microseconds longest_pause{10000};
  std::string path_;
  int world_size_, fd_ = -1;
  pid_t pid_ = ::getpid();
  std::mutex mutex_;
  Values values_;
  int64_t read_ = 0;  // the end of the whole records that were read
};

}  // namespace

StoreRef make_file_store(const std::string& path, int world_size) {
  return StoreRef::steal(new FileStore(path, world_size));
}

}  // namespace lamella::distributed
