#include "frontend/binding/streams.h"

#include <chrono>
#include <memory>
#include <optional>

#include "core/device.h"
#include "core/dtype.h"
#include "frontend/binding/conversion.h"
#include "frontend/binding/status.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/types.h"

namespace py = pybind11;

namespace lamella::binding {
namespace {

// An existing device, with its backend.
struct Place {
  lamella_device device;
  const lamella_backend* backend;

  // Calls a function of the backend without the interpreter's lock, since it may wait.
  template <class F>
  void call(const char* doing, F f) const {
    lamella_status st;
    {
      py::gil_scoped_release release;
      st = core::from_backend(f(*backend, backend->context, device.index), device, doing);
    }
    check(st);
  }
};

Place place(const char* who, lamella_device d) {
  check(core::check_device(who, d));
  return {d, core::backend(d.backend)};
}

Place place(const char* who, const py::object& device) {
  lamella_device d;
  const int read = read_device(device.ptr(), &d);
  if (read < 0) throw py::error_already_set();
  if (!read) throw py::type_error(std::string(who) + ": expected a device or its name, got " + type_name(device.ptr()));
  return place(who, d);
}

// Checks a device again later: its backend may have been withdrawn, and its name taken by another one.
const lamella_backend& still(const char* who, const Place& p) {
  place(who, p.device);
  if (core::backend(p.device.backend) != p.backend)
    throw std::runtime_error(std::string(who) + ": it belongs to a backend '" + core::backend_name(p.device.backend) +
                             "' that was withdrawn since; another one has the name now");
  return *p.backend;
}
bool is_still(const Place& p) { return core::backend(p.device.backend) == p.backend; }

py::object device_object(lamella_device d) { return py::reinterpret_steal<py::object>(new_device(d)); }

void synchronize(const Place& p) {
  if (p.backend->synchronize) p.call("waiting", [](auto& b, void* c, int32_t i) { return b.synchronize(c, i); });
}

// ---- streams --------------------------------------------------------------------------------------------------------

// A stream of a device. A device without streams has a single one, whose handle is null.
class Stream {
 public:
  Stream(const py::object& device, int32_t priority) : Stream(place("Stream", device), true) {
    if (backend().stream_create)
      at_.call("making a stream",
               [&](auto& b, void* c, int32_t i) { return b.stream_create(c, i, priority, &handle_); });
  }
  Stream(const Stream&) = delete;
  ~Stream() {
    const lamella_backend* b = at_.backend;
    if (owned_ && handle_ && is_still(at_) && b->stream_destroy)
      b->stream_destroy(b->context, at_.device.index, handle_);
  }
  static std::unique_ptr<Stream> current(const py::object& device, bool usual) {
    std::unique_ptr<Stream> s(new Stream(place("current_stream", device), false));
    const auto find = usual ? s->backend().stream_default : s->backend().stream_current;
    if (find)
      s->at_.call(usual ? "reading the default stream" : "reading the current stream",
                  [&](auto&, void* c, int32_t i) { return find(c, i, &s->handle_); });
    return s;
  }

  py::object device() const { return device_object(at_.device); }
  uintptr_t handle() const { return reinterpret_cast<uintptr_t>(handle_); }
  void* get() const { return handle_; }
  const Place& at() const { return at_; }
  bool same(const Stream& o) const { return core::same_device(at_.device, o.at_.device) && handle_ == o.handle_; }

  void set_current() const {
    if (there().backend->stream_set_current)
      at_.call("making a stream current",
               [&](auto& b, void* c, int32_t i) { return b.stream_set_current(c, i, handle_); });
  }
  void wait() const {
    if (!there().backend->stream_synchronize) return binding::synchronize(at_);
    at_.call("waiting for a stream", [&](auto& b, void* c, int32_t i) { return b.stream_synchronize(c, i, handle_); });
  }
  // Records that the stream uses the tensor's memory: after the tensor is freed, the memory is reused only after the
  // work that is on this stream then.
  void record(const py::object& tensor) const {
    if (!is_tensor(tensor.ptr()))
      throw py::type_error("record_stream: expected a Tensor, got " + type_name(tensor.ptr()));
    const Tensor* t = unwrap(tensor.ptr());
    if (!core::same_device(t->device(), there().device))
      throw py::value_error("record_stream: the tensor is on device '" + core::device_name(t->device()) +
                            "', and the stream is of '" + core::device_name(at_.device) + "'");
    const lamella_allocator* a = at_.backend->allocator;
    void* const data = t->storage->data;
    if (data && a->record_stream)
      at_.call("recording a stream",
               [&](auto&, void*, int32_t i) { return a->record_stream(a->context, i, data, handle_); });
  }
  bool done() const {
    int32_t done = 1;
    if (there().backend->stream_query)
      at_.call("querying a stream", [&](auto& b, void* c, int32_t i) { return b.stream_query(c, i, handle_, &done); });
    else
      wait();
    return done;
  }

