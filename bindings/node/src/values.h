// Values of programs as values of JavaScript, both ways.
#pragma once

#include "napi.h"
#include "program.h"

namespace lamella::node {

// Owned values, released together.
struct Values {
  std::vector<lamella_value> all;

  Values() = default;
  Values(Values&& o) noexcept : all(std::exchange(o.all, {})) {}
  Values& operator=(Values&&) = delete;
  ~Values() {
    for (lamella_value& v : all) api().value_release(&v);
  }
};

// The place of a value within an argument, for messages. It is written out only if there is an error.
struct Place {
  const std::string* function;       // of the outermost place
  const Place* outer = nullptr;      // null: this is an argument
  size_t index = 0;                  // of an argument or of an element
  const std::string* key = nullptr;  // of an entry

  std::string text() const;
  const Place& argument() const;  // the outermost place
};

// Converts a value of JavaScript; the result is owned. A whole number becomes an int, an array a tuple, which programs
// take for a list where their parameter is one, an object or a Map a dictionary, and a typed array a tensor.
lamella_value value_of(napi_env env, napi_value v, const Place& place, int depth = 0);

// Converts a value that a program has returned, and does not release it. A tuple becomes an array, and an object of a
// class of the program a plain object.
napi_value from_value(napi_env env, const Program& program, const lamella_value& v);

}  // namespace lamella::node
