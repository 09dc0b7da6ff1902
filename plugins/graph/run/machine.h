// Runs the instructions of a program.
#pragma once

#include "run/code.h"

namespace lamella::graph {

struct Limits {
  int64_t most_depth = 1000;       // of calls within calls
  int64_t most_steps = INT64_MAX;  // trips of loops, and calls of functions
  int64_t depth = 0;               // of calls that are under way where the run begins
};

// One run of a program, on one thread. A run that fails raises lamella::Error; trace() then has a line for each call
// that was under way, innermost first.
class Machine {
 public:
  explicit Machine(const Executable& exe, Limits limits = {})
      : exe_(exe), limits_(limits), steps_left_(limits.most_steps), depth_(limits.depth) {}
  Machine(const Machine&) = delete;

  // args: owned, of the types of the parameters; the run takes them over. rets: room for the results.
  void run(const Code& code, lamella_value* args, lamella_value* rets);
  const std::vector<std::string>& trace() const { return trace_; }

  struct Frame;

 private:
  lamella_value* reserve(uint32_t n);
  void release(uint32_t n);  // the registers that were reserved last
  void execute(Frame& f, lamella_value* rets);
  void container(Frame& f, const Instruction& i);  // the instructions that `execute` does not run itself
  void call(Frame& f, const Site& site);
  void builtin(Frame& f, const Site& site);
  void function(Frame& f, const Site& site, const Code& callee);
  void method(Frame& f, const Site& site);
  void host_call(Frame& f, const Site& site, uint32_t number);
  void fork(Frame& f, const Site& site, const Code& callee);
  void print(const Frame& f, const Instruction& i);
  [[noreturn]] void raise(const Frame& f, const Site& site);
  void step();

  // Registers of the frames, in pieces that never move.
  struct Piece {
    std::unique_ptr<lamella_value[]> values;
    uint32_t size, used;
  };
  static constexpr uint32_t own_size = 192;

  const Executable& exe_;
  const Limits limits_;
  int64_t steps_left_, depth_;
  uint32_t used_ = 0;
  std::vector<std::string> trace_;
  std::vector<Piece> pieces_;
  lamella_value own_[own_size];
};

// Returns whether a value is one of a type. Lists and dictionaries are looked through.
bool is_of(const lamella_value& v, const Type& type);
// Converts an argument of the host, borrowed, to an owned value of a type: an int to a float, flat lists to lists. Raises
// lamella::Error with what came.
lamella_value converted(const lamella_value& v, const Type& type, const std::string& what);

}  // namespace lamella::graph
