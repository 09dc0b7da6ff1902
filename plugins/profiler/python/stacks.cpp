#include "stacks.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

namespace lamella::profiler::face {
namespace {

constexpr int most_frames = 64;  // the innermost

struct Node {
  uint32_t above;  // 0: nothing
  PyCodeObject* code;
  int place;  // an offset of bytes in the code; before Python 3.11 the line
  bool operator==(const Node& o) const { return above == o.above && code == o.code && place == o.place; }
};
struct Hash {
  size_t operator()(const Node& n) const {
    uint64_t x = reinterpret_cast<uintptr_t>(n.code) >> 4;
    x = (x ^ uint64_t{n.above} << 32 ^ static_cast<uint64_t>(n.place)) * 0x9e3779b97f4a7c15;
    return static_cast<size_t>(x ^ x >> 29);
  }
};

struct Tree {
  std::vector<Node> nodes{{0, nullptr, 0}};
  std::unordered_map<Node, uint32_t, Hash> numbers;
};
Tree& tree() {
  static auto* t = new Tree;
  return *t;
}

uint32_t number_of(const Node& n) {
  Tree& t = tree();
  const auto [at, fresh] = t.numbers.try_emplace(n, static_cast<uint32_t>(t.nodes.size()));
  if (fresh) {
    Py_INCREF(reinterpret_cast<PyObject*>(n.code));
    t.nodes.push_back(n);
  }
  return at->second;
}

std::string package_folder() {  // "/…/lamella/", with what lies in it
  static const std::string folder = [] {
    PyObject* file = PyImport_ImportModule("lamella");
    if (file) Py_SETREF(file, PyObject_GetAttrString(file, "__file__"));
    const char* text = file && PyUnicode_Check(file) ? PyUnicode_AsUTF8(file) : nullptr;
    std::string found = text ? text : "";
    Py_XDECREF(file);
    PyErr_Clear();
    return found.substr(0, found.rfind('/') + 1);
  }();
  return folder;
}

uint64_t walk() {
  struct Place {
    PyCodeObject* code;  // its frame, which runs, keeps it alive
    int place;
  };
  Place places[most_frames];
  int n = 0;
  for (PyFrameObject* f = PyThreadState_GetFrame(PyThreadState_Get()); f;) {
    PyFrameObject* back = nullptr;
    if (n < most_frames) {
      places[n].code = PyFrame_GetCode(f);
      places[n].place = place_of(f);
      Py_DECREF(reinterpret_cast<PyObject*>(places[n++].code));
      back = PyFrame_GetBack(f);
    }
    Py_DECREF(reinterpret_cast<PyObject*>(f));
    f = back;
  }
  uint32_t stack = 0;
  while (n-- > 0) stack = number_of({stack, places[n].code, places[n].place});
  return stack;
}

}  // namespace

int place_of(PyFrameObject* f) {
#if PY_VERSION_HEX >= 0x030b0000
  return PyFrame_GetLasti(f);
#else
  return PyFrame_GetLineNumber(f);
#endif
}

int line_of(PyCodeObject* code, int place) {
#if PY_VERSION_HEX >= 0x030b0000
  return PyCode_Addr2Line(code, place);
#else
  (void)code;
  return place;
#endif
}

const char* text_of(PyObject* o) {
  const char* text = PyUnicode_AsUTF8(o);
  if (!text) PyErr_Clear();
  return text ? text : "?";
}

uint64_t take_stack() {
  if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) return 0;
  const Gil gil;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  uint64_t stack = 0;
  try {
    stack = walk();
  } catch (const std::bad_alloc&) {  // no memory for it: the block has no stack
  }
  PyErr_Restore(type, value, traceback);
  return stack;
}

PyObject* stack_to_python(uint64_t stack) {
  PyObject* list = PyList_New(0);
  while (list && stack) {
    const Node n = tree().nodes[stack];
    PyObject* frame = Py_BuildValue("{s:O,s:i,s:O}", "filename", n.code->co_filename, "line", line_of(n.code, n.place),
                                    "name", n.code->co_name);
    if (!frame || PyList_Append(list, frame) < 0) Py_CLEAR(list);
    Py_XDECREF(frame);
    stack = n.above;
  }
  return list;
}

void describe_stack(uint64_t stack, char* text, uint64_t room) {
  if (!Py_IsInitialized()) return;
  const Gil gil;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const std::string ours = package_folder();
  uint64_t shown = stack;
  for (uint64_t s = stack; s; s = tree().nodes[s].above) {
    shown = s;
    const char* file = text_of(tree().nodes[s].code->co_filename);
    if (ours.empty() || std::strncmp(file, ours.c_str(), ours.size()) != 0) break;
  }
  const Node n = tree().nodes[shown];
  if (n.code) {
    const char* file = text_of(n.code->co_filename);
    std::snprintf(text, room, "%s:%d in %s", file, line_of(n.code, n.place), text_of(n.code->co_name));
  }
  PyErr_Restore(type, value, traceback);
}

}  // namespace lamella::profiler::face