 private:
  Stream(Place at, bool owned) : at_(at), owned_(owned) {}
  const lamella_backend& backend() const { return *at_.backend; }
  const Place& there() const {
    still("Stream", at_);
    return at_;
  }
  Place at_;
  bool owned_;
  void* handle_ = nullptr;
};

// ---- events ---------------------------------------------------------------------------------------------------------

// An event of a device. If the device has no events, recording waits for the stream and stores the time.
class Event {
 public:
  Event(const py::object& device, bool timing) : at_(place("Event", device)), timing_(timing) {
    if (native())
      at_.call("making an event", [&](auto& b, void* c, int32_t i) {
        return b.event_create(c, i, timing ? LAMELLA_EVENT_TIMING : 0, &handle_);
      });
  }
  Event(const Event&) = delete;
  ~Event() {
    const lamella_backend* b = at_.backend;
    if (handle_ && is_still(at_) && b->event_destroy) b->event_destroy(b->context, at_.device.index, handle_);
  }

  py::object device() const { return device_object(at_.device); }
  uintptr_t handle() const { return reinterpret_cast<uintptr_t>(handle_); }

  void record(const Stream& stream) {
    still("Stream", stream.at());
    if (!core::same_device(there().device, stream.at().device))
      throw std::runtime_error("record: argument 'stream' is of device '" + core::device_name(stream.at().device) +
                               "', the event of '" + core::device_name(at_.device) + "'");
    if (native())
      at_.call("recording an event",
               [&](auto& b, void* c, int32_t i) { return b.event_record(c, i, handle_, stream.get()); });
    else
      stream.wait();
    recorded_ = std::chrono::steady_clock::now();
  }
  void wait(const Stream& stream) const {  // for a stream of another backend, the host waits
    still("Stream", stream.at());
    if (!recorded_) return;
    if (stream.at().device.backend != there().device.backend || !native()) return synchronize();
    stream.at().call("waiting for an event",
                     [&](auto& b, void* c, int32_t i) { return b.event_wait(c, i, handle_, stream.get()); });
  }
  void synchronize() const {
    there();
    if (native() && recorded_)
      at_.call("waiting for an event", [&](auto& b, void* c, int32_t i) { return b.event_synchronize(c, i, handle_); });
  }
  bool done() const {
    int32_t done = 1;
    there();
    if (native() && recorded_)
      at_.call("querying an event", [&](auto& b, void* c, int32_t i) { return b.event_query(c, i, handle_, &done); });
    return done;
  }
  double elapsed(const Event& end) const {
    if (!timing_ || !end.timing_)
      throw std::runtime_error("elapsed_time: both events must be made with enable_timing=True");
    if (!recorded_ || !end.recorded_) throw std::runtime_error("elapsed_time: both events must have been recorded");
    if (!core::same_device(there().device, end.at_.device))
      throw std::runtime_error("elapsed_time: the events are of devices '" + core::device_name(at_.device) + "' and '" +
                               core::device_name(end.at_.device) + "'");
    if (!done() || !end.done())
      throw std::runtime_error("elapsed_time: both events must be done; synchronize() the second one before");
    if (!native() || !at_.backend->event_elapsed)
      return std::chrono::duration<double, std::milli>(*end.recorded_ - *recorded_).count();
    double milliseconds = 0;
    at_.call("measuring time",
             [&](auto& b, void* c, int32_t i) { return b.event_elapsed(c, i, handle_, end.handle_, &milliseconds); });
    return milliseconds;
  }

