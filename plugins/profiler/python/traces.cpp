// Trace, one session of the native profiler, for the Python classes above it.
#include "face.h"

#include <cstring>
#include <unordered_map>

namespace lamella::profiler::face {
namespace {

struct TraceObject {
  PyObject_HEAD lamella_trace* trace;
};

lamella_trace* trace_of(PyObject* o) { return reinterpret_cast<TraceObject*>(o)->trace; }

// Begins, ends or exports a trace without the interpreter's lock: begin and end may wait for devices whose work needs
// that lock.
template <class Work>
lamella_status without_lock(Work work) {
  PyThreadState* state = PyEval_SaveThread();
  const lamella_status st = work();
  PyEval_RestoreThread(state);
  return st;
}

// _Trace(flags, scopes, max_events, devices): starts the trace.
PyObject* start(PyTypeObject* type, PyObject* args, PyObject*) {
  lamella_trace_options options{};
  options.size = sizeof options;
  long long most;
  if (!PyArg_ParseTuple(args, "IIL|z", &options.flags, &options.scopes, &most, &options.devices)) return nullptr;
  options.max_events = most;
  auto* t = reinterpret_cast<TraceObject*>(type->tp_alloc(type, 0));
  if (!t || !without_lock([&] { return profiler->trace_start(&options, &t->trace); }))
    return reinterpret_cast<PyObject*>(t);
  Py_DECREF(t);
  return raise();
}

void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  without_lock([&] { return profiler->trace_free(trace_of(self)), LAMELLA_OK; });
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* stop(PyObject* self, PyObject*) {
  if (without_lock([&] { return profiler->trace_stop(trace_of(self)); })) return raise();
  Py_RETURN_NONE;
}

// Makes Python objects of shapes: (sizes, dtypes), a pair of lists with an item for each argument. The sizes of a
// tensor are a tuple, those of a list of tensors a list of tuples.
class Shapes {
 public:
  Shapes() = default;
  Shapes(const Shapes&) = delete;
  ~Shapes() {
    for (const auto& [words, made] : made_) Py_DECREF(made);
  }
  // Returns a new reference; None for null. Equal addresses give the same object.
  PyObject* get(const int64_t* words) {
    if (!words) Py_RETURN_NONE;
    PyObject*& found = made_[words];
    if (!found) found = make(words);
    if (!found) made_.erase(words);
    return found ? Py_NewRef(found) : nullptr;
  }

