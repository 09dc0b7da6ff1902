#include "frontend/binding/python_backend.h"

#include "core/error.h"
#include "dispatcher/keys.h"

namespace lamella::binding {
namespace {

struct Backend {
  PythonBackendCalls calls;
  std::string name;
  lamella_allocator allocator;
};

Backend* cast(void* context) { return static_cast<Backend*>(context); }

// Calls f(*args), whose references are taken; the result, or null after capturing the exception into *st.
template <class... Args>
PyObject* call(PyObject* f, lamella_status* st, Args... args) {
  PyObject* objects[] = {args...};
  PyObject* result = PyObject_Vectorcall(f, objects, sizeof...(args), nullptr);
  for (PyObject* o : objects) Py_XDECREF(o);
  if (!result) *st = capture_exception();
  return result;
}

PyObject* address(const void* p) { return PyLong_FromVoidPtr(const_cast<void*>(p)); }

lamella_status alloc(void* context, int64_t bytes, int32_t index, void*, void** out) {
  Gil gil;
  lamella_status st = LAMELLA_OK;
  PyObject* r = call(cast(context)->calls.alloc, &st, PyLong_FromLongLong(bytes), PyLong_FromLong(index));
  if (!r) return st;
  *out = PyLong_Check(r) ? PyLong_AsVoidPtr(r) : nullptr;
  const std::string got = type_name(r);
  Py_DECREF(r);
  if (PyErr_Occurred()) return capture_exception();
  if (*out) return LAMELLA_OK;
  return core::raise(LAMELLA_TYPE_ERROR, core::format("backend %s: alloc must return an address as int, got %s",
                                                      cast(context)->name.c_str(), got.c_str()));
}

// May run on any thread, in the middle of an exception, and after the interpreter has begun to end.
void free_memory(void* context, void* data, int64_t bytes, int32_t index) {
  if (!Py_IsInitialized()) return;
  Gil gil;
  PyObject *kind, *value, *traceback;
  PyErr_Fetch(&kind, &value, &traceback);
  PyObject* objects[] = {address(data), PyLong_FromLongLong(bytes), PyLong_FromLong(index)};
  PyObject* r = PyObject_Vectorcall(cast(context)->calls.free, objects, 3, nullptr);
  if (!r) PyErr_WriteUnraisable(cast(context)->calls.free);
  Py_XDECREF(r);
  for (PyObject* o : objects) Py_XDECREF(o);
  PyErr_Restore(kind, value, traceback);
}

lamella_status move(PyObject* f, int32_t index, const lamella_copy& c) {
  Gil gil;
  lamella_status st = LAMELLA_OK;
  Py_XDECREF(call(f, &st, address(c.dst), address(c.src), PyLong_FromLongLong(c.bytes), PyLong_FromLong(index)));
  return st;
}

// Between an address of the device's and one of the host's; between two devices it cannot.
lamella_status copy(void* context, const lamella_copy* c, int32_t* done) {
  const PythonBackendCalls& calls = cast(context)->calls;
  if (c->flags & LAMELLA_COPY_FROM_HOST) return move(calls.copy_from_host, c->to.index, *c);
  if (c->flags & LAMELLA_COPY_TO_HOST) return move(calls.copy_to_host, c->from.index, *c);
  *done = 0;
  return LAMELLA_OK;
}

lamella_status synchronize(void* context, int32_t index) {
  Gil gil;
  lamella_status st = LAMELLA_OK;
  Py_XDECREF(call(cast(context)->calls.synchronize, &st, PyLong_FromLong(index)));
  return st;
}

}  // namespace

lamella_status register_python_backend(dispatcher::Library& lib, const std::string& name,
                                       const PythonBackendCalls& calls, lamella_handle* handle) {
  PyObject* const callables[] = {calls.alloc, calls.free, calls.copy_from_host, calls.copy_to_host, calls.synchronize};
  auto* b = new Backend{calls, name, {}};
  for (PyObject* o : callables) Py_INCREF(o);
  b->allocator = {sizeof b->allocator, 0, b, alloc, free_memory, nullptr, nullptr, nullptr};
  lamella_backend desc{};
  desc.size = sizeof desc;
  desc.name = b->name.c_str();
  desc.dlpack_type = kDLExtDev;
  desc.flags = calls.flags;
  desc.context = b;
  desc.allocator = &b->allocator;
  desc.device_count = [](void* context) { return cast(context)->calls.device_count; };
  desc.copy = copy;
  if (calls.synchronize != Py_None) desc.synchronize = synchronize;
  const lamella_status st = dispatcher::register_backend(lib, desc, nullptr, handle);
  if (st != LAMELLA_OK) {
    for (PyObject* o : callables) Py_DECREF(o);
    delete b;
  }
  return st;
}

}  // namespace lamella::binding
