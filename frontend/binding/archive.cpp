#include "frontend/binding/archive.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/dtype.h"
#include "core/storage.h"
#include "core/tensor.h"
#include "dispatcher/parallel.h"
#include "dispatcher/slots.h"
#include "dispatcher/tensors.h"
#include "core/archive/crc32.h"
#include "core/archive/reader.h"
#include "core/archive/replacement.h"
#include "core/archive/writer.h"
#include "frontend/binding/conversion.h"
#include "frontend/binding/status.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/unlocked.h"

namespace py = pybind11;

namespace lamella::binding {
namespace {

using archive::Archive;
using archive::Fault;
using archive::Member;

// Fewer than `with_lock` bytes are copied with the interpreter's lock held, since releasing the lock takes longer than
// the copy.
constexpr uint64_t with_lock = 64 << 10;

// The bytes of a Python object, by the buffer protocol.
class Bytes {
 public:
  explicit Bytes(PyObject* o, int flags = PyBUF_SIMPLE) {
    if (PyObject_GetBuffer(o, &view_, flags)) throw py::error_already_set();
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { PyBuffer_Release(&view_); }
  void* data() const { return view_.buf; }
  size_t size() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_;
};

// Reads a Python object with seek() and read(), from its position on.
class ObjectSource : public archive::Source {
 public:
  explicit ObjectSource(py::object file) : file_(std::move(file)) {
    base_ = file_.attr("tell")().cast<int64_t>();
    size_ = file_.attr("seek")(0, 2).cast<int64_t>() - base_;
  }
  ~ObjectSource() override {
    py::gil_scoped_acquire lock;
    file_ = py::object();
  }
  uint64_t size() const override { return size_ > 0 ? static_cast<uint64_t>(size_) : 0; }
  void read(uint64_t at, void* to, size_t count) override {
    py::gil_scoped_acquire lock;
    file_.attr("seek")(base_ + static_cast<int64_t>(at));
    for (auto* p = static_cast<char*>(to); count;) {
      const py::object part = file_.attr("read")(count);
      const Bytes bytes(part.ptr());
      if (bytes.size() > count)
        throw Fault("its read(" + std::to_string(count) + ") returned " + std::to_string(bytes.size()) + " bytes");
      if (bytes.size() == 0) throw Fault("it ends early: it became shorter while it was read");
      std::memcpy(p, bytes.data(), bytes.size());
      p += bytes.size(), count -= bytes.size();
    }
  }

 private:
  py::object file_;
  int64_t base_, size_;
};

// Writes to a Python object with write().
class ObjectSink : public archive::Sink {
 public:
  explicit ObjectSink(py::object file) : file_(std::move(file)) {}
  void write(const void* data, size_t size) override {
    auto* p = static_cast<const char*>(data);
    while (size) {
      const auto part = static_cast<Py_ssize_t>(std::min<size_t>(size, 1 << 30));
      const py::object view =
          py::reinterpret_steal<py::object>(PyMemoryView_FromMemory(const_cast<char*>(p), part, PyBUF_READ));
      const py::object written = file_.attr("write")(view);
      view.attr("release")();
      const auto n = written.is_none() ? static_cast<size_t>(part) : written.cast<size_t>();
      if (n == 0 || n > static_cast<size_t>(part)) {
        PyErr_Format(PyExc_OSError, "save: argument 'f': its write() returned %zu for %zd bytes; expected 1 to %zd", n,
                     part, part);
        throw py::error_already_set();
      }
      p += n, size -= n;
    }
  }

 private:
  py::object file_;
};

PyObject* of_storage(core::Storage* s) {  // takes over the storage
  const int64_t size = s->bytes, stride = 1;
  PyObject* o = wrap(core::tensor_over(s, 1, &size, &stride, 0, LAMELLA_UINT8));
  core::release(s);
  return o;
}

class PyArchive {
 public:
  PyArchive(const py::object& file, uint64_t base) {
    std::shared_ptr<archive::Source> source;
    if (PyLong_Check(file.ptr()))
      source = std::make_shared<archive::FileSource>(file.cast<int>(), base);
    else
      source = std::make_shared<ObjectSource>(file);
    archive_ = std::make_unique<Archive>(std::move(source));
  }

