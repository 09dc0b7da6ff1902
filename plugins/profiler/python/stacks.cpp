#include "stacks.h"

#include "frames.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

namespace lamella::profiler::face {
namespace {

constexpr int most_frames = 64;  // the innermost ones are kept

struct Node {
  uint32_t above;  // 0: no caller
  int64_t frame;
  bool operator==(const Node&) const = default;
};
struct Hash {
  size_t operator()(const Node& n) const {
    const uint64_t x = (static_cast<uint64_t>(n.frame) ^ uint64_t{n.above} << 40) * 0x9e3779b97f4a7c15;
    return static_cast<size_t>(x ^ x >> 29);
  }
};

struct Tree {
  std::vector<Node> nodes{{0, 0}};
  std::unordered_map<Node, uint32_t, Hash> numbers;
};
Tree& tree() {
  static auto* t = new Tree;
  return *t;
}

uint32_t number_of(const Node& n) {
  Tree& t = tree();
  if (const auto known = t.numbers.find(n); known != t.numbers.end()) return known->second;
  t.nodes.push_back(n);  // added before it gets a number, so that a failure of either leaves no number without a node
  return t.numbers.emplace(n, static_cast<uint32_t>(t.nodes.size() - 1)).first->second;
}

std::string package_folder() {  // returns the folder of the package with a trailing slash, "/…/lamella/"
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

}  // namespace

uint64_t take_stack() {
  if (!Py_IsInitialized() || !PyGILState_GetThisThreadState()) return 0;
  const Gil gil;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  uint32_t stack = 0;
  try {
    int64_t frames[most_frames];
    for (int32_t n = read_frames(frames, most_frames); n-- > 0;) stack = number_of({stack, frames[n]});
  } catch (const std::bad_alloc&) {  // out of memory: the block gets no stack
  }
  PyErr_Restore(type, value, traceback);
  return stack;
}

PyObject* stack_to_python(uint64_t stack) {
  PyObject* list = PyList_New(0);
  while (list && stack) {
    const Node n = tree().nodes[stack];
    const PyCodeObject* code = code_of(n.frame);
    PyObject* frame =
        Py_BuildValue("{s:O,s:i,s:O}", "filename", code->co_filename, "line", line_of(n.frame), "name", code->co_name);
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
    const char* file = text_of(code_of(tree().nodes[s].frame)->co_filename);
    if (ours.empty() || std::strncmp(file, ours.c_str(), ours.size()) != 0) break;
  }
  if (shown) {
    const int64_t frame = tree().nodes[shown].frame;
    const PyCodeObject* code = code_of(frame);
    std::snprintf(text, room, "%s:%d in %s", text_of(code->co_filename), line_of(frame), text_of(code->co_name));
  }
  PyErr_Restore(type, value, traceback);
}

}  // namespace lamella::profiler::face
