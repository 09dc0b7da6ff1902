// An archive of a program and its index, which says what the archive's members are.
#pragma once

#include <lamella/archive.h>

#include <array>
#include <unordered_map>

#include "files/json.h"

namespace lamella::graph::files {

// Returns a SHA-256 as the index has it.
std::string hex_of(const std::array<uint8_t, 32>& hash);

// The messages of errors begin with "load: " and name the file, as those of jit.load in Python.
class Index {
 public:
  // Opens an archive and compares its members with the index. verify: the SHA-256 of every member is compared, which
  // the index then must have. Raises Error.
  Index(ArchiveReader archive, std::string name, bool verify);

  const ArchiveReader& archive() const { return archive_; }
  const std::string& name() const { return name_; }
  const Json& json() const { return json_; }
  bool verifies() const { return verify_; }
  void forget_json() { json_ = {}; }

  // Returns the bytes of a listed member, whose checksum and SHA-256 are right. Raises Error.
  std::string member(const std::string& name) const;
  bool lists(const std::string& name) const { return hashes_.count(name) != 0; }
  std::vector<std::string> names_with(std::string_view prefix) const;  // of listed members, sorted
  // Raises Error unless bytes have the SHA-256 that the index has for a member.
  void compare_hash(const std::string& member, std::string_view bytes) const;

  // Calls a function that reads the index, and turns what it raises into an Error that names the file.
  template <class F>
  auto with_damages(F f) const {
    try {
      return f();
    } catch (const Damage& e) {
      damaged(e.what());
    } catch (const Error& e) {
      const std::string why = e.what();
      if (e.kind() == LAMELLA_OUT_OF_MEMORY || why.rfind("load: ", 0) == 0) throw;
      damaged(why);
    }
  }
  // Calls a function that reads members, and turns what it raises into an Error that names the file.
  template <class F>
  auto reading(F f) const {
    try {
      return f();
    } catch (const Error& e) {
      if (e.kind() == LAMELLA_OUT_OF_MEMORY) throw;
      refuse(name_ + ": " + e.what());
    }
  }
  [[noreturn]] void damaged(const std::string& why) const { refuse("the index of " + name_ + " is damaged: " + why); }
  [[noreturn]] static void refuse(const std::string& why) { throw Error(LAMELLA_RUNTIME_ERROR, "load: " + why); }

 private:
  void compare_kind() const;
  void list_members();
  void compare_members() const;

  ArchiveReader archive_;
  std::string name_;
  bool verify_;
  Json json_;
  std::unordered_map<std::string, std::string> hashes_;  // of the listed members; empty: the index has none
};

// Returns the name of the member that has the bytes of a storage.
inline std::string storage_member(size_t number) { return "data/" + std::to_string(number); }

}  // namespace lamella::graph::files
