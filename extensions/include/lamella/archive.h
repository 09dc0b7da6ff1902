/* The interface "archive", version 1, which the library itself publishes: reads and writes the zip files of stored
 * members that checkpoints and programs are (docs/checkpoint_format.md). C uses the table, which is found as
 * find_interface("archive", 1) and may grow at its end; C++ uses the classes below it.
 *
 *   lamella::ArchiveWriter to("weights.zip");
 *   to.add("data/0", values.data(), values.size() * sizeof(float));
 *   to.finish();
 *   lamella::ArchiveReader from("weights.zip");
 *   lamella::TensorRef t = from.tensor("data/0", LAMELLA_FLOAT32, {2, 3});  // over the mapped file
 */
#ifndef LAMELLA_ARCHIVE_H
#define LAMELLA_ARCHIVE_H

#include <lamella/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open archive is an object: `retain` and `release` count its references, and the last one closes the file. It
 * never changes, so that any number of threads may read it. */
typedef struct lamella_archive lamella_archive;
/* An archive that is being written. One thread at a time uses it; `finish` or `abort` ends it. */
typedef struct lamella_archive_writer lamella_archive_writer;

/* A member, as the directory describes it. Made by the library; lives as long as its archive. */
typedef struct {
  uint32_t size;    /* of this struct */
  uint32_t crc32;   /* the checksum that its bytes must have */
  const char* name; /* UTF-8, a relative path without "." and ".." */
  uint64_t num_bytes;
  uint64_t offset; /* of its first byte in the file; in files of this writer a multiple of 64 */
} lamella_archive_member;

/* One of several runs of bytes that are written, or summed, as if they were one. */
typedef struct {
  const void* data; /* null if there are no bytes */
  uint64_t num_bytes;
} lamella_archive_piece;

/* Bytes that are no archive, or a damaged one, are a LAMELLA_RUNTIME_ERROR that says which part is wrong. */
typedef struct {
  uint32_t size;
  uint32_t reserved;

  /* reading */
  /* Opens a file and maps it. Its directory and the headers of all members are checked; the bytes are not: `verify`.
   * The file must not be shortened while it is open. Another file may take its name, as by `finish`. */
  lamella_status (*open_file)(const char* path, lamella_archive** out);
  /* Opens an archive that lies in memory. The archive owns the bytes from then on: the deleter (nullable) gets
   * `context` when the last reference is released, and is not called after an error. */
  lamella_status (*open_memory)(const void* data, uint64_t num_bytes, void (*deleter)(void*), void* context,
                                lamella_archive** out);
  int64_t (*num_members)(const lamella_archive*);
  const lamella_archive_member* (*member)(const lamella_archive*, int64_t i); /* in the directory's order; or null */
  const lamella_archive_member* (*find)(const lamella_archive*, const char* name); /* null: no member has the name */
  /* Gives the place of a member's bytes, which stay there as long as the archive. The bytes of a mapped file may be
   * changed: a write reaches neither the file nor other processes. The checksum is not verified. A name that no member
   * has is an error. */
  lamella_status (*data)(const lamella_archive*, const char* name, void** data, uint64_t* num_bytes);
  /* Makes a tensor of the host over a member's bytes, from `offset` on, in row-major order. It keeps the archive open.
   * If the bytes do not begin at a multiple of the dtype's size, or there are none, it gets memory of its own with a
   * copy of them. The checksum is not verified. Fails if the member has too few bytes. */
  lamella_status (*tensor)(lamella_archive*, const char* name, uint64_t offset, int32_t ndim, const int64_t* sizes,
                           int32_t dtype, lamella_tensor** out);
  /* Copies all bytes of a member to memory of the caller. Fails if their checksum does not match. */
  lamella_status (*read)(const lamella_archive*, const char* name, void* to);
  /* Fails if the checksum of a member's bytes in the file does not match, or if no member has the name. */
  lamella_status (*verify)(const lamella_archive*, const char* name);

  /* writing */
  /* Begins a file that will replace the one of this path, or be new. Until `finish` it has another name in the same
   * folder, which nothing else uses, and the old file stays as it is. */
  lamella_status (*begin_file)(const char* path, lamella_archive_writer** out);
  /* Begins an archive whose bytes are passed to a function, in their order; a status that it returns ends the call. */
  lamella_status (*begin)(lamella_status (*write)(void* context, const void* data, uint64_t num_bytes), void* context,
                          lamella_archive_writer** out);
  /* Adds a member. A name that is no safe path, is longer than 1024 bytes or was added before is a LAMELLA_VALUE_ERROR,
   * after which other members can be added. After another error the only use of the writer is `abort`. */
  lamella_status (*add)(lamella_archive_writer*, const char* name, const lamella_archive_piece* pieces,
                        int64_t num_pieces);
  /* Writes the directory, gives the file its name, and ends the writer, also after an error: the old file is left then.
   * durable: waits until the file and its name are on the disk, so that they outlive a loss of power. */
  lamella_status (*finish)(lamella_archive_writer*, int32_t durable);
  /* Removes what was written, and ends the writer. Null does nothing. */
  void (*abort)(lamella_archive_writer*);

  /* The SHA-256 of the pieces' bytes, as FIPS 180-4 has it: 32 bytes. */
  lamella_status (*sha256)(const lamella_archive_piece* pieces, int64_t num_pieces, uint8_t* out);
} lamella_archive_interface;

