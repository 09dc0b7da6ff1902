// _Collector: samples of calls for Python, which exporters read from time to time.
//
// Note [No lock]  A collector is read without the interpreter's lock; its rows are made into objects afterwards, with
//   that lock. So a thread that holds the collector's lock never waits for the interpreter's.
#include "face.h"

#include <lamella/sampled_calls.h>

#include <deque>
#include <string>
#include <vector>

namespace lamella::profiler::face {
namespace {

const lamella_samples* samples = nullptr;

struct CollectorObject {
  PyObject_HEAD lamella_collector* collector;
  uint32_t kinds, series_kinds, buckets;
};

CollectorObject* cast(PyObject* o) { return reinterpret_cast<CollectorObject*>(o); }

// Copies of the texts of a series or a span, which borrows them.
struct Texts {
  std::string name, backend, dtype;
  std::vector<std::pair<bool, std::string>> values;
  template <class From>
  Texts(const From* f, uint32_t kinds) : name(f->name), backend(f->backend), dtype(f->dtype) {
    for (uint32_t i = 0; i < kinds; i++) values.emplace_back(f->values[i] != nullptr, f->values[i] ? f->values[i] : "");
  }
};
struct Series {
  Texts texts;
  lamella_series s;
  std::vector<uint64_t> buckets;
};
struct Span {
  Texts texts;
  lamella_span s;
};
struct Reading {
  const CollectorObject* of;
  std::deque<Series> series;
  std::deque<Span> spans;
};

PyObject* text(const std::string& s) {
  return PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace");
}

PyObject* values(const Texts& t) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(t.values.size()));
  for (size_t i = 0; tuple && i < t.values.size(); i++) {
    PyObject* o = t.values[i].first ? text(t.values[i].second) : Py_NewRef(Py_None);
    if (!o) Py_CLEAR(tuple);
    if (tuple) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), o);
  }
  return tuple;
}

PyObject* numbers(const std::vector<uint64_t>& from) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(from.size()));
  for (size_t i = 0; tuple && i < from.size(); i++) {
    PyObject* o = PyLong_FromUnsignedLongLong(from[i]);
    if (!o) Py_CLEAR(tuple);
    if (tuple) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), o);
  }
  return tuple;
}

// (scope, name, backend, dtype, values, count, sum, min, max, buckets)
PyObject* row(const Series& x) {
  return Py_BuildValue("(INNNNKdddN)", x.s.scope, text(x.texts.name), text(x.texts.backend), text(x.texts.dtype),
                       values(x.texts), static_cast<unsigned long long>(x.s.count), x.s.sum, x.s.min, x.s.max,
                       numbers(x.buckets));
}

// (scope, name, backend, dtype, values, begin, duration, id, parent, root, thread)
PyObject* row(const Span& x) {
  using u64 = unsigned long long;
  return Py_BuildValue("(INNNNKKKKKK)", x.s.scope, text(x.texts.name), text(x.texts.backend), text(x.texts.dtype),
                       values(x.texts), u64{x.s.begin}, u64{x.s.duration}, u64{x.s.id}, u64{x.s.parent}, u64{x.s.root},
                       u64{x.s.thread});
}

template <class Rows>
PyObject* list_of(const Rows& rows) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(rows.size()));
  for (size_t i = 0; list && i < rows.size(); i++) {
    PyObject* o = row(rows[i]);
    if (!o) Py_CLEAR(list);
    if (list) PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), o);
  }
  return list;
}

lamella_status keep_series(void* context, const lamella_series* s) {
  return guarded([&] {
    auto* r = static_cast<Reading*>(context);
    r->series.push_back({Texts(s, r->of->series_kinds), *s, {s->buckets, s->buckets + r->of->buckets}});
    return LAMELLA_OK;
  });
}
lamella_status keep_span(void* context, const lamella_span* s) {
  return guarded([&] {
    auto* r = static_cast<Reading*>(context);
    r->spans.push_back({Texts(s, r->of->kinds), *s});
    return LAMELLA_OK;
  });
}

lamella_collector* opened(PyObject* self) {
  lamella_collector* c = cast(self)->collector;
  if (!c) PyErr_SetString(PyExc_ValueError, "the collector is closed");
  return c;
}

PyObject* drain(PyObject* self, PyObject*) {
  lamella_collector* c = opened(self);
  if (!c) return nullptr;
  lamella_status st;
  Py_BEGIN_ALLOW_THREADS st = samples->drain(c);
  Py_END_ALLOW_THREADS if (st) return raise();
  Py_RETURN_NONE;
}

