// Makes, locks, renames and removes the parts of Note [Atomic files].
#include "core/archive/replacement.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string_view>
#include <system_error>

#include "core/archive/sha256.h"

namespace lamella::archive {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Returns the beginning of the names of a file's parts. It has a digest in place of a file's name that is so long that
// the name of a part would be too long.
std::string stem(const std::string& name) {
  if (name.size() <= 180) return "." + name + ".";
  Sha256 sum;
  sum.add(name.data(), name.size());
  std::string s = ".";
  char pair[3];
  for (const uint8_t byte : sum.finish()) {
    std::snprintf(pair, sizeof pair, "%02x", byte);
    s += pair;
  }
  return s + ".";
}

// Returns whether a path names the file that is open as `fd`.
bool same_file(int fd, const std::string& path) {
  struct stat there, here;
  if (lstat(path.c_str(), &there)) {
    if (errno == ENOENT) return false;
    fail("stat");
  }
  if (fstat(fd, &here)) fail("stat");
  return there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

// Removes the parts of a file that dead writers have left.
void remove_stale(const std::string& folder, const std::string& name) {
  DIR* entries = opendir(folder.c_str());
  if (!entries) return;
  const std::string begin = stem(name);
  while (const dirent* entry = readdir(entries)) {
    const std::string_view part = entry->d_name;
    if (!part.starts_with(begin) || !part.ends_with(part_suffix)) continue;
    try {
      remove_unlocked(folder + "/" + entry->d_name);
    } catch (const std::system_error&) {  // it has a writer, or is gone
    }
  }
  closedir(entries);
}

// Makes a new part, locked, and returns its descriptor.
int open_part(const std::string& folder, const std::string& name, std::string* path) {
  std::random_device random;
  for (;;) {
    char number[9];
    std::snprintf(number, sizeof number, "%08x", random());
    *path = folder + "/" + stem(name) + number + part_suffix;
    const int fd = open(path->c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) fail("open");
    (void)flock(fd, LOCK_EX);  // it fails on a file system without locks, where remove_unlocked() removes no part
    try {
      if (same_file(fd, *path)) return fd;
    } catch (...) {
      close(fd);
      throw;
    }
    close(fd);  // another writer removed it before it was locked
  }
}

void keep_mode(int fd, const struct stat& old) {
  struct stat made;
  if (fstat(fd, &made)) fail("stat");
  if (made.st_uid != old.st_uid || made.st_gid != old.st_gid) (void)!fchown(fd, old.st_uid, old.st_gid);
  if ((made.st_mode & 07777) != (old.st_mode & 07777) && fchmod(fd, old.st_mode & 07777)) fail("chmod");
}

}  // namespace

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Replacement::Replacement(const std::string& path) : path_(path), owner_(getpid()) {
  const std::string folder = folder_of(path), name = name_of(path);
  struct stat old;
  const bool replaces = !stat(path.c_str(), &old);
  remove_stale(folder, name);
  fd_ = open_part(folder, name, &part_);
  try {
    if (replaces) keep_mode(fd_, old);
  } catch (...) {
    discard();
    throw;
  }
}

Replacement::~Replacement() { discard(); }

void Replacement::commit(bool durable) {
  if (durable && fsync(fd_)) fail("fsync");
  if (rename(part_.c_str(), path_.c_str())) fail("rename");
  part_.clear();
  close(fd_);
  fd_ = -1;
}

void Replacement::discard() noexcept {
  if (!part_.empty() && getpid() == owner_) unlink(part_.c_str());
  part_.clear();
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void sync_folder(const std::string& folder) {
  const Descriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) fail("open");
  (void)fsync(fd.get());
}

void remove_unlocked(const std::string& part) {
  const Descriptor fd(open(part.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() < 0) fail("open");
  if (flock(fd.get(), LOCK_EX | LOCK_NB)) fail("flock");
  if (same_file(fd.get(), part) && unlink(part.c_str())) fail("unlink");
}

}  // namespace lamella::archive
