// Graphs as text. See Note [Grammar] in text/parser.cpp.
#pragma once

#include <stdexcept>

#include "ir/graph.h"

namespace lamella::graph {

// A text that is no graph: what() is "LINE:COLUMN: why".
struct SyntaxError : std::runtime_error {
  SyntaxError(int line, int column, const std::string& why)
      : std::runtime_error(std::to_string(line) + ":" + std::to_string(column) + ": " + why),
        line(line),
        column(column) {}
  int line, column;
};

Program parse_program(std::string_view text);
std::unique_ptr<Graph> parse_graph(std::string_view text);  // raises for a text with other graphs
TypePtr parse_type(std::string_view text);

}  // namespace lamella::graph
