// The lines of the programs that run on a thread. A stack may be described after its program is gone, so the texts of
// lines get numbers, which live as long as the process.
#include "run/stacks.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>

#include <lamella/profiler_table.h>

#include "run/forks.h"
#include "run/frame.h"

namespace lamella::graph {
namespace {

ForkMutex lines_lock;
struct Lines {
  std::unordered_map<std::string_view, int64_t> numbers;
  std::deque<std::string> texts;
};
Lines& lines() {  // never destroyed: a thread may read its stack while the process ends
  static auto& all = *new Lines;
  return all;
}

std::string text_of(const Machine::Frame& f) {
  const Source& s = f.code.places[f.at];
  const std::string name = f.code.name.empty() ? "graph" : f.code.name;
  return s.file ? *s.file + "(" + std::to_string(s.line) + "): " + name : "<graph>(0): " + name;
}

int64_t number_of(std::string text) {
  Lines& all = lines();
  const std::lock_guard<std::mutex> guard(lines_lock);
  if (const auto known = all.numbers.find(text); known != all.numbers.end()) return known->second;
  all.texts.push_back(std::move(text));
  return all.numbers.emplace(all.texts.back(), static_cast<int64_t>(all.texts.size() - 1)).first->second;
}

int32_t read(int64_t* frames, int32_t room) {
  int32_t n = 0;
  try {
    for (const Machine::Frame* f = Machine::Frame::innermost; f && n < room; f = f->outer)
      frames[n++] = number_of(text_of(*f));
  } catch (const std::bad_alloc&) {  // the stack ends here
  }
  return n;
}

int32_t describe(int64_t frame, char* out, int32_t room) {
  Lines& all = lines();
  const std::lock_guard<std::mutex> guard(lines_lock);
  if (frame < 0 || static_cast<size_t>(frame) >= all.texts.size() || room <= 0) return 0;
  const std::string& text = all.texts[static_cast<size_t>(frame)];
  const size_t n = std::min(text.size(), static_cast<size_t>(room) - 1);
  std::memcpy(out, text.data(), n);
  out[n] = '\0';
  return static_cast<int32_t>(n);
}

void profiler_came(void*, const void* table) {
  if (table) static_cast<const lamella_profiler*>(table)->set_stack_reader(LAMELLA_STACK_PROGRAM, read, describe);
}

}  // namespace

void register_stacks(Library& m) {
  static lamella_handle handle;
  check(api().on_interface(m.handle(), "profiler", 1, profiler_came, nullptr, &handle));
}

}  // namespace lamella::graph
