// Shared declarations of the Python face, an extension module that uses graphs through the interface "graph" alone.
#pragma once

#include <lamella/python.h>

#include <lamella/graph.h>

#include <cxxabi.h>
#include <unistd.h>

#include <map>
#include <optional>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace lamella::graph::face {

namespace py = pybind11;

extern const lamella_graph_table* graphs;  // the interface

// Throws the pending error as Python's exception.
inline void check(lamella_status status) {
  if (!status) return;
  python::face().raise_pending();
  throw py::error_already_set();
}

// Calls a function without the interpreter's lock. A thread that wants the lock back while the interpreter ends would be
// unwound by Python, and destructors would use objects without the lock; so it stands still here, as in Python 3.14.
template <class F>
auto unlocked(F f) {
  PyThreadState* state = PyEval_SaveThread();
  auto result = f();
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind&) {
    while (true) pause();
  }
  return result;
}

// An owned value.
struct Owned {
  lamella_value v{LAMELLA_NONE, 0, {0}};
  Owned() = default;
  explicit Owned(lamella_value owned) : v(owned) {}
  Owned(Owned&& o) noexcept : v(o.take()) {}
  Owned(const Owned&) = delete;
  ~Owned() { api().value_release(&v); }
  lamella_value take() { return std::exchange(v, lamella_value{LAMELLA_NONE, 0, {0}}); }
  std::string text() const { return {v.as.string, v.length}; }
  std::string line() const {  // without a newline at its end, since `print` adds one
    std::string s = text();
    while (!s.empty() && s.back() == '\n') s.pop_back();
    return s;
  }
};

// Converts an object to an owned value: tensors, numbers, texts, dtypes and so on; lists, tuples and dictionaries of
// these; instances. Returns -1 with an exception.
int to_value(PyObject* o, lamella_value* out);
// Returns a new reference, or null with an exception.
PyObject* to_python(const lamella_value& v);

// A counted program.
class ProgramRef {
 public:
  explicit ProgramRef(lamella_object* owned) : p_(owned) {}
  ProgramRef(const ProgramRef& o) : p_(o.p_) { api().retain(p_); }
  ProgramRef& operator=(const ProgramRef&) = delete;
  ~ProgramRef() { api().release(p_); }
  lamella_object* get() const { return p_; }
  bool operator==(const ProgramRef& o) const { return p_ == o.p_; }

 private:
  lamella_object* p_;
};

struct Program {
  ProgramRef ref;
};

// Runs a graph of a program with Python's objects.
py::object run(const Program& p, const char* name, const py::tuple& args);

void add_instances(py::module_& m);
void add_programs(py::module_& m);
void add_graphs(py::module_& m);
void add_hooks(py::module_& m);
void add_tracing(py::module_& m, const std::string& package_folder);
int add_function(PyObject* m);

}  // namespace lamella::graph::face
