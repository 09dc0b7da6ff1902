// The functions of the interface for files of programs.
#include <cstring>

#include "files/hooks.h"
#include "files/load.h"

namespace lamella::graph {
namespace {

struct FileObject;
void destroy_file(lamella_object* o);
const lamella_object_type file_type = {sizeof file_type, 0, "graph.File", destroy_file};

struct FileObject {
  lamella_object object{1, &file_type};
  std::unique_ptr<files::LoadedFile> loaded;
};
void destroy_file(lamella_object* o) { delete reinterpret_cast<FileObject*>(o); }

const files::LoadedFile& file_of(lamella_object* o) {
  LAMELLA_CHECK_TYPE(o && o->type == &file_type, "expected a file of a program, got another object");
  return *reinterpret_cast<FileObject*>(o)->loaded;
}

// Opens an archive, and reads the program in it.
template <class Open>
lamella_status load_from(std::string name, uint32_t flags, const char* device, Open open, lamella_object** out) {
  return guarded([&] {
    constexpr uint32_t known = LAMELLA_GRAPH_MAP | LAMELLA_GRAPH_VERIFY | LAMELLA_GRAPH_ALLOW_HOST;
    LAMELLA_CHECK_VALUE((flags & ~known) == 0, "load: the flags have bits that this library does not know");
    files::LoadOptions options;
    options.mapped = (flags & LAMELLA_GRAPH_MAP) != 0;
    options.verify = (flags & LAMELLA_GRAPH_VERIFY) != 0;
    options.allow_host = (flags & LAMELLA_GRAPH_ALLOW_HOST) != 0;
    if (device) options.device = device;
    auto file = std::make_unique<FileObject>();
    std::optional<ArchiveReader> archive;
    try {
      archive.emplace(open());
    } catch (const Error& e) {
      throw Error(e.kind(), std::string("load: ") + e.what());
    }
    file->loaded = files::load(std::move(*archive), std::move(name), options);
    *out = &file.release()->object;
    return LAMELLA_OK;
  });
}

lamella_status load(const char* path, uint32_t flags, const char* device, lamella_object** out) {
  return load_from(
      "'" + std::string(path) + "'", flags, device, [&] { return ArchiveReader(path); }, out);
}

lamella_status load_memory(const void* data, uint64_t size, uint32_t flags, const char* device, lamella_object** out) {
  const auto open = [&] { return ArchiveReader::from_memory(std::string(static_cast<const char*>(data), size)); };
  return load_from("the memory", flags, device, open, out);
}

lamella_object* program(lamella_object* file) { return file_of(file).program; }
lamella_status root(lamella_object* file, lamella_value* out) {
  return guarded([&] { return *out = file_of(file).root.get(), LAMELLA_OK; });
}
const char* main_name(lamella_object* file) { return file_of(file).description.main.c_str(); }

int32_t functions(lamella_object* file, const char** out, int32_t room) {
  return write_items(file_of(file).description.functions, out, room, [](const auto& f) { return f.first.c_str(); });
}

int32_t parameters(lamella_object* file, const char* function, lamella_graph_parameter* out, int32_t room,
                   const char** result) {
  const auto& all = file_of(file).description.functions;
  const auto found = all.find(function);
  if (found == all.end()) return -1;
  if (result) *result = found->second.result.c_str();
  return write_items(found->second.parameters, out, room, [](const files::FunctionEntry::Parameter& p) {
    const uint32_t flags = (p.keyword_only ? uint32_t{LAMELLA_GRAPH_KEYWORD_ONLY} : 0) |
                           (p.has_default ? uint32_t{LAMELLA_GRAPH_HAS_DEFAULT} : 0);
    return lamella_graph_parameter{sizeof(lamella_graph_parameter), flags, p.name.c_str(), p.type.c_str(),
                                   p.value.get()};
  });
}

int32_t names(lamella_object* file, const char* class_name, int32_t kind, const char** out, int32_t room) {
  const auto& all = file_of(file).description.modules;
  const auto found = all.find(class_name);
  if (found == all.end() || kind < 0 || kind > LAMELLA_GRAPH_TRANSIENT) return -1;
  const files::ModuleEntry& m = found->second;
  const std::vector<std::string>* lists[] = {&m.parameters, &m.buffers, &m.modules, &m.transient};
  return write_items(*lists[kind], out, room, [](const std::string& s) { return s.c_str(); });
}

const char* original(lamella_object* file, const char* class_name) {
  const auto& all = file_of(file).description.modules;
  const auto found = all.find(class_name);
  return found == all.end() ? nullptr : found->second.original.c_str();
}
const char* written_by(lamella_object* file) { return file_of(file).description.written_by.c_str(); }

lamella_status extras(lamella_object* file, lamella_value* out) {
  return guarded([&] {
    std::vector<lamella_value> all;
    for (const std::string& name : file_of(file).index.names_with(files::extra))
      all.push_back(new_string(std::string_view(name).substr(files::extra.size())));
    return *out = new_list(std::move(all)), LAMELLA_OK;
  });
}
lamella_status read_extra(lamella_object* file, const char* name, lamella_value* out) {
  return guarded([&] {
    const files::Index& index = file_of(file).index;
    const std::string member = std::string(files::extra) + name;
    return *out = index.lists(member) ? new_string(index.member(member)) : none(), LAMELLA_OK;
  });
}

lamella_status save(lamella_object* file, const char* path, void (*more)(void*, const lamella_graph_files*),
                    void* context, int32_t durable) {
  return guarded([&] {
    files::ExtraFiles extra_files;
    const lamella_graph_files into = files::files_into(extra_files);
    if (more) more(context, &into);
    return files::save(file_of(file), path, std::move(extra_files), durable != 0), LAMELLA_OK;
  });
}

lamella_status add_export_hook(lamella_graph_export_hook hook, void* context, void (*destroy)(void*),
                               uint64_t* handle) {
  return guarded([&] { return *handle = files::add_hook(hook, context, destroy), LAMELLA_OK; });
}
lamella_status remove_export_hook(uint64_t handle) {
  return guarded([&] { return files::remove_hook(handle), LAMELLA_OK; });
}
lamella_status run_export_hooks(lamella_object* program, const lamella_graph_files* into) {
  return guarded([&] { return files::run_hooks(program, *into), LAMELLA_OK; });
}

}  // namespace

void add_files(lamella_graph_table& t) {
  t.load = load;
  t.load_memory = load_memory;
  t.file_program = program;
  t.file_root = root;
  t.file_main = main_name;
  t.file_functions = functions;
  t.file_parameters = parameters;
  t.file_names = names;
  t.file_original = original;
  t.file_written_by = written_by;
  t.file_extras = extras;
  t.file_extra = read_extra;
  t.file_save = save;
  t.add_export_hook = add_export_hook;
  t.remove_export_hook = remove_export_hook;
  t.run_export_hooks = run_export_hooks;
}

}  // namespace lamella::graph
