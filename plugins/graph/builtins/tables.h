// The tables of builtins, one of each file.
#pragma once

#include "signatures/builtins.h"

namespace lamella::graph {

BuiltinTable arithmetic_builtins();
BuiltinTable integer_builtins();
BuiltinTable comparison_builtins();
BuiltinTable conversion_builtins();
BuiltinTable math_builtins();
BuiltinTable complex_builtins();
BuiltinTable list_builtins();
BuiltinTable dict_builtins();
BuiltinTable string_builtins();
BuiltinTable string_search_builtins();
BuiltinTable string_test_builtins();
BuiltinTable format_builtins();
BuiltinTable tensor_builtins();
BuiltinTable tensor_data_builtins();
BuiltinTable state_builtins();
BuiltinTable dtype_builtins();
BuiltinTable object_builtins();

}  // namespace lamella::graph
