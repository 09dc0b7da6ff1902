// Reads programs from files, and refuses damaged ones and what this library does not have.
#include "files/load.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "files/upgrades.h"
#include "ir/verify.h"
#include "passes/effects.h"
#include "text/text.h"

namespace lamella::graph::files {
namespace {

constexpr std::string_view version_mark = "# op_version ";

struct Member {
  std::string name, text;
};
using Members = std::map<std::string, Member>;  // by the names of their graphs

std::string full_name(const std::string& op, const std::string& overload) {
  return overload.empty() ? op : op + "." + overload;
}

std::string listed(const std::set<std::string>& names) {
  std::string out;
  size_t n = 0;
  for (const std::string& name : names) {
    if (n == 20) return out + " and others";
    out += (n++ ? ", " : "") + name;
  }
  return out;
}

class Loader {
 public:
  Loader(const Index& index, const LoadOptions& options)
      : index_(index), options_(options), tensors_(index, options.mapped, options.device) {}

  void load(LoadedFile* out) {
    const Json& json = index_.json();
    const Members members = read_members();
    const std::string classes = text_of_classes(json);
    out->description = description_of(json, tensors_);
    auto made = std::make_unique<ProgramObject>();
    for (const Json& number : json.at("constants").as_list("'constants'"))
      made->constants.push_back(copy_of(value(tensors_.tensor(number))));
    Program& program = made->program;
    if (!classes.empty()) program = parsed(classes, "its classes are damaged: ");
    if (!program.graphs.empty()) throw Damage("its classes are damaged: they have a graph");
    if (members.empty()) throw Damage("it has no graph");
    for (const auto& [name, m] : members) add_graph(&program, name, m);
    for (const auto& [name, m] : members) check_operators(*program.graphs[name], m, made->constants.size());
    refuse_operators();
    made->watch();
    compile_graphs(*made, members);
    out->program = &made.release()->object;
    Values values(tensors_, program);
    out->root = values.value(json.at("object"));
    set_defaults(json, program, values, &out->description);
    if (json.at("object").is_null()) {
      if (!out->description.functions.count(out->description.main))
        throw Damage("the program has no function '" + out->description.main.substr(0, 80) + "'");
    } else {
      if (!is_object(out->root.get(), instance_type)) throw Damage("its object is no object of a class of the program");
      check_modules(out->root.get(), out->description);
    }
    out->version = json.at("version").as_number_of_part();
  }

 private:
  Members read_members() const {
    Members found;
    for (const JsonMember& m : index_.json().at("graphs").as_object("'graphs'")) {
      if (!m.name.empty() && !is_graph_name(m.name))
        throw Damage("'" + m.name.substr(0, 80) + "' is no name of a graph");
      const std::string* member = m.value.text();
      if (!member || member->rfind("code/", 0) != 0)
        throw Damage("the graph '" + m.name + "' has to be a member in code/, got " + m.value.shown());
      found[m.name] = {*member, index_.member(*member)};
    }
    return found;
  }

  static Program parsed(const std::string& text, const std::string& note) {
    try {
      return parse_program(text);
    } catch (const SyntaxError& e) {
      throw Damage(note + e.what());
    }
  }

  std::string damaged(const Member& m) const {
    return "the member '" + m.name + "' of " + index_.name() + " is damaged: ";
  }

  // Parses a graph, and changes operators of older versions.
  void add_graph(Program* to, const std::string& name, const Member& m) {
    const int64_t version = version_of(name, m);
    Program own;
    try {
      own = parse_program(m.text);
    } catch (const SyntaxError& e) {
      Index::refuse(damaged(m) + e.what());
    }
    if (own.graphs.size() != 1 || !own.main() || !own.classes.empty()) throw Damage("a member has more than one graph");
    if (version < operators_version) {
      std::map<std::string, std::string> functions;
      upgrade(*own.main(), version, upgrades(), &functions);
      for (const auto& [function, text] : functions)
        if (!to->find(function)) to->graphs[function] = parse_graph(text);
    }
    to->graphs[name] = std::move(own.graphs.begin()->second);
  }

  int64_t version_of(const std::string& name, const Member& m) const {
    int64_t version = 0;
    const char *begin = m.text.data() + version_mark.size(), *end = m.text.data() + m.text.size();
    const bool marked = m.text.rfind(version_mark, 0) == 0;
    const auto [behind, error] = marked ? std::from_chars(begin, std::min(end, begin + 9), version)
                                        : std::from_chars_result{begin, std::errc::invalid_argument};
    if (error != std::errc() || behind == end || *behind != '\n' || version < 0)
      Index::refuse("the member '" + m.name + "' of " + index_.name() + " does not begin with '# op_version N'");
    if (version > operators_version)
      Index::refuse("the graph '" + name + "' of " + index_.name() + " has version " + std::to_string(version) +
                    " of the operators; this Lamella has version " + std::to_string(operators_version));
    return version;
  }

