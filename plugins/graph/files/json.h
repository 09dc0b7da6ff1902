// JSON text as a tree, read from untrusted files: its depth is bounded, and its memory is proportional to the text's.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lamella::graph::files {

// A part of an index that is not what it has to be; what() says which and why.
struct Damage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct JsonMember;

// A value of JSON. Members of objects have the order of the text; of several members with one name the last counts.
struct Json {
  using List = std::vector<Json>;
  using Object = std::vector<JsonMember>;
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, List, Object> value;

  bool is_null() const { return value.index() == 0; }
  const List* list() const { return std::get_if<List>(&value); }
  const Object* object() const { return std::get_if<Object>(&value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }

  // These raise Damage for a value of another kind; `what` is its name in the message.
  const List& as_list(std::string_view what) const;
  const Object& as_object(std::string_view what) const;
  const std::string& as_text(std::string_view what) const;
  int64_t as_number_of_part() const;  // an int of at least 0

  // Returns a member of an object; null: there is none, or this is no object.
  const Json* find(std::string_view name) const;
  const Json& at(std::string_view name) const;  // raises Damage if there is none
  std::string shown() const;                    // a short text for messages
};

struct JsonMember {
  std::string name;
  Json value;
};

// Raises Damage for a text that is no JSON, or whose values are nested more than 500 deep.
Json parse_json(std::string_view text);

}  // namespace lamella::graph::files
