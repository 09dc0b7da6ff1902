// Reads and applies the upgrades of operators.
#include "files/upgrades.h"

#include <algorithm>
#include <charconv>

#include "passes/effects.h"
#include "text/text.h"

namespace lamella::graph::files {
namespace {

std::string_view line_of(std::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return line;
}

Upgrade made(int64_t version, const std::string& old, std::string now) {
  const std::string where = "upgrades: version " + std::to_string(version);
  const std::unique_ptr<Graph> g = parse_graph(old);
  Node* n = g->top().first();
  if (n == g->top().end() || n->behind != g->top().end())
    throw std::runtime_error(where + " has an old graph that is not one node");
  if (now.empty()) throw std::runtime_error(where + " has no line '->' between two graphs");
  return {version, n->op, n->overload, n->inputs.size(), std::move(now)};
}

}  // namespace

std::vector<Upgrade> read_upgrades(std::string_view text) {
  std::vector<Upgrade> all;
  int64_t version = 0;
  bool behind_arrow = false;
  std::string old, now;
  const auto finish = [&] {
    if (version) all.push_back(made(version, old, std::move(now)));
    old.clear();
    now.clear();
    behind_arrow = false;
  };
  while (!text.empty()) {
    const std::string_view line = line_of(&text);
    if (!line.empty() && line[0] == '#') continue;
    if (line.rfind("version ", 0) == 0) {
      finish();
      const auto [end, error] = std::from_chars(line.data() + 8, line.data() + line.size(), version);
      if (error != std::errc() || end != line.data() + line.size() || version < 1)
        throw std::runtime_error("upgrades: '" + std::string(line) + "' has no number");
    } else if (line == "->") {
      behind_arrow = true;
    } else {
      (behind_arrow ? now : old).append(line).append("\n");
    }
  }
  finish();
  std::stable_sort(all.begin(), all.end(), [](const Upgrade& a, const Upgrade& b) { return a.version < b.version; });
  return all;
}

const std::vector<Upgrade>& upgrades() {
  static const std::vector<Upgrade> all = read_upgrades(upgrades_text);
  return all;
}

void upgrade(Graph& graph, int64_t version, const std::vector<Upgrade>& all,
             std::map<std::string, std::string>* functions) {
  for (const Upgrade& u : all) {
    if (u.version <= version) continue;
    std::string name = "upgraded_" + u.op + (u.overload.empty() ? "" : "." + u.overload);
    std::string plain;  // each run of other characters becomes one `_`
    for (const char c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)))
        plain += c;
      else if (plain.empty() || plain.back() != '_')
        plain += '_';
    }
    plain += "_" + std::to_string(u.version);
    each_node(graph.top(), [&](Node* n) {
      if (n->op != u.op || n->overload != u.overload || n->inputs.size() != u.inputs || !n->attributes.empty()) return;
      n->op = "prim::CallFunction";
      n->overload.clear();
      n->set_attribute("name", Literal{plain});
      (*functions)[plain] = u.now;
    });
  }
}

}  // namespace lamella::graph::files