 private:
  static PyObject* one(const int64_t*& at, const int64_t* end, PyObject** dtype) {
    const int64_t w = *at++, n = w >> 16;
    if ((w & 255) == LAMELLA_TENSOR) {
      const lamella_dtype_def* d = api().dtype_info(static_cast<int32_t>(w >> 8 & 255));
      *dtype = PyUnicode_FromString(d ? d->name : "");
      PyObject* sizes = PyTuple_New(std::min<int64_t>(n, end - at));
      for (Py_ssize_t i = 0; sizes && i < PyTuple_GET_SIZE(sizes); i++)
        PyTuple_SET_ITEM(sizes, i, PyLong_FromLongLong(*at++));
      return sizes;
    }
    if ((w & 255) == LAMELLA_TENSOR_LIST) {
      PyObject* list = PyList_New(0);
      *dtype = PyUnicode_FromString("TensorList");
      for (int64_t i = 0; list && i < n && at < end; i++) {
        PyObject* of = nullptr;
        PyObject* item = one(at, end, &of);
        if (!item || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
        Py_XDECREF(of);
      }
      return list;
    }
    *dtype = PyUnicode_FromString((w & 255) == LAMELLA_NONE ? "" : "Scalar");
    return PyTuple_New(0);
  }
  static PyObject* make(const int64_t* words) {
    PyObject *sizes = PyList_New(0), *dtypes = PyList_New(0);
    bool fine = sizes && dtypes;
    for (const int64_t *at = words + 1, *end = at + words[0]; fine && at < end;) {
      PyObject* dtype = nullptr;
      PyObject* item = one(at, end, &dtype);
      fine = item && dtype && PyList_Append(sizes, item) == 0 && PyList_Append(dtypes, dtype) == 0;
      Py_XDECREF(item);
      Py_XDECREF(dtype);
    }
    PyObject* pair = fine ? PyTuple_Pack(2, sizes, dtypes) : nullptr;
    Py_XDECREF(sizes);
    Py_XDECREF(dtypes);
    return pair;
  }
  std::unordered_map<const int64_t*, PyObject*> made_;
};

PyObject* stack_tuple(const int64_t* words, Py_ssize_t most) {
  if (!words) Py_RETURN_NONE;
  PyObject* t = PyTuple_New(std::min<Py_ssize_t>(words[0], most));
  for (Py_ssize_t i = 0; t && i < PyTuple_GET_SIZE(t); i++) PyTuple_SET_ITEM(t, i, PyLong_FromLongLong(words[i + 1]));
  return t;
}

struct Gathering {
  PyObject* list;
  Shapes shapes;
  Py_ssize_t frames = PY_SSIZE_T_MAX;
};

lamella_status add(Gathering& g, PyObject* item) {
  const bool fine = item && PyList_Append(g.list, item) == 0;
  Py_XDECREF(item);
  return fine ? LAMELLA_OK : python::face().capture_exception();
}

PyObject* backend_text(int32_t backend) {
  const char* name = backend < 0 ? nullptr : api().backend_name(backend);
  return PyUnicode_FromString(name ? name : "");
}

lamella_status add_event(void* context, const lamella_trace_event* e) {
  auto& g = *static_cast<Gathering*>(context);
  return add(
      g, Py_BuildValue("(sILLLLKKKNNNi)", e->name, e->scope, static_cast<long long>(e->begin),
                       static_cast<long long>(e->end), static_cast<long long>(e->index),
                       static_cast<long long>(e->parent), static_cast<unsigned long long>(e->sequence),
                       static_cast<unsigned long long>(e->thread), static_cast<unsigned long long>(e->forward_thread),
                       g.shapes.get(e->shapes), stack_tuple(e->stack, g.frames), backend_text(e->backend), e->failed));
}

lamella_status add_row(void* context, const lamella_trace_row* r) {
  auto& g = *static_cast<Gathering*>(context);
  return add(g, Py_BuildValue(
                    "(sINNNLLLLLLLLLLLLL)", r->name, r->scope, g.shapes.get(r->shapes), stack_tuple(r->stack, g.frames),
                    backend_text(r->backend), static_cast<long long>(r->count), static_cast<long long>(r->failed),
                    static_cast<long long>(r->total), static_cast<long long>(r->self), static_cast<long long>(r->least),
                    static_cast<long long>(r->most), static_cast<long long>(r->memory),
                    static_cast<long long>(r->self_memory), static_cast<long long>(r->device),
                    static_cast<long long>(r->self_device), static_cast<long long>(r->bytes),
                    static_cast<long long>(r->device_memory), static_cast<long long>(r->self_device_memory)));
}

PyObject* device_text(lamella_device d) {
  return PyUnicode_FromFormat("%s:%d", d.backend < 0 ? "" : api().backend_name(d.backend), d.index);
}

lamella_status add_activity(void* context, const lamella_trace_activity* a) {
  auto& g = *static_cast<Gathering*>(context);
  return add(g, Py_BuildValue("(sINiKKLLLLLKNNN)", a->name, a->kind, backend_text(a->device.backend), a->device.index,
                              static_cast<unsigned long long>(a->stream), static_cast<unsigned long long>(a->launch),
                              static_cast<long long>(a->launched), static_cast<long long>(a->begin),
                              static_cast<long long>(a->end), static_cast<long long>(a->bytes),
                              static_cast<long long>(a->host), static_cast<unsigned long long>(a->thread),
                              stack_tuple(a->stack, g.frames), device_text(a->from), device_text(a->to)));
}

lamella_status add_text(void* context, const char* text) {
  return add(*static_cast<Gathering*>(context),
             PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace"));
}

lamella_status add_memory(void* context, const lamella_trace_memory_event* m) {
  auto& g = *static_cast<Gathering*>(context);
  return add(g, Py_BuildValue("(LKLNiK)", static_cast<long long>(m->time),
                              static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(m->data)),
                              static_cast<long long>(m->bytes), backend_text(m->device.backend), m->device.index,
                              static_cast<unsigned long long>(m->thread)));
}

template <class Read>
PyObject* gather(Py_ssize_t frames, Read read) {
  Gathering g{PyList_New(0), {}, frames};
  if (!g.list) return nullptr;
  if (!read(&g)) return g.list;
  Py_DECREF(g.list);
  return raise();
}

PyObject* events(PyObject* self, PyObject*) {
  return gather(PY_SSIZE_T_MAX, [&](Gathering* g) { return profiler->trace_events(trace_of(self), add_event, g); });
}
PyObject* memory(PyObject* self, PyObject*) {
  return gather(0, [&](Gathering* g) { return profiler->trace_memory(trace_of(self), add_memory, g); });
}
PyObject* activity(PyObject* self, PyObject*) {
  return gather(PY_SSIZE_T_MAX,
                [&](Gathering* g) { return profiler->trace_activity(trace_of(self), add_activity, g); });
}
PyObject* notes(PyObject* self, PyObject*) {
  return gather(0, [&](Gathering* g) { return profiler->trace_notes(trace_of(self), add_text, g); });
}
PyObject* traced_devices(PyObject*, PyObject*) {
  return gather(0, [](Gathering* g) { return profiler->traced_devices(add_text, g); });
}
PyObject* is_device(PyObject*, PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) return nullptr;
  int32_t id;
  const bool there = !api().find_backend(text, &id) && api().backend_description(id);
  api().error_clear();
  return PyBool_FromLong(there);
}
// _begin_ranges(kind, path, shapes) -> handle of an observer
PyObject* begin_ranges(PyObject*, PyObject* args) {
  const char *kind, *path;
  int shapes;
  uint64_t handle;
  if (!PyArg_ParseTuple(args, "ssp", &kind, &path, &shapes)) return nullptr;
  if (profiler->ranges_begin(kind, path, shapes, &handle)) return raise();
  return PyLong_FromUnsignedLongLong(handle);
}
PyObject* summary(PyObject* self, PyObject* args) {
  int by_shapes, frames;
  if (!PyArg_ParseTuple(args, "pi", &by_shapes, &frames)) return nullptr;
  return gather(frames,
                [&](Gathering* g) { return profiler->trace_summary(trace_of(self), by_shapes, frames, add_row, g); });
}

// write(descriptor, metadata)
PyObject* write(PyObject* self, PyObject* args) {
  int fd;
  const char* metadata;
  if (!PyArg_ParseTuple(args, "is", &fd, &metadata)) return nullptr;
  if (without_lock([&] { return profiler->trace_write(trace_of(self), fd, metadata); })) return raise();
  Py_RETURN_NONE;
}

PyObject* dropped(PyObject* self, PyObject*) { return PyLong_FromLongLong(profiler->trace_dropped(trace_of(self))); }

PyMethodDef methods[] = {{"stop", stop, METH_NOARGS, nullptr},
                         {"events", events, METH_NOARGS, nullptr},
                         {"memory", memory, METH_NOARGS, nullptr},
                         {"activity", activity, METH_NOARGS, nullptr},
                         {"notes", notes, METH_NOARGS, nullptr},
                         {"summary", summary, METH_VARARGS, nullptr},
                         {"write", write, METH_VARARGS, nullptr},
                         {"dropped", dropped, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyMethodDef trace_methods[] = {{"_traced_devices", traced_devices, METH_NOARGS, nullptr},
                               {"_begin_ranges", begin_ranges, METH_VARARGS, nullptr},
                               {"_is_device", is_device, METH_O, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

int add_traces(PyObject* module) {
  static PyType_Slot slots[] = {{Py_tp_methods, methods},
                                {Py_tp_new, reinterpret_cast<void*>(start)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                                {0, nullptr}};
  static PyType_Spec spec = {"lamella.profiler._Trace", sizeof(TraceObject), 0, Py_TPFLAGS_DEFAULT, slots};
  return add_type(module, &spec) ? 0 : -1;
}

}  // namespace lamella::profiler::face
