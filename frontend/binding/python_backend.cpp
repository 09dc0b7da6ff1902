#include "frontend/binding/python_backend.h"

#include <algorithm>

#include "core/error.h"
#include "core/value.h"
#include "dispatcher/keys.h"
#include "frontend/binding/conversion.h"

namespace lamella::binding {
namespace {

// Indices into backend_slots().
enum Slot {
  Alloc,
  Free,
  CopyFromHost,
  CopyToHost,
  CopyBetween,
  RecordStream,
  Stats,
  ResetStats,
  Trim,
  HostAlloc,
  HostFree,
  Property,
  Synchronize,
  StreamDefault,
  StreamCreate,
  StreamDestroy,
  StreamCurrent,
  StreamSetCurrent,
  StreamSynchronize,
  StreamQuery,
  EventCreate,
  EventDestroy,
  EventRecord,
  EventWait,
  EventSynchronize,
  EventQuery,
  EventElapsed,
  DeviceCurrent,
  DeviceSetCurrent,
};

struct Backend {
  PythonBackend given;
  lamella_allocator allocator, host_allocator;
};

const Backend& cast(void* context) { return *static_cast<Backend*>(context); }

PyObject* object(const void* address) { return PyLong_FromVoidPtr(const_cast<void*>(address)); }
PyObject* object(int64_t n) { return PyLong_FromLongLong(n); }
PyObject* object(int32_t n) { return PyLong_FromLong(n); }
PyObject* object(uint32_t n) { return PyLong_FromUnsignedLong(n); }
PyObject* object(bool b) { return PyBool_FromLong(b); }
PyObject* object(const char* text) { return PyUnicode_FromString(text); }

template <class... Args>
PyObject* call(void* context, Slot slot, Args... args) {
  PyObject* objects[] = {nullptr, object(args)...};
  PyObject* result = nullptr;
  if (std::all_of(objects + 1, std::end(objects), [](PyObject* o) { return o; }))
    result = PyObject_Vectorcall(cast(context).given.methods[slot], objects + 1, sizeof...(args), nullptr);
  for (PyObject* o : objects) Py_XDECREF(o);
  return result;
}

// Returns the object for a message: a number's value, or another object's type.
std::string shown(PyObject* o) {
  if (!PyLong_Check(o)) return type_name(o);
  PyObject* text = PyObject_Repr(o);
  const std::string s = text ? text_of(text) : type_name(o);
  Py_XDECREF(text);
  PyErr_Clear();
  return s;
}

lamella_status wrong(void* context, Slot slot, const char* wanted, PyObject* got) {
  PyErr_Clear();
  return core::raise(LAMELLA_TYPE_ERROR,
                     core::format("backend %s: %s must return %s, got %s", cast(context).given.name.c_str(),
                                  backend_slots()[slot].c_str(), wanted, shown(got).c_str()));
}

// Calls a method; `read(result)` takes its result, and returns null or the text that says what the result must be.
template <class Read, class... Args>
lamella_status call_method(void* context, Slot slot, Read read, Args... args) {
  Gil gil;
  PyObject* result = call(context, slot, args...);
  if (!result) return capture_exception();
  const char* wanted = read(result);
  const lamella_status st = wanted ? wrong(context, slot, wanted, result) : LAMELLA_OK;
  Py_DECREF(result);
  return st;
}
const char* nothing(PyObject*) { return nullptr; }

auto address(void** out) {
  return [out](PyObject* o) {
    *out = PyLong_Check(o) ? PyLong_AsVoidPtr(o) : nullptr;
    return *out && !PyErr_Occurred() ? nullptr : "a number other than 0 as int";
  };
}
auto flag(int32_t* out) {
  return [out](PyObject* o) {
    *out = o == Py_True;
    return PyBool_Check(o) ? nullptr : "bool";
  };
}

// Makes MemoryError an out-of-memory error, on which the library calls `trim` and tries again.
lamella_status alloc(void* context, Slot slot, lamella_status st) {
  if (st != LAMELLA_HOST_ERROR) return st;
  Gil gil;
  raise_pending();
  if (!PyErr_ExceptionMatches(PyExc_MemoryError)) return capture_exception();
  PyObject *kind, *value, *traceback;
  PyErr_Fetch(&kind, &value, &traceback);
  PyObject* text = value ? PyObject_Str(value) : nullptr;
  const std::string said = text ? text_of(text) : "";
  for (PyObject* o : {kind, value, traceback, text}) Py_XDECREF(o);
  PyErr_Clear();
  return core::raise(LAMELLA_OUT_OF_MEMORY,
                     said.empty() ? core::format("backend %s: %s found no memory", cast(context).given.name.c_str(),
                                                 backend_slots()[slot].c_str())
                                  : said);
}

// Calls a method without a result. This may happen on any thread, while an exception is pending, and after the
// interpreter has begun to end.
template <class... Args>
void call_quietly(void* context, Slot slot, Args... args) {
  if (!Py_IsInitialized()) return;
  Gil gil;
  PyObject *kind, *value, *traceback;
  PyErr_Fetch(&kind, &value, &traceback);
  PyObject* result = call(context, slot, args...);
  if (!result) PyErr_WriteUnraisable(cast(context).given.methods[slot]);
  Py_XDECREF(result);
  PyErr_Restore(kind, value, traceback);
}

// Copies between the device and the host, or between two devices of the backend. Sets *done to 0 if the backend has no
// method for the copy.
lamella_status copy(void* context, const lamella_copy* c, int32_t* done) {
  const bool later = c->flags & LAMELLA_COPY_NON_BLOCKING;
  if (c->flags & LAMELLA_COPY_FROM_HOST)
    return call_method(context, CopyFromHost, nothing, c->dst, c->src, c->bytes, c->to.index, later);
  if (c->flags & LAMELLA_COPY_TO_HOST)
    return call_method(context, CopyToHost, nothing, c->dst, c->src, c->bytes, c->from.index, later);
  if (c->to.backend == c->from.backend && cast(context).given.methods[CopyBetween])
    return call_method(context, CopyBetween, nothing, c->dst, c->src, c->bytes, c->to.index, c->from.index);
  *done = 0;
  return LAMELLA_OK;
}

// Reads a dictionary with names of lamella_allocator_stats, any of which may be missing.
lamella_status stats(void* context, int32_t index, lamella_allocator_stats* out) {
  const std::pair<const char*, int64_t lamella_allocator_stats::*> all[] = {
      {"live_bytes", &lamella_allocator_stats::live_bytes},
      {"peak_bytes", &lamella_allocator_stats::peak_bytes},
      {"cached_bytes", &lamella_allocator_stats::cached_bytes},
      {"allocations", &lamella_allocator_stats::allocations},
      {"system_allocations", &lamella_allocator_stats::system_allocations},
      {"peak_reserved_bytes", &lamella_allocator_stats::peak_reserved_bytes}};
  lamella_allocator_stats found{};
  const auto read = [&](PyObject* o) {
    bool ok = PyDict_Check(o);
    for (const auto& [name, member] : all)
      if (PyObject* n = ok ? PyDict_GetItemString(o, name) : nullptr)
        if (found.*member = PyLong_Check(n) ? PyLong_AsLongLong(n) : -1; found.*member < 0) ok = false;
    return ok ? nullptr : "a dictionary with numbers of bytes, as live_bytes, that are not negative";
  };
  if (lamella_status st = call_method(context, Stats, read, index)) return st;
  found.size = std::min<uint32_t>(out->size, sizeof found);
  std::copy_n(reinterpret_cast<const char*>(&found), found.size, reinterpret_cast<char*>(out));
  return LAMELLA_OK;
}

lamella_status property(void* context, int32_t index, const char* name, lamella_value* out) {
  const auto read = [&](PyObject* o) {
    Arena arena;
    Value borrowed;
    const bool plain = o == Py_None || PyLong_Check(o) || PyFloat_Check(o) || PyUnicode_Check(o);
    if (!plain || PyBool_Check(o) || !convert_any(o, &borrowed, arena)) return "None, int, float or str";
    *out = core::retain_value(borrowed);
    return static_cast<const char*>(nullptr);
  };
  return call_method(context, Property, read, index, name);
}

void fill_allocators(Backend* b) {
  const auto has = [b](Slot slot) { return b->given.methods[slot] != nullptr; };
  b->allocator.size = b->host_allocator.size = sizeof b->allocator;
  b->allocator.context = b->host_allocator.context = b;
  b->allocator.alloc = [](void* c, int64_t bytes, int32_t index, void* stream, void** out) {
    return alloc(c, Alloc, call_method(c, Alloc, address(out), bytes, index, static_cast<const void*>(stream)));
  };
  b->allocator.free = [](void* c, void* data, int64_t bytes, int32_t index) {
    call_quietly(c, Free, static_cast<const void*>(data), bytes, index);
  };
  if (has(RecordStream)) {
    b->allocator.flags = LAMELLA_ALLOCATOR_STREAM_ORDERED;
    b->allocator.record_stream = [](void* c, int32_t index, void* data, void* stream) {
      return call_method(c, RecordStream, nothing, index, static_cast<const void*>(data),
                         static_cast<const void*>(stream));
    };
  }
  if (has(Stats)) b->allocator.stats = stats;
  if (has(ResetStats))
    b->allocator.reset_stats = [](void* c, int32_t index, uint32_t what) {
      return call_method(c, ResetStats, nothing, index, (what & LAMELLA_STATS_PEAK) != 0,
                         (what & LAMELLA_STATS_COUNTS) != 0);
    };
  if (has(Trim))
    b->allocator.trim = [](void* c, int32_t index, int64_t cap) { return call_method(c, Trim, nothing, index, cap); };
  b->host_allocator.flags = LAMELLA_ALLOCATOR_PINNED;
  b->host_allocator.alloc = [](void* c, int64_t bytes, int32_t, void*, void** out) {
    return alloc(c, HostAlloc, call_method(c, HostAlloc, address(out), bytes));
  };
  b->host_allocator.free = [](void* c, void* data, int64_t bytes, int32_t) {
    call_quietly(c, HostFree, static_cast<const void*>(data), bytes);
  };
}

void fill_streams(const std::vector<PyObject*>& has, lamella_backend* d) {
  using In = const void*;
  if (has[StreamDefault])
    d->stream_default = [](void* c, int32_t i, void** out) { return call_method(c, StreamDefault, address(out), i); };
  if (has[StreamCreate])
    d->stream_create = [](void* c, int32_t i, int32_t priority, void** out) {
      return call_method(c, StreamCreate, address(out), i, priority);
    };
  if (has[StreamDestroy])
    d->stream_destroy = [](void* c, int32_t i, void* s) { call_quietly(c, StreamDestroy, i, In(s)); };
  if (has[StreamCurrent])
    d->stream_current = [](void* c, int32_t i, void** out) { return call_method(c, StreamCurrent, address(out), i); };
  if (has[StreamSetCurrent])
    d->stream_set_current = [](void* c, int32_t i, void* s) {
      return call_method(c, StreamSetCurrent, nothing, i, In(s));
    };
  if (has[StreamSynchronize])
    d->stream_synchronize = [](void* c, int32_t i, void* s) {
      return call_method(c, StreamSynchronize, nothing, i, In(s));
    };
  if (has[StreamQuery])
    d->stream_query = [](void* c, int32_t i, void* s, int32_t* done) {
      return call_method(c, StreamQuery, flag(done), i, In(s));
    };
  if (has[EventCreate])
    d->event_create = [](void* c, int32_t i, uint32_t flags, void** out) {
      return call_method(c, EventCreate, address(out), i, (flags & LAMELLA_EVENT_TIMING) != 0);
    };
  if (has[EventDestroy])
    d->event_destroy = [](void* c, int32_t i, void* e) { call_quietly(c, EventDestroy, i, In(e)); };
  if (has[EventRecord])
    d->event_record = [](void* c, int32_t i, void* e, void* s) {
      return call_method(c, EventRecord, nothing, i, In(e), In(s));
    };
  if (has[EventWait])
    d->event_wait = [](void* c, int32_t i, void* e, void* s) {
      return call_method(c, EventWait, nothing, i, In(e), In(s));
    };
  if (has[EventSynchronize])
    d->event_synchronize = [](void* c, int32_t i, void* e) {
      return call_method(c, EventSynchronize, nothing, i, In(e));
    };
  if (has[EventQuery])
    d->event_query = [](void* c, int32_t i, void* e, int32_t* done) {
      return call_method(c, EventQuery, flag(done), i, In(e));
    };
  if (has[EventElapsed])
    d->event_elapsed = [](void* c, int32_t i, void* start, void* end, double* milliseconds) {
      const auto read = [milliseconds](PyObject* o) {
        *milliseconds = PyFloat_AsDouble(o);
        return PyErr_Occurred() ? "milliseconds as float" : nullptr;
      };
      return call_method(c, EventElapsed, read, i, In(start), In(end));
    };
}

}  // namespace

const std::vector<std::string>& backend_slots() {
  static const std::vector<std::string> names = {"alloc",
                                                 "free",
                                                 "copy_from_host",
                                                 "copy_to_host",
                                                 "copy_between",
                                                 "record_stream",
                                                 "stats",
                                                 "reset_stats",
                                                 "trim",
                                                 "host_alloc",
                                                 "host_free",
                                                 "property",
                                                 "synchronize",
                                                 "stream_default",
                                                 "stream_create",
                                                 "stream_destroy",
                                                 "stream_current",
                                                 "stream_set_current",
                                                 "stream_synchronize",
                                                 "stream_query",
                                                 "event_create",
                                                 "event_destroy",
                                                 "event_record",
                                                 "event_wait",
                                                 "event_synchronize",
                                                 "event_query",
                                                 "event_elapsed",
                                                 "device_current",
                                                 "device_set_current"};
  return names;
}

lamella_status register_python_backend(dispatcher::Library& lib, const PythonBackend& given, lamella_handle* handle) {
  auto* b = new Backend{given, {}, {}};
  const std::vector<PyObject*>& has = b->given.methods;
  for (PyObject* o : has) Py_XINCREF(o);
  fill_allocators(b);
  lamella_backend d{};
  d.size = sizeof d;
  d.name = b->given.name.c_str();
  d.dlpack_type = given.dlpack_type;
  d.flags = given.flags;
  d.context = b;
  d.allocator = &b->allocator;
  if (has[HostAlloc]) d.host_allocator = &b->host_allocator;
  if (b->given.device_count > 1) d.device_count = [](void* context) { return cast(context).given.device_count; };
  if (has[CopyFromHost]) d.copy = copy;
  if (has[Property]) d.property = property;
  if (has[Synchronize]) d.synchronize = [](void* c, int32_t i) { return call_method(c, Synchronize, nothing, i); };
  if (has[DeviceCurrent])
    d.device_current = [](void* c, int32_t* index) {
      const auto read = [c, index](PyObject* o) {
        const int64_t i = PyLong_Check(o) ? PyLong_AsLongLong(o) : -1;
        *index = static_cast<int32_t>(i);
        return i >= 0 && i < cast(c).given.device_count ? nullptr : "the index of a device";
      };
      return call_method(c, DeviceCurrent, read);
    };
  if (has[DeviceSetCurrent])
    d.device_set_current = [](void* c, int32_t index) { return call_method(c, DeviceSetCurrent, nothing, index); };
  for (int t : given.dtypes) d.dtypes[t >> 6] |= uint64_t{1} << (t & 63);
  fill_streams(has, &d);
  const lamella_status st = dispatcher::register_backend(lib, d, nullptr, handle);
  if (st != LAMELLA_OK) {
    for (PyObject* o : has) Py_XDECREF(o);
    delete b;
  }
  return st;
}

}  // namespace lamella::binding
