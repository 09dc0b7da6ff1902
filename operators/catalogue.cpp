#include "operators/catalogue.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/error.h"
#include "dispatcher/kernels.h"
#include "dispatcher/meta.h"
#include "dispatcher/operators.h"
#include "operators/copy.h"
#include "operators/linalg.h"

// The ends of the section, which the linker names.
extern "C" {
extern const lamella::operators::Family* const __start_lamella_families[] __attribute__((visibility("hidden")));
extern const lamella::operators::Family* const __stop_lamella_families[] __attribute__((visibility("hidden")));
}

namespace lamella::operators {
namespace {

using namespace dispatcher;
using dispatcher::Library;
using dispatcher::Operator;

constexpr const char* own_namespace = "aten";

constexpr struct {
  const char* name;
  uint32_t flags;
} categories[] = {
    {"pointwise", by_meaning},
    {"reduction", 0},
    {"scan", 0},
    {"view", 0},
    {"creation", 0},
    {"copy", 0},
    {"sort", 0},
    {"matmul", 0},
    {"pooling", 0},
    {"convolution", 0},
    {"indexing", may_fault | by_index},
    {"random", has_effect},
    {"normalization", 0},
    {"linalg", 0},
    {"fft", 0},
    {"scatter", may_fault | by_index},
    {"dynamic", 0},
    {"host", has_effect},
    {"lists", 0},
};

const char* from_the_root(const char* path) {
  const char* p = std::strstr(path, "operators/");
  return p ? p : path;
}

void add(Library& lib, const Declaration& d) {
  lamella_operator_def def{};
  def.size = sizeof def;
  def.schema = d.schema.text;
  def.category = d.category;
  def.doc = d.doc;
  def.forms = d.forms;
  def.infer = d.infer.run;
  def.pointwise = d.pointwise;
  def.aliases = d.aliases;
  def.module = d.module;
  def.dims = d.dims;
  def.file = from_the_root(d.schema.file);
  def.line = d.schema.line;
  const std::string name(d.schema.text, std::strchr(d.schema.text, '('));
  Operator* op = nullptr;
  if (define_operator(lib, def, true, nullptr, &op)) {  // a mistake in this repository: the program cannot go on
    std::fprintf(stderr, "lamella: %s:%d: %s\n", def.file, def.line, core::pending_error().message.c_str());
    std::abort();
  }
  for (const auto fits : {d.infer.fits, d.composite.fits})
    if (fits) op->fits.push_back(fits);
  if (!d.composite.run) return;
  register_kernel(lib, name.c_str(), "composite",
                  {sizeof(lamella_kernel_def), 0, d.composite.run, nullptr, def.file, def.line, 0}, nullptr);
}

// See Note [Families].
std::vector<Declaration> all_declarations() {
  std::vector<const Family*> families(__start_lamella_families, __stop_lamella_families);
  std::sort(families.begin(), families.end(),
            [](const Family* a, const Family* b) { return std::string_view(a->name) < b->name; });
  std::vector<Declaration> all;
  for (const Family* family : families)
    for (Declaration d : family->operators()) {
      if (!d.category) d.category = family->usual.category;
      if (!d.forms) d.forms = family->usual.forms;
      if (!d.dims) d.dims = family->usual.dims;
      all.push_back(d);
    }
  std::stable_partition(all.begin(), all.end(), [](const Declaration& d) { return d.pointwise != nullptr; });
  return all;
}

}  // namespace

void register_catalogue() {
  set_default_namespace(own_namespace);
  for (const auto& c : categories) declare_category(c.name, c.flags);
  Library* lib = nullptr;
  (void)open_library({sizeof(lamella_library_def), LAMELLA_ABI_VERSION, own_namespace, "lamella", LAMELLA_DEFINES, 0},
                     &lib);
  register_meta(*lib);
  register_linalg_error(lib);
  for (const Declaration& d : all_declarations()) add(*lib, d);
  set_copying(copying_by_operators());
}

}  // namespace lamella::operators