  py::list names() const {
    py::list out;
    for (const Member& m : archive_->members()) out.append(m.name);
    return out;
  }
  const Member& member(const std::string& name) const {
    const Member* m = archive_->find(name);
    if (!m) throw Fault("member '" + name + "' is missing");
    return *m;
  }
  py::bytes read(const std::string& name) {
    const Member& m = member(name);
    auto out = py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(m.size)));
    if (!out) throw py::error_already_set();
    archive_->read(m, PyBytes_AS_STRING(out.ptr()));
    return out;
  }
  // Returns a uint8 tensor over a whole member. If `mapped`, the tensor uses the mapped file, and the checksum is not
  // verified. The member is read instead if it is empty or does not begin at a multiple of `aligned`, or if the source
  // is no file descriptor. Throws if the file cannot be mapped.
  py::object storage(const std::string& name, bool mapped, uint64_t aligned) {
    const Member& m = member(name);
    if (mapped && m.size && m.data % aligned == 0) {
      if (auto mapping = archive_->map()) {
        auto* kept = new std::shared_ptr<archive::Mapping>(std::move(mapping));
        const auto size = static_cast<int64_t>(m.size);
        lamella_tensor* t;
        const lamella_status st = dispatcher::tensor_from_blob(
            (*kept)->data() + m.data, 1, &size, nullptr, LAMELLA_UINT8, {core::host_backend(), 0},
            [](void* p) { delete static_cast<std::shared_ptr<archive::Mapping>*>(p); }, kept, &t);
        if (st) delete kept;
        check(st);
        return owned(wrap(static_cast<Tensor*>(t)));
      }
    }
    core::Storage* s;
    check(core::new_storage(static_cast<int64_t>(m.size), {core::host_backend(), 0}, LAMELLA_UINT8, &s));
    const std::unique_ptr<core::Storage, void (*)(core::Storage*)> keep(s, core::release);
    if (m.size < with_lock) {
      archive_->read(m, s->data);
    } else {
      const int threads = dispatcher::get_num_threads();
      py::gil_scoped_release released;  // no other thread has the memory yet
      archive_->read(m, s->data, threads);
    }
    core::retain(s);
    return owned(of_storage(s));
  }
  void verify(const std::string& name) {
    const Member& m = member(name);
    py::gil_scoped_release released;
    archive_->verify(m);
  }

 private:
  static py::object owned(PyObject* o) {
    if (!o) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(o);
  }
  std::unique_ptr<Archive> archive_;
};

class PyArchiveWriter {
 public:
  PyArchiveWriter(const py::object& file, uint64_t expected) : to_file_(PyLong_Check(file.ptr())) {
    if (to_file_)
      sink_ = std::make_unique<archive::FileSink>(file.cast<int>(), expected);
    else
      sink_ = std::make_unique<ObjectSink>(file);
    writer_ = std::make_unique<archive::Writer>(*sink_);
  }
  // Adds a member. For a tensor it is all bytes of the tensor's storage.
  void add(const std::string& name, const py::object& data) {
    if (is_tensor(data.ptr())) {
      const Tensor* t = unwrap(data.ptr());
      if (t->opaque() || !core::is_host(t->backend))
        throw py::type_error("_ArchiveWriter: expected a tensor with elements in host memory, got one " +
                             (t->opaque() ? "that is opaque" : "on device '" + core::device_name(t->device()) + "'"));
      // A file object's `write` may let other threads run; the reference keeps the memory in place until it is written.
      core::Storage* const s = t->storage;
      core::retain(s);
      const std::unique_ptr<core::Storage, void (*)(core::Storage*)> held(s,
                                                                          [](core::Storage* of) { core::release(of); });
      add_bytes(name, s->data, static_cast<uint64_t>(s->bytes));
    } else {
      const Bytes bytes(data.ptr());
      add_bytes(name, bytes.data(), bytes.size());
    }
  }
  // Adds members whose names are a prefix and a number, from `first` on.
  void add_all(const std::string& prefix, uint64_t first, const py::list& data) {
    for (const py::handle& each : data) add(prefix + std::to_string(first++), py::reinterpret_borrow<py::object>(each));
  }
  void finish() { writer_->finish(); }