  // Notes operators that are not here, and those that hand values to the host; refuses calls of Python and numbers of
  // constants that are too large.
  void check_operators(const Graph& g, const Member& m, size_t constants) {
    each_node(g.top(), [&](const Node* n) {
      if (n->is("prim::PythonCall"))
        Index::refuse("the member '" + m.name + "' of " + index_.name() +
                      " calls a function of Python, which no file has");
      for (const Attribute& a : n->attributes) check_constant(a.value, m, constants);
      if (n->op.rfind("prim::", 0) == 0) return;
      const std::string name = full_name(n->op, n->overload);
      if (!seen_.insert(name).second) return;
      const std::vector<const Signature*> all = signatures_of(n->op);
      const bool here =
          n->overload.empty()
              ? !all.empty()
              : std::any_of(all.begin(), all.end(), [&](const Signature* s) { return s->overload == n->overload; });
      if (!here) {
        missing_.insert(name);
        spaces_.insert(n->op.substr(0, n->op.find("::")));
      } else if (n->op.rfind("aten::", 0) != 0) {
        const lamella_operator* op = api().find_operator(n->op.c_str(), n->overload.c_str());
        if (op && std::string_view(api().operator_category(op)) == "host") of_the_host_.insert(name);
      }
    });
  }

  void check_constant(const Literal& x, const Member& m, size_t constants) const {
    if (const auto* list = std::get_if<Literal::List>(&x.value))
      for (const Literal& each : *list) check_constant(each, m, constants);
    const auto* tensor = std::get_if<Literal::Tensor>(&x.value);
    if (tensor && (tensor->number < 0 || static_cast<size_t>(tensor->number) >= constants))
      Index::refuse("the member '" + m.name + "' of " + index_.name() + " names <data/" +
                    std::to_string(tensor->number) + ">, and the program has " + std::to_string(constants) +
                    " constant tensors");
  }

  void refuse_operators() const {
    if (!missing_.empty()) {
      std::string versions;
      const Json& needs = index_.json().at("needs");
      for (const std::string& space : spaces_) {
        const Json* version = needs.find(space);
        versions += (versions.empty() ? "'" : ", '") + space + "'" + (version ? " " + version->shown() : "");
      }
      Index::refuse(index_.name() + " uses operators that are not here: " + listed(missing_) +
                    "; it was written with the operators of " + versions +
                    ": load the plugin that has them, or use a newer version");
    }
    if (!options_.allow_host && !of_the_host_.empty())
      Index::refuse(index_.name() + " calls operators that hand values to the host: " + listed(of_the_host_) +
                    "; allow them if you trust the file");
  }

  // Verifies and compiles the graphs here, so that the first call is as fast as others.
  void compile_graphs(ProgramObject& made, const Members& members) const {
    try {
      made.executable();
    } catch (const Malformed& e) {
      Index::refuse(place_of(e.what(), members) + " of " + index_.name() + " is damaged: " + e.what());
    }
  }

  // Returns the member and the line that a message of the verifier is about: the line that has its node, if it is the
  // only one that looks so.
  static std::string place_of(std::string_view message, const Members& members) {
    const size_t colons = message.find("::");
    if (colons == std::string_view::npos) return "a graph";
    size_t begin = colons, end = colons + 2;
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':'; };
    while (begin > 0 && is_part(message[begin - 1])) begin--;
    while (end < message.size() && is_part(message[end])) end++;
    while (message[end - 1] == ':') end--;
    const std::string op(message.substr(begin, end - begin));
    const size_t output = message.rfind('%', begin);
    std::string name;
    if (output != std::string_view::npos && begin > 0)
      name = message.substr(output, message.find_first_of(" ,:", output) - output);
    std::string place;
    for (const auto& [graph, m] : members) {
      int64_t number = 1;
      for (size_t at = 0; at < m.text.size(); number++) {
        const size_t line_end = std::min(m.text.find('\n', at), m.text.size());
        const std::string_view line = std::string_view(m.text).substr(at, line_end - at);
        at = line_end + 1;
        const size_t found = line.find(op);
        if (found == std::string_view::npos || found + op.size() >= line.size()) continue;
        if (std::string_view(".[(").find(line[found + op.size()]) == std::string_view::npos) continue;
        if (!name.empty() && line.substr(0, found).find(name + " ") == std::string_view::npos) continue;
        if (!place.empty()) return "a graph";
        place = "the member '" + m.name + "', line " + std::to_string(number) + ",";
      }
    }
    return place.empty() ? "a graph" : place;
  }

  const Index& index_;
  const LoadOptions& options_;
  Tensors tensors_;
  std::set<std::string> seen_, missing_, spaces_, of_the_host_;
};

}  // namespace

std::unique_ptr<LoadedFile> load(ArchiveReader archive, std::string name, const LoadOptions& options) {
  auto out = std::make_unique<LoadedFile>(Index(std::move(archive), std::move(name), options.verify));
  out->index.with_damages([&] { Loader(out->index, options).load(out.get()); });
  out->index.forget_json();
  return out;
}

}  // namespace lamella::graph::files
