// Files of programs: docs/checkpoint_format.md, "Programs". Loading runs nothing of a file.
#pragma once

#include "files/description.h"
#include "interface/program.h"

namespace lamella::graph::files {

struct LoadOptions {
  bool mapped = false;                // tensors in host memory lie in the file
  bool verify = false;                // the SHA-256 of every member is compared
  bool allow_host = false;            // operators of plugins may hand values to the host
  std::optional<std::string> device;  // where tensors are put; none: where they were saved from
};

struct LoadedFile {
  Index index;  // without its JSON
  lamella_object* program = nullptr;
  Held root;  // an instance, or none for a function
  Description description;
  int64_t version = 0;

  explicit LoadedFile(Index index) : index(std::move(index)) {}
  LoadedFile(const LoadedFile&) = delete;
  ~LoadedFile() {
    if (program) api().release(program);
  }
};

// Reads a program. `name` is the file's in messages. Raises Error.
std::unique_ptr<LoadedFile> load(ArchiveReader archive, std::string name, const LoadOptions& options);

inline constexpr std::string_view extra = "extra/";  // the folder of further files
// Further files by their names.
using ExtraFiles = std::map<std::string, std::string>;

// Replaces a file by the program with its tensors and attributes as they are now, in one step. `more` replaces further
// files of the same names. A signature and what plugins keep on tensors, but requires_grad, are left out. Raises Error.
void save(const LoadedFile& file, const std::string& path, ExtraFiles more, bool durable);
lamella_graph_files files_into(ExtraFiles& to);

}  // namespace lamella::graph::files
