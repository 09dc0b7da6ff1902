// The extension module _python: stores, groups and work, by the interface "distributed".
#include "python/face.h"

#include <cstdio>
#include <cstring>
#include <vector>

namespace lamella::distributed {
namespace {

PyTypeObject *store_type = nullptr, *work_type = nullptr;

PyObject* taken_bytes(lamella_value& v) {
  PyObject* bytes = PyBytes_FromStringAndSize(v.as.string, v.length);
  api().value_release(&v);
  return bytes;
}

// The keys of a sequence of strings.
class KeyList {
 public:
  explicit KeyList(PyObject* sequence) : tuple_(PySequence_Tuple(sequence)) {
    for (Py_ssize_t i = 0; tuple_ && i < PyTuple_GET_SIZE(tuple_); i++) {
      keys_.push_back(PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple_, i)));
      if (!keys_.back()) Py_CLEAR(tuple_);
    }
  }
  ~KeyList() { Py_XDECREF(tuple_); }
  KeyList(const KeyList&) = delete;
  bool good() const { return tuple_; }
  const char* const* data() const { return keys_.data(); }
  int32_t size() const { return static_cast<int32_t>(keys_.size()); }

 private:
  PyObject* tuple_;  // of its own: another thread may change the caller's list
  std::vector<const char*> keys_;
};

// ---- stores --------------------------------------------------------------------------------------------------------

PyObject* set(PyObject* o, PyObject* args) {
  const char *key, *value;
  Py_ssize_t n;
  if (!PyArg_ParseTuple(args, "sy#", &key, &value, &n)) return nullptr;
  lamella_store* s = store_of(o);
  if (!call([&] { return s->table->set(s, key, value, n); })) return nullptr;
  Py_RETURN_NONE;
}
PyObject* get(PyObject* o, PyObject* args) {
  const char* key;
  long long timeout;
  if (!PyArg_ParseTuple(args, "sL", &key, &timeout)) return nullptr;
  lamella_store* s = store_of(o);
  lamella_value v = none();
  return call([&] { return s->table->get(s, key, timeout, &v); }) ? taken_bytes(v) : nullptr;
}
PyObject* append(PyObject* o, PyObject* args) {
  const char *key, *value;
  Py_ssize_t n;
  if (!PyArg_ParseTuple(args, "sy#", &key, &value, &n)) return nullptr;
  lamella_store* s = store_of(o);
  if (!call([&] { return s->table->append(s, key, value, n); })) return nullptr;
  Py_RETURN_NONE;
}
PyObject* add(PyObject* o, PyObject* args) {
  const char* key;
  long long amount;
  if (!PyArg_ParseTuple(args, "sL", &key, &amount)) return nullptr;
  lamella_store* s = store_of(o);
  int64_t sum = 0;
  return call([&] { return s->table->add(s, key, amount, &sum); }) ? PyLong_FromLongLong(sum) : nullptr;
}
PyObject* check_keys(PyObject* o, PyObject* sequence) {
  const KeyList keys(sequence);
  if (!keys.good()) return nullptr;
  lamella_store* s = store_of(o);
  int32_t all = 0;
  return call([&] { return s->table->check(s, keys.data(), keys.size(), &all); }) ? PyBool_FromLong(all) : nullptr;
}
PyObject* wait_keys(PyObject* o, PyObject* args) {
  PyObject* sequence;
  long long timeout;
  if (!PyArg_ParseTuple(args, "OL", &sequence, &timeout)) return nullptr;
  const KeyList keys(sequence);
  if (!keys.good()) return nullptr;
  lamella_store* s = store_of(o);
  if (!call([&] { return s->table->wait(s, keys.data(), keys.size(), timeout); })) return nullptr;
  Py_RETURN_NONE;
}
PyObject* compare_set(PyObject* o, PyObject* args) {
  const char *key, *expected, *desired;
  Py_ssize_t en, dn;
  if (!PyArg_ParseTuple(args, "sy#y#", &key, &expected, &en, &desired, &dn)) return nullptr;
  lamella_store* s = store_of(o);
  lamella_value v = none();
  return call([&] { return s->table->compare_set(s, key, expected, en, desired, dn, &v); }) ? taken_bytes(v) : nullptr;
}
PyObject* delete_key(PyObject* o, PyObject* arg) {
  const char* key = PyUnicode_AsUTF8(arg);
  if (!key) return nullptr;
  lamella_store* s = store_of(o);
  int32_t deleted = 0;
  return call([&] { return s->table->delete_key(s, key, &deleted); }) ? PyBool_FromLong(deleted) : nullptr;
}
PyObject* num_keys(PyObject* o, PyObject*) {
  lamella_store* s = store_of(o);
  int64_t n = 0;
  return call([&] { return s->table->num_keys(s, &n); }) ? PyLong_FromLongLong(n) : nullptr;
}

