// The builtins by name. Their schemas are read at first use.
#include "signatures/builtins.h"

#include <algorithm>

#include "builtins/tables.h"

namespace lamella::graph {
namespace {

struct Known {
  std::unordered_map<std::string, std::vector<std::unique_ptr<const Signature>>> by_name;
  std::vector<std::string> schemas;
};

Known read_all() {
  Known known;
  for (const BuiltinTable& table :
       {arithmetic_builtins(), integer_builtins(), comparison_builtins(), conversion_builtins(), math_builtins(),
        complex_builtins(), list_builtins(), dict_builtins(), string_builtins(), string_search_builtins(),
        string_test_builtins(), format_builtins(), tensor_builtins(), tensor_data_builtins(), state_builtins(),
        dtype_builtins(), object_builtins()})
    for (size_t i = 0; i < table.size; i++) {
      auto s = std::make_unique<Signature>(parse_schema(table.rows[i].schema));
      s->function = table.rows[i].function;
      known.schemas.emplace_back(table.rows[i].schema);
      auto& same_name = known.by_name[s->name];
      same_name.push_back(std::move(s));
    }
  return known;
}

const Known& known() {
  static const Known& all = *new Known(read_all());
  return all;
}

constexpr std::string_view format_words[] = {"contiguous_format", "preserve_format", "channels_last"};
static_assert(LAMELLA_CONTIGUOUS_FORMAT == 0 && LAMELLA_PRESERVE_FORMAT == 1 && LAMELLA_CHANNELS_LAST == 2);

}  // namespace

std::vector<const Signature*> builtins_of(const std::string& name) {
  std::vector<const Signature*> out;
  const auto at = known().by_name.find(name);
  if (at != known().by_name.end())
    for (const auto& s : at->second) out.push_back(s.get());
  return out;
}

std::vector<std::string> builtin_schemas() { return known().schemas; }

std::string_view word_of_memory_format(int64_t format) {
  return format >= 0 && format < 3 ? format_words[format] : std::string_view("unknown_format");
}
int64_t memory_format_of_word(std::string_view word) {
  const auto* at = std::find(std::begin(format_words), std::end(format_words), word);
  return at == std::end(format_words) ? -1 : at - std::begin(format_words);
}

}  // namespace lamella::graph