#ifdef __cplusplus
}

#include <lamella/library.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(hidden) /* all of C++ stays within the library that it is compiled into */

namespace lamella {

/* Returns the interface "archive". */
inline const lamella_archive_interface& archive_interface() {
  static const auto* found = static_cast<const lamella_archive_interface*>(api().find_interface("archive", 1));
  if (!found) throw Error(LAMELLA_RUNTIME_ERROR, "this lamella has no interface 'archive': install a newer one");
  return *found;
}

/* Returns the SHA-256 of some bytes. */
inline std::array<uint8_t, 32> sha256(std::string_view bytes) {
  std::array<uint8_t, 32> out;
  const lamella_archive_piece piece = {bytes.data(), bytes.size()};
  check(archive_interface().sha256(&piece, 1, out.data()));
  return out;
}

/* Reads an archive. Copies share one open archive. What fails throws an Error. */
class ArchiveReader {
 public:
  explicit ArchiveReader(const char* path) { check(archive_interface().open_file(path, &archive_)); }
  explicit ArchiveReader(const std::string& path) : ArchiveReader(path.c_str()) {}
  /* Reads an archive from memory, which the reader and its tensors keep until the last of them is gone. */
  static ArchiveReader from_memory(std::string bytes) {
    auto* kept = new std::string(std::move(bytes));
    ArchiveReader r;
    const lamella_status st = archive_interface().open_memory(
        kept->data(), kept->size(), [](void* s) { delete static_cast<std::string*>(s); }, kept, &r.archive_);
    if (st) delete kept;
    check(st);
    return r;
  }
  ArchiveReader(const ArchiveReader& o) : archive_(o.archive_) { api().retain(archive_); }
  ArchiveReader(ArchiveReader&& o) noexcept : archive_(std::exchange(o.archive_, nullptr)) {}
  ArchiveReader& operator=(ArchiveReader o) noexcept {
    std::swap(archive_, o.archive_);
    return *this;
  }
  ~ArchiveReader() {
    if (archive_) api().release(archive_);
  }

  lamella_archive* c() const { return archive_; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (int64_t i = 0; i < archive_interface().num_members(archive_); i++)
      all.emplace_back(archive_interface().member(archive_, i)->name);
    return all;
  }
  /* Null if no member has the name. */
  const lamella_archive_member* find(const std::string& name) const {
    return archive_interface().find(archive_, name.c_str());
  }
  /* A member's bytes, where they are; valid as long as the reader or a copy of it. The checksum is not verified. */
  std::string_view data(const std::string& name) const {
    void* at;
    uint64_t bytes;
    check(archive_interface().data(archive_, name.c_str(), &at, &bytes));
    return {static_cast<const char*>(at), static_cast<size_t>(bytes)};
  }
  /* A copy of a member's bytes, whose checksum was verified. */
  std::string text(const std::string& name) const {
    std::string s(data(name).size(), '\0');
    check(archive_interface().read(archive_, name.c_str(), &s[0]));
    return s;
  }
  void verify(const std::string& name) const { check(archive_interface().verify(archive_, name.c_str())); }
  /* A tensor of the host over a member's bytes, from the offset on, which keeps the archive open. The checksum is not
   * verified. */
  TensorRef tensor(const std::string& name, int32_t dtype, const std::vector<int64_t>& sizes,
                   uint64_t offset = 0) const {
    lamella_tensor* t;
    check(archive_interface().tensor(archive_, name.c_str(), offset, static_cast<int32_t>(sizes.size()), sizes.data(),
                                     dtype, &t));
    return TensorRef::steal(t);
  }

 private:
  ArchiveReader() = default;
  lamella_archive* archive_ = nullptr;
};

/* Writes an archive. The file replaces that of the path when finish() returns; a writer that is destroyed before
 * leaves the old file as it is. What fails throws an Error. */
class ArchiveWriter {
 public:
  explicit ArchiveWriter(const char* path) { check(archive_interface().begin_file(path, &writer_)); }
  explicit ArchiveWriter(const std::string& path) : ArchiveWriter(path.c_str()) {}
  ArchiveWriter(ArchiveWriter&& o) noexcept : writer_(std::exchange(o.writer_, nullptr)) {}
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;
  ~ArchiveWriter() { archive_interface().abort(writer_); }

  lamella_archive_writer* c() const { return writer_; }
  void add(const std::string& name, const void* data, size_t size) {
    const lamella_archive_piece piece = {data, size};
    check(archive_interface().add(writer_, name.c_str(), &piece, 1));
  }
  void add(const std::string& name, std::string_view text) { add(name, text.data(), text.size()); }
  void finish(bool durable = true) {
    check(archive_interface().finish(std::exchange(writer_, nullptr), durable ? 1 : 0));
  }

 private:
  lamella_archive_writer* writer_ = nullptr;
};

}  // namespace lamella

#pragma GCC visibility pop
#endif
#endif