 private:
  // Returns whether the device has all functions that an event needs.
  bool native() const {
    const lamella_backend& b = *at_.backend;
    return b.event_create && b.event_record && b.event_wait && b.event_synchronize && b.event_query;
  }
  const Place& there() const {
    still("Event", at_);
    return at_;
  }
  Place at_;
  bool timing_;
  void* handle_ = nullptr;
  std::optional<std::chrono::steady_clock::time_point> recorded_;
};

// ---- devices --------------------------------------------------------------------------------------------------------

// Makes a device the current one. If `needed`, throws if another device is current and the backend cannot change that.
void set_current_device(const py::object& device, bool needed) {
  const Place p = place("set_device_index", device);
  int32_t now;
  check(core::current_index(p.device.backend, &now));
  if (now == p.device.index || (!needed && !p.backend->device_set_current)) return;
  if (!p.backend->device_set_current)
    throw std::runtime_error("on device '" + std::string(p.backend->name) + "' the index " + std::to_string(now) +
                             " is always the current one; pass '" + core::device_name(p.device) +
                             "' as the device instead");
  p.call("setting the current device", [](auto& b, void* c, int32_t i) { return b.device_set_current(c, i); });
}

py::object memory_stats(const py::object& device) {  // None if the backend has no statistics
  const Place p = place("memory_stats", device);
  const lamella_allocator& a = *p.backend->allocator;
  if (!a.stats) return py::none();
  lamella_allocator_stats s{};
  s.size = sizeof s;
  p.call("reading memory statistics", [&](auto&, void*, int32_t i) { return a.stats(a.context, i, &s); });
  py::dict d;
  d["live_bytes"] = s.live_bytes;
  d["peak_bytes"] = s.peak_bytes;
  d["cached_bytes"] = s.cached_bytes;
  d["peak_reserved_bytes"] = s.peak_reserved_bytes;
  d["allocations"] = s.allocations;
  d["system_allocations"] = s.system_allocations;
  return d;
}

void reset_memory_stats(const py::object& device, uint32_t what) {
  const Place p = place("reset_memory_stats", device);
  const lamella_allocator& a = *p.backend->allocator;
  if (!a.reset_stats)
    throw std::runtime_error("reset_memory_stats: device '" + core::device_name(p.device) +
                             "' cannot reset its memory statistics");
  p.call("resetting memory statistics", [&](auto&, void*, int32_t i) { return a.reset_stats(a.context, i, what); });
}

void trim(const py::object& device, int64_t cap) {
  const Place p = place("empty_cache", device);
  const lamella_allocator& a = *p.backend->allocator;
  if (a.trim) p.call("freeing cached memory", [&](auto&, void*, int32_t i) { return a.trim(a.context, i, cap); });
}

void trim_host(const py::object& device) {
  const Place p = place("empty_host_cache", device);
  const lamella_allocator* a = p.backend->host_allocator;
  if (a && a->trim) p.call("freeing cached memory", [&](auto&, void*, int32_t) { return a->trim(a->context, 0, 0); });
}

// Returns a property of a device; None if the backend does not have it.
py::object property(const py::object& device, const std::string& name) {
  const Place p = place("property", device);
  lamella_value v{};
  if (p.backend->property)
    p.call("reading a property", [&](auto& b, void* c, int32_t i) { return b.property(c, i, name.c_str(), &v); });
  PyObject* o = to_python(v);
  if (!o) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(o);
}

py::list dtypes(const py::object& device) {
  const Place p = place("get_device_capability", device);
  py::list l;
  for (int t = 0; t < LAMELLA_NO_DTYPE; t++)
    if (core::is_dtype(t) && core::has_dtype(p.backend, static_cast<uint8_t>(t)))
      l.append(py::reinterpret_borrow<py::object>(dtype_object(static_cast<core::DType>(t))));
  return l;
}

}  // namespace

void add_streams(py::module_& m) {
  py::class_<Stream>(m, "_Stream")
      .def(py::init<const py::object&, int32_t>())
      .def_static("_current", &Stream::current)
      .def_property_readonly("device", &Stream::device)
      .def_property_readonly("handle", &Stream::handle)
      .def("set_current", &Stream::set_current)
      .def("synchronize", &Stream::wait)
      .def("query", &Stream::done)
      .def("same", &Stream::same)
      .def("record", &Stream::record);
  py::class_<Event>(m, "_Event")
      .def(py::init<const py::object&, bool>())
      .def_property_readonly("device", &Event::device)
      .def_property_readonly("handle", &Event::handle)
      .def("record", &Event::record)
      .def("wait", &Event::wait)
      .def("synchronize", &Event::synchronize)
      .def("query", &Event::done)
      .def("elapsed", &Event::elapsed);
  m.def("_set_current_device", set_current_device, py::arg("device"), py::arg("needed") = true);
  m.def("_synchronize", [](const py::object& device) { synchronize(place("synchronize", device)); });
  m.def("_memory_stats", memory_stats);
  m.def("_reset_memory_stats", reset_memory_stats);
  m.def("_trim", trim, py::arg("device"), py::arg("cap") = 0);
  m.def("_trim_host", trim_host);
  m.def("_property", property);
  m.def("_dtypes_of", dtypes);
}

}  // namespace lamella::binding
