// A program as instructions over registers, which the machine runs. It is made once from graphs that were verified, and
// never changes, so that any number of threads run it.
//
// Note [Registers]  A frame's registers are values of the C ABI. The first ones hold the constants, which the frame
//   borrows; the others own their values. A value's register is given to another value after its last use.
// Note [Last use]   An operand with the bit `last` is used for the last time: the instruction takes the value over, or
//   releases it behind the call. The compiler sets the bit for values that hold memory alone. So no tensor outlives its
//   last use, and a register is written only while it holds nothing.
#pragma once

#include <memory>

#include "run/containers.h"
#include "signatures/signature.h"

namespace lamella::graph {

// clang-format off
enum class Op : uint16_t {
  move,           // a = b
  moves,          // n pairs of operands from a on: (to, from), as if all at once
  release,        // n operands from a on
  clear,          // a = nothing
  fresh,          // a = a copy of the lists of the constant b
  cast,           // a = b, which has to be of the type of site c
  jump,           // to c
  jump_if_false,  // to c, unless a
  loop_begin,     // a: the trip's number, b: the number of trips; to c if there is none
  loop_next,      // the same; to c if there is another trip
  give_back,      // returns n operands from a on
  call,           // the operator of site a
  builtin,        // the builtin of site a
  function,       // the function c with the arguments of site a
  method,         // the method of an instance, by its class, with the arguments of site a
  host_call,      // the host's function c with the arguments of site a
  fork,           // as `function`, on another thread
  wait,           // a = the result of the future b
  list,           // a = a list of n operands from b on
  tuple,          // a = a tuple of n operands from b on
  dict,           // a = a dictionary of n operands from b on
  list_unpack,    // n operands from a on = the items of the list b
  tuple_unpack,   // the same of a tuple
  tuple_index,    // a = item c of the tuple b
  get_attribute,  // a = attribute c of the instance b
  set_attribute,  // attribute c of the instance a = b
  create,         // a = an instance of class c
  is_instance,    // a = whether b is of one of the types of site c
  print,          // n operands from a on
  raise,          // the error of site a
  // a = b op c on integers, floats and booleans
  add_int, sub_int, mul_int, floordiv_int, mod_int, neg_int,
  eq_int, ne_int, lt_int, le_int, gt_int, ge_int,
  add_float, sub_float, mul_float, div_float, neg_float,
  eq_float, ne_float, lt_float, le_float, gt_float, ge_float,
  and_bool, or_bool, not_bool,
};
// clang-format on

struct Instruction {
  Op op;
  uint16_t n = 0;
  uint32_t a = 0, b = 0, c = 0;
};
static_assert(sizeof(Instruction) == 16);

inline constexpr uint32_t last = 1u << 31;     // Note [Last use]
inline constexpr uint32_t nowhere = last - 1;  // the register of a result that is not used
inline uint32_t register_of(uint32_t operand) { return operand & ~last; }

// An argument of a call: a register, or the elements of a list that the instruction puts together.
struct SiteArgument {
  uint32_t operand = 0;   // a register; for elements, where their operands begin
  uint32_t elements = 0;  // how many
  bool is_elements = false;
  bool is_list = false;  // of a registered operator: a List becomes a flat list
  uint32_t kind = 0;     // enum lamella_kind, of the elements
};

// The place of a call, and what the instruction does not hold.
struct Site {
  std::string name;  // "aten::add"
  const lamella_operator* op = nullptr;
  BuiltinFunction function = nullptr;
  std::vector<SiteArgument> arguments;
  std::vector<uint32_t> results;
  std::vector<TypePtr> types;  // of is_instance and cast; of host_call and method, which check their results by them
};

struct Parameter {
  std::string name;
  TypePtr type;
};

struct Code {
  std::string name;
  std::vector<lamella_value> constants;  // owned
  uint32_t registers = 0;                // with the constants
  std::vector<Parameter> parameters;     // in the registers behind the constants
  std::vector<TypePtr> results;
  std::vector<Instruction> instructions;
  std::vector<Source> places;  // of the instructions
  std::vector<uint32_t> operands;
  std::vector<Site> sites;

  Code() = default;
  Code(const Code&) = delete;
  ~Code();
};

// A function of the host that a program calls: takes borrowed arguments, and returns an owned value.
struct HostFunction {
  lamella_object object;
  lamella_status (*call)(HostFunction* self, const lamella_value* args, int32_t n, lamella_value* result);
};

// All functions of a program. Methods are found by "Class.method".
struct Executable : std::enable_shared_from_this<Executable> {
  std::vector<std::unique_ptr<Code>> functions;
  std::unordered_map<std::string, uint32_t> by_name;
  std::vector<std::shared_ptr<const Class>> classes;
  std::vector<std::string> host_names;
  std::vector<HostFunction*> host;  // by host_names; null for one that is not there
  bool uses_shared = false;         // Note [Shared state]

  Executable() = default;
  Executable(const Executable&) = delete;
  ~Executable();
  const Code* find(const std::string& name) const;
};

// Makes the instructions of a program, without the host's functions. `constants` are the tensors that the graphs name by
// number. Raises Malformed, and lamella::Error.
std::shared_ptr<Executable> compile(const Program& program, const std::vector<lamella_value>& constants);

}  // namespace lamella::graph
