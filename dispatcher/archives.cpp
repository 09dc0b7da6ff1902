#include "dispatcher/archives.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unordered_set>
#include <vector>

#include "core/archive/reader.h"
#include "core/archive/replacement.h"
#include "core/archive/sha256.h"
#include "core/archive/writer.h"
#include "core/device.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/object.h"
#include "core/tensor.h"
#include "dispatcher/door.h"
#include "dispatcher/tensors.h"

using lamella::archive::Archive;
using lamella::archive::Fault;
using lamella::archive::Member;
using lamella::archive::Piece;

struct lamella_archive {
  lamella_object object;
  std::unique_ptr<Archive> archive;
  std::shared_ptr<lamella::archive::Mapping> mapping;  // of a file
  const char* data = nullptr;                          // the bytes of the whole archive
  void (*deleter)(void*) = nullptr;                    // of memory
  void* context = nullptr;
  std::vector<lamella_archive_member> members;
  std::mutex reading_small;  // see Archive
};

struct lamella_archive_writer {
  std::optional<lamella::archive::Replacement> file;  // none for a function that writes
  std::unique_ptr<lamella::archive::Sink> sink;
  std::optional<lamella::archive::Writer> writer;
  std::string folder;
  std::unordered_set<std::string> names;
};

namespace lamella::dispatcher {
namespace {

// The status of a function that writes, whose error is pending.
struct Refused {
  lamella_status status;
};

class FunctionSink : public archive::Sink {
 public:
  using Write = lamella_status (*)(void*, const void*, uint64_t);
  FunctionSink(Write write, void* context) : write_(write), context_(context) {}
  void write(const void* data, size_t size) override {
    if (const lamella_status st = write_(context_, data, size)) throw Refused{st};
  }

