// Opens archives of programs.
#include "files/index.h"

#include <algorithm>
#include <unordered_set>

namespace lamella::graph::files {
namespace {

constexpr const char* index_name = "index.json";
constexpr const char* signature_name = "signature.json";
constexpr int64_t newest = 1;  // the newest version of the format
constexpr uint64_t most_bytes = uint64_t{1} << 62;

// Returns what an archive of torch's programs is, and what to do; empty for any other archive.
std::string program_of_torch(const std::vector<std::string>& names) {
  std::unordered_set<std::string> tails;
  bool has_code = false;
  for (const std::string& name : names) {
    const size_t slash = name.find('/');
    const std::string tail = slash == std::string::npos ? "" : name.substr(slash + 1);
    has_code = has_code || tail.rfind("code/", 0) == 0;
    tails.insert(tail);
  }
  const std::string advice = "C++ does not read; load it by lamella.jit.load in Python, and save what that returns";
  if (tails.count("constants.pkl") && has_code) return "a program of torch.jit.save, whose code " + advice;
  if (tails.count("archive_format") || tails.count("models/model.json"))
    return "a program of torch.export.save, which " + advice;
  return {};
}

}  // namespace

std::string hex_of(const std::array<uint8_t, 32>& hash) {
  std::string out;
  for (const uint8_t b : hash)
    for (const int half : {b >> 4, b & 15}) out += "0123456789abcdef"[half];
  return out;
}

Index::Index(ArchiveReader archive, std::string name, bool verify)
    : archive_(std::move(archive)), name_(std::move(name)), verify_(verify) {
  if (!archive_.find(index_name)) {
    const std::string other = program_of_torch(archive_.names());
    refuse(name_ + (other.empty() ? " is an archive of something else: it has no index.json" : " is " + other));
  }
  with_damages([&] {
    json_ = parse_json(reading([&] { return archive_.text(index_name); }));
    compare_kind();
    list_members();
    compare_members();
  });
  if (verify_)
    for (const auto& [member, hash] : hashes_)
      if (member.rfind("data/", 0) != 0) compare_hash(member, reading([&] { return archive_.text(member); }));
}

void Index::compare_kind() const {
  const Json& format = json_.at("format");
  if (!format.text() || *format.text() != "lamella.program") {
    if (format.text() && *format.text() == "lamella")
      refuse(name_ + " is of the kind 'lamella', a checkpoint; lamella.load of Python reads it");
    throw Damage("its format is not 'lamella.program'");
  }
  const Json& version = json_.at("version");
  const int64_t* number = std::get_if<int64_t>(&version.value);
  if (!number || *number < 1 || *number > newest)
    refuse(name_ + " has version " + version.shown() + " of the format; this Lamella reads up to " +
           std::to_string(newest));
}

void Index::list_members() {
  for (const JsonMember& m : json_.at("members").as_object("'members'")) {
    m.value.as_object("a member in 'members'");
    if (m.name == index_name || m.name == signature_name) throw Damage("'members' has the index or the signature");
    if (!archive_.find(m.name)) throw Damage("it describes the member '" + m.name + "', which is not there");
    const Json* hash = m.value.find("sha256");
    hashes_[m.name] = hash && hash->text() ? *hash->text() : "";
  }
}

void Index::compare_members() const {
  std::unordered_set<std::string> expected = {index_name, signature_name};
  for (const auto& [name, hash] : hashes_)
    if (name.rfind("data/", 0) != 0) expected.insert(name);
  const Json::List& storages = json_.at("storages").as_list("'storages'");
  for (size_t i = 0; i < storages.size(); i++) {
    const std::string number = "storage " + std::to_string(i);
    const Json::List& parts = storages[i].as_list(number);
    if (parts.size() != 2 || !parts[1].text()) throw Damage(number + " must have a size and a device");
    const auto bytes = static_cast<uint64_t>(parts[0].as_number_of_part());
    if (bytes >= most_bytes) throw Damage(number + " must have a size and a device");
    if (*parts[1].text() == "meta") continue;
    const lamella_archive_member* m = archive_.find(storage_member(i));
    if (!m) throw Damage("the member '" + storage_member(i) + "' is missing");
    if (m->num_bytes != bytes)
      throw Damage(number + " has " + std::to_string(m->num_bytes) + " bytes, not " + std::to_string(bytes));
    if (m->offset % 64) throw Damage(number + " is not at a multiple of 64 bytes");
    expected.insert(m->name);
  }
  std::string least;
  for (const std::string& name : archive_.names())
    if (!expected.count(name) && (least.empty() || name < least)) least = name;
  if (!least.empty()) throw Damage("it does not describe the member '" + least + "'");
}

std::string Index::member(const std::string& name) const {
  if (!lists(name)) damaged("'members' has no '" + name + "'");
  std::string bytes = reading([&] { return archive_.text(name); });
  compare_hash(name, bytes);
  return bytes;
}

std::vector<std::string> Index::names_with(std::string_view prefix) const {
  std::vector<std::string> found;
  for (const auto& [name, hash] : hashes_)
    if (name.rfind(prefix, 0) == 0) found.push_back(name);
  std::sort(found.begin(), found.end());
  return found;
}

void Index::compare_hash(const std::string& member, std::string_view bytes) const {
  const auto found = hashes_.find(member);
  if (found == hashes_.end() || found->second.empty())
    refuse("the index of " + name_ + " has no SHA-256 of the member '" + member +
           "'; save it with hashes=True to verify it");
  if (hex_of(sha256(bytes)) != found->second)
    refuse("the member '" + member + "' of " + name_ + " has another SHA-256 than its index says");
}

}  // namespace lamella::graph::files
