// The catalogue: one Declaration for each overload, one file of operators/ for each family. Schemas are parsed on first
// use.
#pragma once

#include <lamella/c_api.h>

#include <cstddef>
#include <vector>

namespace lamella::operators {

inline constexpr uint32_t function = LAMELLA_FORM_FUNCTION, method = LAMELLA_FORM_METHOD,
                          inplace = LAMELLA_FORM_INPLACE, out = LAMELLA_FORM_OUT, hidden = LAMELLA_FORM_PRIVATE,
                          no_kernel_needed = LAMELLA_FORM_NO_KERNEL, everywhere = function | method,
                          all_forms = everywhere | inplace | out;

// `run` is a function as the C ABI calls it. `fits` compares the types of the C++ function in it with the operator's
// schema, when the schema is parsed; it is null for a function that is written against the C ABI, which has no such
// types.
template <class Function>
struct Adapted {
  constexpr Adapted(std::nullptr_t = nullptr) {}
  constexpr Adapted(Function run) : run(run) {}
  constexpr Adapted(Function run, lamella_status (*fits)(const lamella_operator*)) : run(run), fits(fits) {}
  Function run = nullptr;
  lamella_status (*fits)(const lamella_operator*) = nullptr;
};

// A schema, and where it is written.
struct Schema {
  Schema(const char* text, int line = __builtin_LINE(), const char* file = __builtin_FILE())
      : text(text), line(line), file(file) {}
  const char* text;
  int line;
  const char* file;
};

struct Declaration {
  Schema schema;
  const char* dims = nullptr;              // Note [Dimensions] in c_api.h; nullptr: the family's, or by `pointwise`
  const char* category = nullptr;          // nullptr: the category of the family
  uint32_t forms = 0;                      // 0: the forms of the family
  Adapted<lamella_infer> infer = {};       // absent: `pointwise`, or what `composite` calls, has the rules
  Adapted<lamella_kernel> composite = {};  // runs where no backend has a kernel
  const char* doc = nullptr;               // the operator's documentation, on its first overload
  const char* aliases = nullptr;           // further names, separated by spaces; on the first overload
  const char* module = nullptr;            // "linalg": the module that shows the operator; nullptr: the top level
  const lamella_pointwise* pointwise = nullptr;
};

// Note [Families]  A family of operators is one file. Its LAMELLA_FAMILY(scan, .category = "scan", .forms = all_forms)
// { return {...}; } gives its declarations, and before them the category, the forms and the dims of each declaration
// that names none. The macro leaves a pointer to the family in the section lamella_families of this library;
// register_catalogue reads the section, so that no list names the families. Their order is that of their names.
// Pointwise operators come before all others, since composites of other families are further overloads of some of them,
// and an operator's first overload has the documentation.
struct Usual {
  const char* category = nullptr;
  uint32_t forms = 0;
  const char* dims = nullptr;
};
struct Family {
  const char* name;
  std::vector<Declaration> (*operators)();
  Usual usual;
};
#define LAMELLA_FAMILY(family, ...)                                                                           \
  std::vector<Declaration> family##_operators();                                                              \
  static const Family family##_family = {#family, family##_operators, {__VA_ARGS__}};                         \
  __attribute__((used, retain, section("lamella_families"))) static const Family* const family##_registered = \
      &family##_family;                                                                                       \
  std::vector<Declaration> family##_operators()

void register_catalogue();

}  // namespace lamella::operators