 private:
  Write write_;
  void* context_;
};

// Calls a function that reads or writes, and turns what it throws into the pending error; other exceptions are the
// door's business. `what` precedes the message.
template <class F>
lamella_status caught(const std::string& what, F&& f) {
  try {
    f();
  } catch (const Refused& r) {
    return r.status;
  } catch (const std::invalid_argument& e) {
    return core::raise(LAMELLA_VALUE_ERROR, what + e.what());
  } catch (const std::system_error& e) {  // its what() begins with the function of the system
    return core::raise(LAMELLA_RUNTIME_ERROR, what + e.code().message());
  } catch (const Fault& e) {
    return core::raise(LAMELLA_RUNTIME_ERROR, what + e.what());
  }
  return LAMELLA_OK;
}

std::string quoted(const char* path) { return std::string("'") + path + "'"; }

// ---- reading ----

void destroy(lamella_object* o) {
  auto* a = reinterpret_cast<lamella_archive*>(o);
  const auto deleter = a->deleter;
  void* const context = a->context;
  delete a;
  if (deleter) deleter(context);
}
const lamella_object_type archive_type = {sizeof(lamella_object_type), 0, "Archive", destroy};

// Makes an archive of an opened source whose bytes lie at `data`; null: the source is to be mapped.
std::unique_ptr<lamella_archive> made(std::shared_ptr<archive::Source> source, const char* data) {
  auto a = std::make_unique<lamella_archive>();
  a->object = {1, &archive_type};
  a->archive = std::make_unique<Archive>(std::move(source));
  if (!data) a->mapping = a->archive->map();
  a->data = data ? data : a->mapping->data();
  for (const Member& m : a->archive->members())
    a->members.push_back({sizeof(lamella_archive_member), m.crc, m.name.c_str(), m.size, m.data});
  return a;
}

lamella_status open_file(const char* path, lamella_archive** out) {
  return caught("archive " + quoted(path) + ": ", [&] {
    const auto fail = [](int error) { throw std::system_error(error, std::generic_category()); };
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe without a writer would wait for one
    if (fd < 0) fail(errno);
    const std::unique_ptr<const int, void (*)(const int*)> closed(&fd, [](const int* f) { close(*f); });
    struct stat s;
    if (fstat(fd, &s)) fail(errno);
    if (!S_ISREG(s.st_mode)) throw Fault("it is no plain file");
    *out = made(std::make_shared<archive::FileSource>(fd, 0), nullptr).release();
  });
}

lamella_status open_memory(const void* data, uint64_t num_bytes, void (*deleter)(void*), void* context,
                           lamella_archive** out) {
  return caught("archive in memory: ", [&] {
    auto a = made(std::make_shared<archive::MemorySource>(data, num_bytes), static_cast<const char*>(data));
    a->deleter = deleter;  // only now: after an error the memory is still the caller's
    a->context = context;
    *out = a.release();
  });
}

int64_t num_members(const lamella_archive* a) { return static_cast<int64_t>(a->members.size()); }
const lamella_archive_member* member(const lamella_archive* a, int64_t i) {
  return i >= 0 && i < num_members(a) ? &a->members[static_cast<size_t>(i)] : nullptr;
}
const lamella_archive_member* find(const lamella_archive* a, const char* name) {
  const Member* m = a->archive->find(name);
  return m ? &a->members[static_cast<size_t>(m - a->archive->members().data())] : nullptr;
}

// Calls `use` with a member, or raises if there is none of that name.
template <class F>
lamella_status with_member(const lamella_archive* a, const char* name, F&& use) {
  return caught("", [&] {
    const Member* m = a->archive->find(name);
    if (!m) throw Fault("member " + quoted(name) + " is missing");
    use(*m);
  });
}

lamella_status data_of(const lamella_archive* a, const char* name, void** data, uint64_t* num_bytes) {
  return with_member(a, name, [&](const Member& m) {
    *data = const_cast<char*>(a->data) + m.data;
    *num_bytes = m.size;
  });
}

lamella_status tensor(lamella_archive* a, const char* name, uint64_t offset, int32_t ndim, const int64_t* sizes,
                      int32_t dtype, lamella_tensor** out) {
  void* begin;
  uint64_t bytes;
  if (lamella_status st = data_of(a, name, &begin, &bytes)) return st;
  if (ndim < 0 || (ndim > 0 && !sizes) || !core::is_dtype(dtype))
    return core::raise(
        LAMELLA_VALUE_ERROR,
        core::format("member '%s' as a tensor: got %d dimensions%s and dtype %d; expected 0 or more, and "
                     "a dtype that is registered",
                     name, ndim, sizes ? "" : " without sizes", dtype));
  const lamella_device host = {core::host_backend(), 0};
  if (host.backend < 0)
    return core::raise(LAMELLA_RUNTIME_ERROR, "no backend of the host is loaded; lamella_load_default() loads it");
  const auto item = static_cast<uint64_t>(core::itemsize(static_cast<core::DType>(dtype)));
  int64_t numel;
  if (lamella_status st = core::check_sizes("tensor", ndim, sizes, static_cast<int64_t>(item), &numel)) return st;
  const uint64_t wanted = static_cast<uint64_t>(numel) * item;
  if (offset > bytes || wanted > bytes - offset)
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       core::format("member '%s' has %llu bytes, and the tensor needs %llu from byte %llu on", name,
                                    (unsigned long long)bytes, (unsigned long long)wanted, (unsigned long long)offset));
  char* const at = static_cast<char*>(begin) + offset;
  if (wanted == 0 || reinterpret_cast<uintptr_t>(at) % item != 0) {
    if (lamella_status st = tensor_empty(ndim, sizes, nullptr, dtype, host, out)) return st;
    if (wanted) std::memcpy((*out)->dl.data, at, wanted);
    return LAMELLA_OK;
  }
  core::retain(&a->object);
  const lamella_status st = tensor_from_blob(
      at, ndim, sizes, nullptr, dtype, host, [](void* o) { core::release(static_cast<lamella_object*>(o)); }, a, out);
  if (st) core::release(&a->object);
  return st;
}

lamella_status read(const lamella_archive* a, const char* name, void* to) {
  return with_member(a, name, [&](const Member& m) {
    std::unique_lock<std::mutex> lock(const_cast<lamella_archive*>(a)->reading_small, std::defer_lock);
    if (m.size < Archive::small) lock.lock();
    a->archive->read(m, to);
  });
}
lamella_status verify(const lamella_archive* a, const char* name) {
  return with_member(a, name, [&](const Member& m) { a->archive->verify(m); });
}

// ---- writing ----

// Returns the path that a chain of symbolic links leads to: the target is replaced, and the links stay.
std::string target_of(std::string path) {
  char to[PATH_MAX];
  for (int links = 0;; links++) {
    const ssize_t n = readlink(path.c_str(), to, sizeof to);
    if (n < 0) return path;
    if (links == 40 || n == sizeof to) throw std::system_error(ELOOP, std::generic_category());
    const std::string target(to, static_cast<size_t>(n));
    path = target[0] == '/' ? target : archive::folder_of(path) + "/" + target;
  }
}

lamella_status begin_file(const char* path, lamella_archive_writer** out) {
  return caught("archive " + quoted(path) + ": ", [&] {
    const std::string target = target_of(path);
    struct stat s;
    if (!stat(target.c_str(), &s) && !S_ISREG(s.st_mode)) throw Fault("it is no plain file");
    auto w = std::make_unique<lamella_archive_writer>();
    w->file.emplace(target);
    w->folder = archive::folder_of(target);
    w->sink = std::make_unique<archive::FileSink>(w->file->fd());
    w->writer.emplace(*w->sink);
    *out = w.release();
  });
}

lamella_status begin(lamella_status (*write)(void*, const void*, uint64_t), void* context,
                     lamella_archive_writer** out) {
  auto w = std::make_unique<lamella_archive_writer>();
  w->sink = std::make_unique<FunctionSink>(write, context);
  w->writer.emplace(*w->sink);
  *out = w.release();
  return LAMELLA_OK;
}

lamella_status add(lamella_archive_writer* w, const char* name, const lamella_archive_piece* pieces,
                   int64_t num_pieces) {
  if (num_pieces < 0 || (num_pieces > 0 && !pieces))
    return core::raise(LAMELLA_VALUE_ERROR, core::format("archive: member '%s': got %lld pieces%s", name,
                                                         (long long)num_pieces, pieces ? "" : ", and a null pointer"));
  return caught("", [&] {
    if (w->names.count(name)) throw std::invalid_argument("member " + quoted(name) + " was added before");
    std::vector<Piece> all;
    for (int64_t i = 0; i < num_pieces; i++) all.push_back({pieces[i].data, pieces[i].num_bytes});
    w->writer->add(name, all.data(), all.size());
    w->names.insert(name);
  });
}

lamella_status finish(lamella_archive_writer* writer, int32_t durable) {
  const std::unique_ptr<lamella_archive_writer> w(writer);
  return caught("archive: ", [&] {
    w->writer->finish();
    if (!w->file) return;
    w->file->commit(durable != 0);
    if (durable) archive::sync_folder(w->folder);
  });
}

void abort_writing(lamella_archive_writer* w) { delete w; }

lamella_status sha256(const lamella_archive_piece* pieces, int64_t num_pieces, uint8_t* out) {
  if (num_pieces < 0 || (num_pieces > 0 && !pieces))
    return core::raise(LAMELLA_VALUE_ERROR, core::format("sha256: got %lld pieces%s", (long long)num_pieces,
                                                         pieces ? "" : ", and a null pointer"));
  archive::Sha256 sum;
  for (int64_t i = 0; i < num_pieces; i++) sum.add(pieces[i].data, pieces[i].num_bytes);
  const auto digest = sum.finish();
  std::memcpy(out, digest.data(), digest.size());
  return LAMELLA_OK;
}

}  // namespace

const lamella_archive_interface archive_table = {
    .size = sizeof archive_table,
    .reserved = 0,
    .open_file = guard<open_file, "archive: open_file">,
    .open_memory = guard<open_memory, "archive: open_memory", nullable(2, 3)>,
    .num_members = guard<num_members, "archive: num_members">,
    .member = guard<member, "archive: member">,
    .find = guard<find, "archive: find">,
    .data = guard<data_of, "archive: data">,
    .tensor = guard<tensor, "archive: tensor", nullable(4)>,
    .read = guard<read, "archive: read">,
    .verify = guard<verify, "archive: verify">,
    .begin_file = guard<begin_file, "archive: begin_file">,
    .begin = guard<begin, "archive: begin", nullable(1)>,
    .add = guard<add, "archive: add", nullable(2)>,
    .finish = guard<finish, "archive: finish">,
    .abort = guard<abort_writing, "archive: abort", nullable(0)>,
    .sha256 = guard<sha256, "archive: sha256", nullable(0)>,
};

}  // namespace lamella::dispatcher
