// Replacement: a new file that takes the name of an old one in one step.
//
// Note [Atomic files]  The new file is written under a name of its own in the folder of the old one,
//   `.NAME.RANDOM.lamella-part`. Its writer holds a lock on it (flock) until it is renamed or removed. The system
//   releases the lock when the process ends in any way, so a part without a lock was left by a dead writer, and the
//   next replacement of the same file removes it. A file without a name (O_TMPFILE) would leave nothing behind, but
//   rename, which alone replaces a file, needs a name; and not every file system has it. Two writers of one file have
//   two parts; the one that is renamed last stays.
#pragma once

#include <sys/types.h>

#include <string>

namespace lamella::archive {

inline constexpr const char* part_suffix = ".lamella-part";

// A step that fails raises std::system_error.
class Replacement {
 public:
  // Begins to replace a file, or makes it. A symbolic link would be replaced itself, so the caller resolves links. The
  // new file gets the old one's mode, and its owner if the system allows that.
  explicit Replacement(const std::string& path);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement();  // discards what was not committed

  int fd() const { return fd_; }
  // Renames the new file. `durable`: its bytes are on the disk before that; sync_folder() then does so for its name.
  void commit(bool durable);
  // Removes the new file, and leaves the old one.
  void discard() noexcept;

 private:
  std::string path_, part_;  // no part: it was committed or discarded
  int fd_ = -1;
  pid_t owner_;  // a child of fork removes no part of its parent
};

// Returns the folder of a path; "." if the path has none.
std::string folder_of(const std::string& path);
// Makes the names of a folder durable; some file systems refuse that, and do not need it.
void sync_folder(const std::string& folder);
// Removes a part whose writer is dead; raises std::system_error if the writer is alive.
void remove_unlocked(const std::string& part);

}  // namespace lamella::archive
