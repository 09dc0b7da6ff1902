// Builtins: operators on numbers, texts and containers. Each file builtins/*.cpp has a table of schemas with functions.
#pragma once

#include "signatures/signature.h"

namespace lamella::graph {

struct Builtin {
  const char* schema;
  BuiltinFunction function;
};

struct BuiltinTable {
  const Builtin* rows;
  size_t size;
};
template <size_t N>
BuiltinTable table_of(const Builtin (&rows)[N]) {
  return {rows, N};
}

std::vector<const Signature*> builtins_of(const std::string& name);
// Returns the schemas of all builtins; those of one name stand in the order in which a call tries them.
std::vector<std::string> builtin_schemas();

std::string_view word_of_memory_format(int64_t format);
int64_t memory_format_of_word(std::string_view word);  // -1: there is none

}  // namespace lamella::graph