PyMethodDef store_methods[] = {{"set", set, METH_VARARGS, nullptr},
                               {"get", get, METH_VARARGS, nullptr},
                               {"add", add, METH_VARARGS, nullptr},
                               {"append", append, METH_VARARGS, nullptr},
                               {"check", check_keys, METH_O, nullptr},
                               {"wait", wait_keys, METH_VARARGS, nullptr},
                               {"compare_set", compare_set, METH_VARARGS, nullptr},
                               {"delete_key", delete_key, METH_O, nullptr},
                               {"num_keys", num_keys, METH_NOARGS, nullptr},
                               {}};

template <class F>
PyObject* new_store(F&& make) {
  lamella_store* s = nullptr;
  return call([&] { return make(&s); }) ? handle_to(store_type, s) : nullptr;
}
PyObject* hash_store(PyObject*, PyObject*) {
  return new_store([](lamella_store** s) { return table->hash_store(s); });
}
PyObject* prefix_store(PyObject*, PyObject* args) {
  const char* prefix;
  PyObject* inner;
  if (!PyArg_ParseTuple(args, "sO!", &prefix, store_type, &inner)) return nullptr;
  return new_store([&](lamella_store** s) { return table->prefix_store(prefix, store_of(inner), s); });
}
PyObject* file_store(PyObject*, PyObject* args) {
  PyObject* path;
  int world_size;
  if (!PyArg_ParseTuple(args, "O&i", PyUnicode_FSConverter, &path, &world_size)) return nullptr;
  PyObject* made =
      new_store([&](lamella_store** s) { return table->file_store(PyBytes_AS_STRING(path), world_size, s); });
  Py_DECREF(path);
  return made;
}
PyObject* tcp_store(PyObject*, PyObject* args) {
  lamella_tcp_store o{};
  o.size = sizeof o;
  long long timeout;
  if (!PyArg_ParseTuple(args, "siippL", &o.host, &o.port, &o.world_size, &o.server, &o.wait_for_workers, &timeout))
    return nullptr;
  o.timeout = timeout;
  int32_t port = 0;
  PyObject* made = new_store([&](lamella_store** s) { return table->tcp_store(&o, s, &port); });
  return made ? Py_BuildValue("(Ni)", made, port) : nullptr;
}

// ---- groups and work -----------------------------------------------------------------------------------------------

PyObject* open_group(PyObject*, PyObject* args) {
  lamella_group_options o{};
  o.size = sizeof o;
  PyObject *store, *list;
  long long timeout;
  if (!PyArg_ParseTuple(args, "ssOiiLIizO", &o.name, &o.engine, &store, &o.rank, &o.num_ranks, &timeout, &o.flags,
                        &o.number, &o.part_of, &list))
    return nullptr;
  o.timeout = timeout;
  if (store != Py_None && !PyObject_TypeCheck(store, store_type))
    return PyErr_Format(PyExc_TypeError, "open_group: argument 'store' must be a store");
  std::vector<int32_t> ranks;
  PyObject* fast = PySequence_Fast(list, "ranks must be a list of ints");
  for (Py_ssize_t i = 0; fast && i < PySequence_Fast_GET_SIZE(fast); i++)
    ranks.push_back(static_cast<int32_t>(PyLong_AsLong(PySequence_Fast_GET_ITEM(fast, i))));
  Py_XDECREF(fast);
  if (PyErr_Occurred()) return nullptr;
  o.ranks = ranks.data();
  if (!call([&] { return table->open_group(&o, store == Py_None ? nullptr : store_of(store)); })) return nullptr;
  Py_RETURN_NONE;
}
PyObject* close_group(PyObject*, PyObject* arg) {
  const char* name = PyUnicode_AsUTF8(arg);
  if (!name || !call([&] { return table->close_group(name); })) return nullptr;
  Py_RETURN_NONE;
}

PyObject* window(PyObject*, PyObject* args) {
  const char* name;
  long long bytes;
  if (!PyArg_ParseTuple(args, "sL", &name, &bytes)) return nullptr;
  lamella_tensor* made = nullptr;
  if (!call([&] { return table->window(name, bytes, &made); })) return nullptr;
  return python::face().wrap(made);
}

