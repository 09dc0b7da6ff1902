#include "frontend/binding/shared.h"

#include <cstring>
#include <vector>

#include "frontend/binding/shared_memory.h"
#include "frontend/binding/status.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/unlocked.h"

namespace py = pybind11;

namespace lamella::binding {
namespace {

using core::Storage;

Tensor* tensor_of(const py::object& o) {
  if (!is_tensor(o.ptr())) throw py::type_error("shared memory: expected a Tensor, got " + type_name(o.ptr()));
  return unwrap(o.ptr());
}

// Makes a uint8 tensor over a whole storage; takes over the caller's reference to the storage.
py::object flat(Storage* s) {
  Tensor* t = core::tensor_over(s, 1, &s->bytes, nullptr, 0, LAMELLA_UINT8);
  core::release(s);
  PyObject* o = wrap(t);
  if (!o) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(o);
}

py::object shared_empty(int64_t bytes) {
  Storage* s;
  check(new_shared_storage(bytes, nullptr, &s));
  return flat(s);
}

py::object shared_from_fd(int fd, int64_t bytes, int64_t offset) {
  Storage* s;
  check(open_shared_storage(fd, bytes, offset, &s));
  return flat(s);
}

py::object shared_place(const py::object& tensor) {
  SharedPlace p;
  if (!find_place(tensor_of(tensor)->storage, &p)) return py::none();
  return py::make_tuple(p.fd, p.offset, p.device, p.inode);
}

py::object shared_fd(const py::object& tensor) {
  SharedPlace p;
  return find_place(tensor_of(tensor)->storage, &p) ? py::object(py::int_(p.fd)) : py::object(py::none());
}

// ---- moving a storage into shared memory ----------------------------------------------------------------------------

// The tensors over a storage, each once.
struct Holders {
  const Storage* storage;
  std::vector<Tensor*> found;
  void add(Tensor* t) {
    for (; t && t->storage == storage; t = t->base) {
      for (Tensor* known : found)
        if (known == t) return;
      found.push_back(t);
    }
  }
  bool complete() const { return static_cast<int64_t>(found.size()) == storage_use_count(); }
  int64_t storage_use_count() const { return __atomic_load_n(&storage->refcount, __ATOMIC_ACQUIRE); }
};

void add_objects(Holders& holders) {  // adds all tensors that the garbage collector lists
  const py::list objects = py::module_::import("gc").attr("get_objects")();
  for (const py::handle o : objects)
    if (is_tensor(o.ptr()) && unwrap(o.ptr())) holders.add(unwrap(o.ptr()));
}

std::string hidden() {  // a text about objects that gc.freeze() has hidden; "" if it has hidden none
  const auto frozen = py::module_::import("gc").attr("get_freeze_count")().cast<int64_t>();
  return frozen ? "; or gc.freeze() has hidden them: share it before that" : "";
}

// Moves the memory of a tensor into shared memory. The storage stays, with its identity, version and slots; the pointer
// of each tensor over it is changed. Throws if something else holds the storage (a numpy array, values that autograd
// saved), because the holder would be left with freed memory or another copy. While another thread works on tensors
// without the interpreter's lock, waits up to `seconds`, since that thread may use the memory: see Note [Work without
// the lock].
void share_memory(const py::object& tensor, double seconds) {
  Tensor* t = tensor_of(tensor);
  Storage* s = t->storage;
  SharedPlace place;
  if (find_place(s, &place)) return;
  if (t->opaque() || !core::is_host(t->backend))
    throw py::value_error(t->opaque() ? "share_memory_: the tensor is opaque, and only its layer knows all its memory; "
                                        "a tensor that is sent to another process need not be shared before"
                                      : "share_memory_: expected a tensor in host memory, got one on device '" +
                                            core::device_name(t->device()) + "'");
  const Exclusive alone(seconds);
  if (!alone) {
    PyErr_Format(PyExc_TimeoutError,
                 "share_memory_: other threads have worked on tensors for %d seconds, and memory that they may use is "
                 "not moved meanwhile; share it before they start, or end them",
                 static_cast<int>(seconds));
    throw py::error_already_set();
  }
  if (find_place(s, &place)) return;  // another thread has moved it meanwhile
  Holders holders{s, {}};
  holders.add(t);
  if (!holders.complete()) add_objects(holders);
  if (!holders.complete()) {
    const std::string others = std::to_string(holders.storage_use_count() - (int64_t)holders.found.size());
    throw std::runtime_error(
        "share_memory_: the memory is held in " + others +
        " places that cannot follow it, such as arrays of numpy or values that autograd saved; drop them, or "
        "share a clone()" +
        hidden());
  }
  Storage* moved;
  check(new_shared_storage(s->bytes, s->data, &moved));
  core::take_memory(s, moved);
  core::release(moved);
  for (Tensor* each : holders.found)
    core::set_geometry(each, each->ndim(), each->sizes(), each->strides(), each->storage_offset);
}

}  // namespace

void add_shared(py::module_& m) {
  m.def("_shared_empty", shared_empty, py::arg("nbytes"));
  m.def("_shared_from_fd", shared_from_fd, py::arg("fd"), py::arg("nbytes"), py::arg("offset") = 0);
  m.def("_shared_place", shared_place);
  m.def("_shared_fd", shared_fd);
  m.def("_is_shared", [](const py::object& tensor) { return is_shared(tensor_of(tensor)->storage); });
  m.def("_share_memory", share_memory, py::arg("tensor"), py::arg("seconds") = 60.0);
}

}  // namespace lamella::binding
