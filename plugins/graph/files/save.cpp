// Saves a loaded program with its tensors as they are now.
#include "files/encoder.h"
#include "files/hooks.h"
#include "files/load.h"
#include "files/upgrades.h"
#include "ir/verify.h"
#include "passes/effects.h"
#include "run/shared_state.h"

namespace lamella::graph::files {
namespace {

std::string hash_text(std::string_view bytes) { return "{\"sha256\":\"" + hex_of(sha256(bytes)) + "\"}"; }

// Returns the tensors that are parameters of the module and those in it.
std::unordered_set<const lamella_tensor*> parameters_of(const lamella_value& root, const Description& description) {
  std::unordered_set<const lamella_tensor*> found;
  std::unordered_set<const lamella_object*> seen;
  std::vector<const lamella_value*> waiting = {&root};
  while (!waiting.empty()) {
    const lamella_value& v = *waiting.back();
    waiting.pop_back();
    if (!is_object(v, instance_type) || !seen.insert(v.as.object).second) continue;
    const Instance& self = instance_of(v);
    for (const lamella_value& x : self.attributes) waiting.push_back(&x);
    const auto own = description.modules.find(self.type->name);
    if (own == description.modules.end()) continue;
    for (const std::string& name : own->second.parameters) {
      const int64_t i = self.type->find(name);
      if (i >= 0 && self.attributes[static_cast<size_t>(i)].tag == LAMELLA_TENSOR)
        found.insert(self.attributes[static_cast<size_t>(i)].as.tensor);
    }
  }
  return found;
}

// Returns the namespaces of the operators, each with the version of it that has all of them.
std::string needs_of(const Program& program) {
  std::map<std::string, uint32_t> found;
  for (const auto& [name, g] : program.graphs)
    each_node(g->top(), [&](const Node* n) {
      if (n->op.rfind("prim::", 0) == 0) return;
      const lamella_operator* op = api().find_operator(n->op.c_str(), n->overload.c_str());
      uint32_t& version = found[n->op.substr(0, n->op.find("::"))];
      version = std::max({version, uint32_t{1}, op ? api().operator_since(op) : 1});
    });
  std::string out;
  for (const auto& [space, version] : found) {
    out += out.empty() ? "{" : ",";
    append_text(&out, space);
    out += ":" + std::to_string(version);
  }
  return out.empty() ? "{}" : out + "}";
}

std::string code_of(const Graph& g) {
  std::string text = "# op_version " + std::to_string(operators_version) + "\n" + g.text();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text + "\n";
}

}  // namespace

lamella_graph_files files_into(ExtraFiles& to) {
  return {&to, [](void* context, const char* name, const void* bytes, uint64_t n) {
            return guarded([&] {
              static_cast<ExtraFiles*>(context)->insert_or_assign(name,
                                                                  std::string(static_cast<const char*>(bytes), n));
              return LAMELLA_OK;
            });
          }};
}

void save(const LoadedFile& file, const std::string& path, ExtraFiles more, bool durable) {
  const Index old(file.index.archive(), file.index.name(), false);
  Tensors old_tensors(old, true, std::nullopt);
  ProgramObject& p = *program_of(file.program).copy().release();
  const Held owned(lamella::graph::value_of(&p.object));
  for (const std::string& name : file.index.names_with(extra))
    more.try_emplace(name.substr(extra.size()), file.index.member(name));
  run_hooks(&p.object, files_into(more));
  verify(p.program);
  const SharedState state(true);  // other threads may run the program
  Encoder encoder(parameters_of(file.root.get(), file.description));
  std::string root, index = "{\"format\":\"lamella.program\",\"version\":1,\"written_by\":";
  encoder.append(&root, file.root.get());
  append_text(&index, std::string("lamella ") + api().library_version);
  index += ",\"needs\":" + needs_of(p.program);
  for (const char* entry : {"main", "classes", "interfaces", "enums"}) {
    index += ",\"" + std::string(entry) + "\":";
    old.with_damages([&] { encoder.append_copy(&index, old.json().at(entry), &old_tensors); });
  }
  std::vector<std::pair<std::string, std::string>> members;
  std::string graphs, listed;
  for (const auto& [name, g] : p.program.graphs) {
    members.emplace_back("code/" + name + ".graph", code_of(*g));
    graphs += graphs.empty() ? "" : ",";
    append_text(&graphs, name);
    graphs += ":";
    append_text(&graphs, members.back().first);
  }
  for (auto& [name, content] : more) members.emplace_back(std::string(extra) + name, std::move(content));
  index += ",\"graphs\":{" + graphs + "},\"methods\":";
  old.with_damages([&] { encoder.append_copy(&index, old.json().at("methods"), &old_tensors); });
  index += ",\"constants\":[";
  for (size_t i = 0; i < p.constants.size(); i++)
    index += (i ? "," : "") + std::to_string(encoder.tensor(p.constants[i].as.tensor));
  const bool hashes = !file.index.names_with("data/").empty();
  std::vector<Tensor> bytes;
  for (size_t i = 0; i < encoder.storages().size(); i++) bytes.push_back(encoder.bytes_of(i));
  const auto list = [&](const std::string& name, std::string_view content) {
    listed += listed.empty() ? "" : ",";
    append_text(&listed, name);
    listed += ":" + hash_text(content);
  };
  const auto view = [](const Tensor& t) {
    return std::string_view(static_cast<const char*>(t.data_ptr()), static_cast<size_t>(t.numel()));
  };
  for (const auto& [name, content] : members) list(name, content);
  for (size_t i = 0; hashes && i < bytes.size(); i++)
    if (bytes[i].defined()) list(storage_member(i), view(bytes[i]));
  index += "],\"members\":{" + listed + "},\"storages\":" + encoder.storages_text() +
           ",\"tensors\":" + encoder.tensors_text() + ",\"object\":" + root + "}";
  ArchiveWriter writer(path);
  writer.add("index.json", index);
  for (const auto& [name, content] : members) writer.add(name, content);
  for (size_t i = 0; i < bytes.size(); i++)
    if (bytes[i].defined()) writer.add(storage_member(i), view(bytes[i]));
  writer.finish(durable);
}

}  // namespace lamella::graph::files