// Finds the innermost frame outside of Lamella. The lock is taken if the call has let go of it.
int32_t where(char* file, int32_t room, int32_t* line) {
  if (!Py_IsInitialized()) return 0;
  const PyGILState_STATE state = PyGILState_Ensure();
  auto* frame = reinterpret_cast<PyFrameObject*>(Py_XNewRef(PyEval_GetFrame()));
  int32_t found = 0;
  while (frame && !found) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* name = PyUnicode_AsUTF8(code->co_filename);
    if (name && !std::strstr(name, "/lamella/")) {
      std::snprintf(file, static_cast<size_t>(room), "%s", name);
      *line = PyFrame_GetLineNumber(frame);
      found = 1;
    }
    if (!name) PyErr_Clear();
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  PyGILState_Release(state);
  return found;
}
PyObject* record(PyObject*, PyObject* args) {
  const char* path;
  int rank, size;
  if (!PyArg_ParseTuple(args, "sii", &path, &rank, &size)) return nullptr;
  if (!call([&] { return table->record(path, rank, size, where); })) return nullptr;
  Py_RETURN_NONE;
}

PyObject* work_of(PyObject*, PyObject* arg) {
  lamella_tensor* t = python::face().unwrap(arg);
  if (!t) return PyErr_Format(PyExc_TypeError, "work_of: expected a Tensor, got %s", Py_TYPE(arg)->tp_name);
  lamella_object* work = nullptr;
  if (table->work_of(t, &work)) return python::face().raise_pending();
  if (!work) Py_RETURN_NONE;
  return handle_to(work_type, work);
}
PyObject* settle(PyObject*, PyObject* args) {
  PyObject* o;
  int writes;
  if (!PyArg_ParseTuple(args, "Op", &o, &writes)) return nullptr;
  lamella_tensor* t = python::face().unwrap(o);
  if (!t) return PyErr_Format(PyExc_TypeError, "settle: expected a Tensor, got %s", Py_TYPE(o)->tp_name);
  if (!call([&] { return table->settle(t, writes); })) return nullptr;
  Py_RETURN_NONE;
}
PyObject* wait_work(PyObject* o, PyObject* arg) {
  const long long timeout = PyLong_AsLongLong(arg);
  if (timeout == -1 && PyErr_Occurred()) return nullptr;
  if (!call([&] { return table->wait(object_of(o), timeout); })) return nullptr;
  Py_RETURN_NONE;
}
PyObject* done(PyObject* o, PyObject*) {
  int32_t yes = 0;
  if (table->test(object_of(o), &yes)) return python::face().raise_pending();
  return PyBool_FromLong(yes);
}
PyObject* sender(PyObject* o, PyObject*) {
  int32_t rank = -1;
  if (table->sender(object_of(o), &rank)) return python::face().raise_pending();
  return PyLong_FromLong(rank);
}

PyMethodDef work_methods[] = {{"wait", wait_work, METH_O, nullptr},
                              {"done", done, METH_NOARGS, nullptr},
                              {"sender", sender, METH_NOARGS, nullptr},
                              {}};

PyMethodDef functions[] = {{"hash_store", hash_store, METH_NOARGS, nullptr},
                           {"prefix_store", prefix_store, METH_VARARGS, nullptr},
                           {"file_store", file_store, METH_VARARGS, nullptr},
                           {"tcp_store", tcp_store, METH_VARARGS, nullptr},
                           {"open_group", open_group, METH_VARARGS, nullptr},
                           {"close_group", close_group, METH_O, nullptr},
                           {"record", record, METH_VARARGS, nullptr},
                           {"window", window, METH_VARARGS, nullptr},
                           {"work_of", work_of, METH_O, nullptr},
                           {"settle", settle, METH_VARARGS, nullptr},
                           {}};

PyModuleDef module = {PyModuleDef_HEAD_INIT,
                      "lamella.plugins.distributed._python",
                      nullptr,
                      -1,
                      functions,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr};

}  // namespace
}  // namespace lamella::distributed

PyMODINIT_FUNC PyInit__python() {
  using namespace lamella;
  using namespace lamella::distributed;
  if (python::import() < 0) return nullptr;
  table = static_cast<const lamella_distributed*>(api().find_interface("distributed", 1));
  if (!table) return PyErr_Format(PyExc_ImportError, "the library of the plugin 'distributed' is not loaded");
  store_type = make_type("lamella.plugins.distributed._python.Store", store_methods);
  work_type = make_type("lamella.plugins.distributed._python.Work", work_methods);
  PyObject* m = store_type && work_type ? PyModule_Create(&module) : nullptr;
  if (m && (PyModule_AddType(m, store_type) < 0 || PyModule_AddType(m, work_type) < 0 || !add_reducer(m))) Py_CLEAR(m);
  return m;
}
