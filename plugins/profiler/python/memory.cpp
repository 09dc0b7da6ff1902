// The history of memory for Python: records as tuples, from which memory.py makes dictionaries.
#include "memory/interface.h"

#include "face.h"
#include "stacks.h"

namespace lamella::profiler::face {
namespace {

const lamella_profiler_memory* memory() {
  static const auto* found = static_cast<const lamella_profiler_memory*>(api().find_interface("profiler.memory", 1));
  return found;
}

PyObject* device_to_python(lamella_device d) {
  const lamella_backend* b = api().backend_description(d.backend);
  const char* name = api().backend_name(d.backend);
  return b && b->device_count ? PyUnicode_FromFormat("%s:%d", name, (int)d.index) : PyUnicode_FromString(name);
}

PyObject* shape_to_python(const lamella_memory_record* r) {
  PyObject* list = PyList_New(r->ndim);
  for (int32_t i = 0; list && i < r->ndim; i++) {
    PyObject* size = PyLong_FromLongLong(r->shape[i]);
    if (!size) Py_CLEAR(list);
    if (list) PyList_SET_ITEM(list, i, size);
  }
  return list;
}

PyObject* record_to_python(const lamella_memory_record* r) {
  const lamella_dtype_def* dtype = r->dtype < 0 ? nullptr : api().dtype_info(r->dtype);
  PyObject* shape = dtype ? shape_to_python(r) : Py_NewRef(Py_None);
  PyObject* device = device_to_python(r->device);
  PyObject* stack = stack_to_python(r->stack);
  PyObject* made =
      !shape || !device || !stack
          ? nullptr
          : Py_BuildValue("(iKLKKLOzOzO)", (int)r->kind, (unsigned long long)r->number, (long long)r->time,
                          (unsigned long long)r->thread, (unsigned long long)(uintptr_t)r->data, (long long)r->bytes,
                          device, r->maker, stack, dtype ? dtype->name : nullptr, shape);
  Py_XDECREF(shape);
  Py_XDECREF(device);
  Py_XDECREF(stack);
  return made;
}

// _memory_on(flags, max_entries)
PyObject* switch_on(PyObject*, PyObject* args) {
  unsigned int flags;
  unsigned long long most;
  if (!PyArg_ParseTuple(args, "IK", &flags, &most)) return nullptr;
  memory()->set_stacks(take_stack, describe_stack);
  lamella_status st;
  Py_BEGIN_ALLOW_THREADS;  // another thread that holds the lock of switching may wait for the interpreter's lock
  st = memory()->switch_on(flags, most);
  Py_END_ALLOW_THREADS;
  if (st) return raise();
  Py_RETURN_NONE;
}

PyObject* switch_off(PyObject*, PyObject*) {
  Py_BEGIN_ALLOW_THREADS;
  memory()->switch_off();
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyObject* flags(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(memory()->flags()); }

PyObject* counts_to_python(const lamella_memory_counts& c) {
  return Py_BuildValue("{sLsLsLsLsLsLsLsLsLsL}", "live_bytes", (long long)c.live_bytes, "peak_bytes",
                       (long long)c.peak_bytes, "live_blocks", (long long)c.live_blocks, "peak_blocks",
                       (long long)c.peak_blocks, "allocations", (long long)c.allocations, "allocated_bytes",
                       (long long)c.allocated_bytes, "frees", (long long)c.frees, "freed_bytes",
                       (long long)c.freed_bytes, "largest_live_bytes", (long long)c.largest_live_bytes, "largest_bytes",
                       (long long)c.largest_bytes);
}

struct Snapshot {
  PyObject *blocks, *events, *devices;
};

lamella_status append(PyObject* list, PyObject* item) {
  const int failed = item ? PyList_Append(list, item) : -1;
  Py_XDECREF(item);
  return failed ? python::face().capture_exception() : LAMELLA_OK;
}

// _memory_snapshot(): the blocks, the events, the number of events that the ring has dropped, the counts by device
PyObject* snapshot(PyObject*, PyObject*) {
  Snapshot to = {PyList_New(0), PyList_New(0), PyDict_New()};
  lamella_memory_snapshot visitor{};
  visitor.size = sizeof visitor;
  visitor.context = &to;
  visitor.block = [](void* c, const lamella_memory_record* r) {
    return append(static_cast<Snapshot*>(c)->blocks, record_to_python(r));
  };
  visitor.event = [](void* c, const lamella_memory_record* r) {
    return append(static_cast<Snapshot*>(c)->events, record_to_python(r));
  };
  visitor.device = [](void* c, lamella_device d, const lamella_memory_counts* counts) {
    PyObject *name = device_to_python(d), *numbers = counts_to_python(*counts);
    const int failed = name && numbers ? PyDict_SetItem(static_cast<Snapshot*>(c)->devices, name, numbers) : -1;
    Py_XDECREF(name);
    Py_XDECREF(numbers);
    return failed ? python::face().capture_exception() : LAMELLA_OK;
  };
  PyObject* made = nullptr;
  if (to.blocks && to.events && to.devices) {
    if (memory()->snapshot(&visitor))
      raise();
    else
      made = Py_BuildValue("(OOKO)", to.blocks, to.events, (unsigned long long)visitor.dropped, to.devices);
  }
  Py_XDECREF(to.blocks);
  Py_XDECREF(to.events);
  Py_XDECREF(to.devices);
  return made;
}

int device_from_python(PyObject* o, lamella_device* out) {
  lamella_value v;
  if (python::face().from_python(o, &v) < 0) return -1;
  const bool is = v.tag == LAMELLA_DEVICE;
  if (is) *out = v.as.device;
  api().value_release(&v);
  if (!is) PyErr_Format(PyExc_TypeError, "memory: argument 'device' must be a device, got %s", Py_TYPE(o)->tp_name);
  return is ? 0 : -1;
}

// _memory_counts(device)
PyObject* counts(PyObject*, PyObject* o) {
  lamella_device d;
  lamella_memory_counts c{};
  if (device_from_python(o, &d) < 0) return nullptr;
  memory()->counts(d, &c);
  return counts_to_python(c);
}

// _memory_reset_counts(device, what)
PyObject* reset_counts(PyObject*, PyObject* args) {
  PyObject* o;
  unsigned int what;
  lamella_device d;
  if (!PyArg_ParseTuple(args, "OI", &o, &what) || device_from_python(o, &d) < 0) return nullptr;
  memory()->reset_counts(d, what);
  Py_RETURN_NONE;
}

// _memory_devices(): for each loaded backend but meta its name, the number of its devices (None if they have no
// numbers), and whether its allocator counts
PyObject* devices(PyObject*, PyObject*) {
  PyObject* list = PyList_New(0);
  for (int32_t id = 1; list && std::strcmp(api().backend_name(id), "none") != 0; id++) {
    const lamella_backend* b = api().backend_description(id);
    if (!b) continue;
    PyObject* count = b->device_count ? PyLong_FromLong(b->device_count(b->context)) : Py_NewRef(Py_None);
    PyObject* row = Py_BuildValue("(sNN)", b->name, count, PyBool_FromLong(b->allocator && b->allocator->stats));
    if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

}  // namespace

PyMethodDef memory_methods[] = {
    {"_memory_on", switch_on, METH_VARARGS, nullptr},   {"_memory_off", switch_off, METH_NOARGS, nullptr},
    {"_memory_flags", flags, METH_NOARGS, nullptr},     {"_memory_snapshot", snapshot, METH_NOARGS, nullptr},
    {"_memory_counts", counts, METH_O, nullptr},        {"_memory_reset_counts", reset_counts, METH_VARARGS, nullptr},
    {"_memory_devices", devices, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

}  // namespace lamella::profiler::face