PyObject* series(PyObject* self, PyObject*) {
  lamella_collector* c = opened(self);
  if (!c) return nullptr;
  Reading reading{cast(self), {}, {}};
  lamella_status st;
  Py_BEGIN_ALLOW_THREADS st = samples->each_series(c, keep_series, &reading);
  Py_END_ALLOW_THREADS return st ? raise() : list_of(reading.series);
}

PyObject* take_spans(PyObject* self, PyObject*) {
  lamella_collector* c = opened(self);
  if (!c) return nullptr;
  Reading reading{cast(self), {}, {}};
  lamella_status st;
  Py_BEGIN_ALLOW_THREADS st = samples->take_spans(c, keep_span, &reading);
  Py_END_ALLOW_THREADS return st ? raise() : list_of(reading.spans);
}

// (recorded, queue, series, spans)
PyObject* counts(PyObject* self, PyObject*) {
  lamella_collector* c = opened(self);
  if (!c) return nullptr;
  lamella_sample_counts n{};
  n.size = sizeof n;
  Py_BEGIN_ALLOW_THREADS samples->counts(c, &n);
  Py_END_ALLOW_THREADS using u64 = unsigned long long;
  return Py_BuildValue("(KKKK)", u64{n.recorded}, u64{n.queue}, u64{n.series}, u64{n.spans});
}

PyObject* stop(PyObject* self, PyObject*) {
  lamella_collector* c = opened(self);
  if (!c) return nullptr;
  samples->stop(c);
  Py_RETURN_NONE;
}

// For a child of fork: abandons the collector without reading its memory, which may be in any state.
PyObject* abandon(PyObject* self, PyObject*) {
  if (lamella_collector* c = std::exchange(cast(self)->collector, nullptr)) samples->close(c, 1);
  Py_RETURN_NONE;
}

// _Collector(probability, block_probability, capacity, max_series, max_spans, series_kinds, kinds, bounds); `kinds` is
// a tuple of str, `bounds` a tuple of float
PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  lamella_sampling s{};
  s.size = sizeof s;
  PyObject *kinds, *bounds;
  if (!PyArg_ParseTuple(args, "ddIIIIO!O!:_Collector", &s.probability, &s.block_probability, &s.capacity, &s.max_series,
                        &s.max_spans, &s.num_series_kinds, &PyTuple_Type, &kinds, &PyTuple_Type, &bounds))
    return nullptr;
  std::vector<const char*> texts;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kinds); i++) {
    texts.push_back(PyUnicode_AsUTF8(PyTuple_GET_ITEM(kinds, i)));
    if (!texts.back()) return nullptr;
  }
  std::vector<double> seconds;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(bounds); i++) {
    seconds.push_back(PyFloat_AsDouble(PyTuple_GET_ITEM(bounds, i)));
    if (PyErr_Occurred()) return nullptr;
  }
  s.kinds = texts.data();
  s.num_kinds = static_cast<uint32_t>(texts.size());
  s.bounds = seconds.data();
  s.num_bounds = static_cast<uint32_t>(seconds.size());
  auto* c = reinterpret_cast<CollectorObject*>(type->tp_alloc(type, 0));
  if (!c) return nullptr;
  c->kinds = s.num_kinds;
  c->series_kinds = s.num_series_kinds;
  c->buckets = s.num_bounds + 1;
  if (!samples->open(&s, &c->collector)) return reinterpret_cast<PyObject*>(c);
  Py_DECREF(c);
  return raise();
}

void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (cast(self)->collector) samples->close(cast(self)->collector, 0);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {{"drain", drain, METH_NOARGS, nullptr},
                         {"series", series, METH_NOARGS, nullptr},
                         {"take_spans", take_spans, METH_NOARGS, nullptr},
                         {"counts", counts, METH_NOARGS, nullptr},
                         {"stop", stop, METH_NOARGS, nullptr},
                         {"abandon", abandon, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

int add_samples(PyObject* module) {
  samples = static_cast<const lamella_samples*>(api().find_interface("samples", 1));
  if (!samples) return PyErr_Format(PyExc_ImportError, "the profiler's library has no interface 'samples'"), -1;
  static PyType_Slot slots[] = {{Py_tp_methods, methods},
                                {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                                {Py_tp_new, reinterpret_cast<void*>(make)},
                                {0, nullptr}};
  static PyType_Spec spec = {"lamella.profiler._Collector", sizeof(CollectorObject), 0, Py_TPFLAGS_DEFAULT, slots};
  return add_type(module, &spec) ? 0 : -1;
}

}  // namespace lamella::profiler::face
