// Python's stacks for traces: a frame is the number of its code object and the place in it.
#include "stacks.h"

#include <frameobject.h>

#include <cstdio>
#include <unordered_map>
#include <vector>

namespace lamella::profiler::face {
namespace {

// Code objects by number, under the interpreter's lock. They are kept: a trace names them when their functions may be
// gone.
struct Codes {
  std::unordered_map<PyCodeObject*, int64_t> numbers;
  std::vector<PyCodeObject*> all;
};
Codes& codes() {
  static auto* c = new Codes;
  return *c;
}

int64_t number_of(PyCodeObject* code) {
  const auto [at, is_new] = codes().numbers.emplace(code, static_cast<int64_t>(codes().all.size()));
  if (is_new) codes().all.push_back(reinterpret_cast<PyCodeObject*>(Py_NewRef(code)));
  return at->second;
}

int32_t read(int64_t* frames, int32_t room) {
  if (!Py_IsInitialized()) return 0;
  const Gil gil;
  int32_t n = 0;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame && n < room) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    frames[n++] = number_of(code) << 32 | static_cast<uint32_t>(place_of(frame));
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  return n;
}

int32_t describe(int64_t frame, char* out, int32_t room) {
  if (!Py_IsInitialized()) return 0;
  const Gil gil;
  const auto at = static_cast<size_t>(frame >> 32);
  if (at >= codes().all.size()) return 0;
  PyCodeObject* code = codes().all[at];
  const int line = line_of(code, static_cast<int>(frame & 0xffffffff));
  const int n = std::snprintf(out, static_cast<size_t>(room), "%s(%d): %s", text_of(code->co_filename), line,
                              text_of(code->co_name));
  return n < room ? n : room - 1;
}

PyObject* describe_frame(PyObject*, PyObject* o) {
  const long long frame = PyLong_AsLongLong(o);
  if (PyErr_Occurred()) return nullptr;
  char text[1024];
  return PyUnicode_DecodeUTF8(text, describe(frame, text, sizeof text), "replace");
}

}  // namespace

PyMethodDef stack_methods[] = {{"_describe_frame", describe_frame, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};

void add_stacks() { profiler->set_stack_reader(read, describe); }

}  // namespace lamella::profiler::face
