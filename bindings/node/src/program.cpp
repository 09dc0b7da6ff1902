#include "program.h"

namespace lamella::node {

void start() {
  static const lamella_api* const table = [] {
    const lamella_api* found = lamella_run_api(LAMELLA_TARGET_VERSION);
    if (!found)
      throw StartFault{
          "lamella: liblamella.so does not serve the version of the headers that the addon was built with; "
          "run 'node build.js' again"};
    return Api::table() = found;
  }();
  (void)table;
  check(lamella_run_start());
}

Program Program::load(const std::string& path) {
  lamella_module* made;
  check(lamella_run_load(path.c_str(), 0, nullptr, &made));
  return Program(made);
}

Program Program::load(const void* data, size_t bytes) {
  lamella_module* made;
  check(lamella_run_load_memory(data, bytes, 0, nullptr, &made));
  return Program(made);
}

std::vector<std::string> Program::methods() const {
  std::vector<const char*> names(static_cast<size_t>(lamella_run_methods(module_, nullptr, 0)));
  lamella_run_methods(module_, names.data(), static_cast<int32_t>(names.size()));
  return {names.begin(), names.end()};
}

std::vector<std::string> Program::attributes(const char* class_name) const {
  lamella_object* program = lamella_run_program(module_);
  int32_t count = 0;
  check(graph().attributes(program, class_name, nullptr, nullptr, 0, &count));
  std::vector<lamella_value> texts(static_cast<size_t>(2 * count), none());
  check(graph().attributes(program, class_name, texts.data(), texts.data() + count, count, &count));
  std::vector<std::string> names;
  for (int32_t i = 0; i < count; i++) names.emplace_back(texts[static_cast<size_t>(i)].as.string);
  for (lamella_value& v : texts) api().value_release(&v);
  return names;
}

lamella_value Program::call(const std::string& method, const std::vector<lamella_value>& args) const {
  const NoGradGuard off;
  lamella_value result;
  check(lamella_run_call(module_, method.c_str(), args.data(), static_cast<int32_t>(args.size()), nullptr, 0, &result));
  return result;
}

}  // namespace lamella::node