 private:
  void add_bytes(const std::string& name, const void* data, uint64_t size) {
    if (!to_file_ || size < with_lock) return writer_->add(name, data, size);
    const std::exception_ptr failed = unlocked([&]() -> std::exception_ptr {
      try {
        writer_->add(name, data, size);
      } catch (...) {
        return std::current_exception();
      }
      return nullptr;
    });
    if (failed) std::rethrow_exception(failed);
  }
  bool to_file_;
  std::unique_ptr<archive::Sink> sink_;
  std::unique_ptr<archive::Writer> writer_;
};

// Calls a function with the interpreter's lock released.
template <class F>
auto without_lock(F&& f) {
  const py::gil_scoped_release released;
  return f();
}

std::string list_of(const int64_t* v, int n) {
  std::string s = "[";
  for (int i = 0; i < n; i++) s.append(i ? "," : "").append(std::to_string(v[i]));
  return s += ']';
}

// Returns whether a tensor has elements only: it is not opaque, no slot of it is to be saved, and its __dict__ is
// empty.
bool is_plain(PyObject* o) {
  Tensor* t = unwrap(o);
  if (t->opaque()) return false;
  PyObject* held = reinterpret_cast<TensorObject*>(o)->dict;
  if (held && PyDict_GET_SIZE(held)) return false;
  std::vector<dispatcher::SavedSlot> saved;
  check(dispatcher::save_slots(t, &saved));
  return saved.empty();
}

// _window(tensor) -> (the storage's id; JSON of the dtype's name, the sizes, the strides or null for row-major, and the
// offset, separated by commas and without brackets around them; is_plain(tensor))
py::tuple window(const py::object& o) {
  if (!is_tensor(o.ptr())) throw py::type_error("_window: expected a Tensor, got " + type_name(o.ptr()));
  const Tensor* t = unwrap(o.ptr());
  int64_t row = 1;
  bool rows = true;
  for (int i = t->ndim() - 1; i >= 0; i--) {
    rows &= t->strides()[i] == row;
    row *= std::max<int64_t>(t->sizes()[i], 1);
  }
  std::string text = "\"";
  text.append(core::dtype_infos[t->dtype].name).append("\",").append(list_of(t->sizes(), t->ndim()));
  text.append(",").append(rows ? "null" : list_of(t->strides(), t->ndim()));
  text.append(",").append(std::to_string(t->storage_offset));
  return py::make_tuple(reinterpret_cast<uint64_t>(t->storage), text, is_plain(o.ptr()));
}

void translate(std::exception_ptr p) {
  try {
    if (p) std::rethrow_exception(p);
  } catch (const std::system_error& e) {
    errno = e.code().value();
    PyErr_SetFromErrno(PyExc_OSError);
  }
}

}  // namespace

void add_archive(py::module_& m) {
  py::register_exception<Fault>(m, "_ArchiveFault", PyExc_RuntimeError);
  py::register_exception_translator(translate);
  m.def("_window", window);
  m.def(
      "_crc32",
      [](const py::object& data, uint32_t before) {
        const Bytes bytes(data.ptr());
        return archive::crc32(before, bytes.data(), bytes.size());
      },
      py::arg("data"), py::arg("before") = 0);
  // The functions of core/archive/replacement.h; paths are bytes.
  using archive::Replacement;
  py::class_<Replacement>(m, "_Replacement")
      .def(py::init(
          [](const std::string& path) { return without_lock([&] { return std::make_unique<Replacement>(path); }); }))
      .def("fileno", &Replacement::fd)
      .def("commit", [](Replacement& r, bool durable) { without_lock([&] { r.commit(durable); }); })
      .def("discard", [](Replacement& r) { r.discard(); });
  m.def("_part_suffix", [] { return archive::part_suffix; });
  m.def("_sync_folder", [](const std::string& folder) { without_lock([&] { archive::sync_folder(folder); }); });
  m.def("_remove_unlocked", [](const std::string& part) { without_lock([&] { archive::remove_unlocked(part); }); });
  py::class_<PyArchive>(m, "_Archive")  // reads a descriptor from `base` on, or an object from its position on
      .def(py::init<const py::object&, uint64_t>(), py::arg("file"), py::arg("base") = 0)
      .def("names", &PyArchive::names)
      .def("size", [](const PyArchive& a, const std::string& name) { return a.member(name).size; })
      .def("offset", [](const PyArchive& a, const std::string& name) { return a.member(name).data; })
      .def("place",
           [](const PyArchive& a, const std::string& name) {
             const Member& m = a.member(name);
             return py::make_tuple(m.data, m.size);
           })
      .def("read", &PyArchive::read)
      .def("storage", &PyArchive::storage, py::arg("name"), py::arg("mmap") = false, py::arg("aligned") = 64)
      .def("verify", &PyArchive::verify);
  py::class_<PyArchiveWriter>(m, "_ArchiveWriter")  // writes to a descriptor of an empty file, or to an object
      .def(py::init<const py::object&, uint64_t>(), py::arg("file"), py::arg("expected") = 0)
      .def("add", &PyArchiveWriter::add)
      .def("add_all", &PyArchiveWriter::add_all)
      .def("finish", &PyArchiveWriter::finish);
}

}  // namespace lamella::binding
