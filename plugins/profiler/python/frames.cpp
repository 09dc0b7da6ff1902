#include "frames.h"

#include <frameobject.h>

#include <cstdio>
#include <new>
#include <unordered_map>
#include <vector>

namespace lamella::profiler::face {
namespace {

struct Codes {
  std::unordered_map<PyCodeObject*, int64_t> numbers;
  std::vector<PyCodeObject*> all;
};
Codes& codes() {
  static auto* c = new Codes;
  return *c;
}

int64_t number_of(PyCodeObject* code) {
  Codes& c = codes();
  if (const auto known = c.numbers.find(code); known != c.numbers.end()) return known->second;
  // Pushed before it gets a number, so that a failure of either leaves no number without a code object.
  c.all.push_back(code);
  Py_INCREF(code);
  return c.numbers.emplace(code, static_cast<int64_t>(c.all.size() - 1)).first->second;
}

// The code objects of this thread's last stack with their numbers: most frames of the next stack are the same.
struct Last {
  static constexpr int32_t most = 64;
  PyCodeObject* codes[most];
  int64_t numbers[most];
};
thread_local Last last{};

// Returns the offset of the running instruction in the code; before Python 3.11 its line.
int instruction_of(PyFrameObject* f) {
#if PY_VERSION_HEX >= 0x030b0000
  return PyFrame_GetLasti(f);
#else
  return PyFrame_GetLineNumber(f);
#endif
}

// ---- for traces ----------------------------------------------------------------------------------------------------

int32_t read(int64_t* frames, int32_t room) {
  if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) return 0;  // a thread that runs no Python has no frames
  const HeldGil gil;
  try {
    return read_frames(frames, room);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

int32_t describe(int64_t frame, char* out, int32_t room) {
  if (!Py_IsInitialized()) return 0;
  const HeldGil gil;
  PyCodeObject* code = code_of(frame);
  if (!code) return 0;
  const int n = std::snprintf(out, static_cast<size_t>(room), "%s(%d): %s", text_of(code->co_filename), line_of(frame),
                              text_of(code->co_name));
  return n < room ? n : room - 1;
}

PyObject* describe_frame(PyObject*, PyObject* o) {
  const long long frame = PyLong_AsLongLong(o);
  if (PyErr_Occurred()) return nullptr;
  char text[1024];
  return PyUnicode_DecodeUTF8(text, profiler->describe_frame(frame, text, sizeof text), "replace");
}

}  // namespace

int32_t read_frames(int64_t* frames, int32_t room) {
  Last& known = last;
  int32_t n = 0;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame && n < room) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    int64_t number;
    if (n < Last::most && known.codes[n] == code) {
      number = known.numbers[n];
    } else {
      number = number_of(code);
      if (n < Last::most) {
        known.codes[n] = code;
        known.numbers[n] = number;
      }
    }
    frames[n++] = number << 32 | static_cast<uint32_t>(instruction_of(frame));
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  return n;
}

PyCodeObject* code_of(int64_t frame) {
  const auto at = static_cast<size_t>(frame >> 32);
  return at < codes().all.size() ? codes().all[at] : nullptr;
}

int line_of(int64_t frame) {
  const int instruction = static_cast<int>(frame & 0xffffffff);
#if PY_VERSION_HEX >= 0x030b0000
  PyCodeObject* code = code_of(frame);
  return code ? PyCode_Addr2Line(code, instruction) : 0;
#else
  return instruction;
#endif
}

const char* text_of(PyObject* o) {
  const char* text = PyUnicode_AsUTF8(o);
  if (!text) PyErr_Clear();
  return text ? text : "?";
}

PyMethodDef stack_methods[] = {{"_describe_frame", describe_frame, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};

void add_stacks() { profiler->set_stack_reader(LAMELLA_STACK_HOST, read, describe); }

}  // namespace lamella::profiler::face
