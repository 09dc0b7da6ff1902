#include "dispatcher/catalogue.h"

#include <cstring>

#include "backends/meta/backend.h"
#include "dispatcher/registry.h"

namespace lamella::dispatcher {
namespace {

const char* base_name(const char* path) {
  const char* p = std::strstr(path, "dispatcher/");
  return p ? p : path;
}

void add(Library& lib, const Declaration& d) {
  lamella_operator_def def{};
  def.size = sizeof def;
  def.schema = d.schema;
  def.category = d.category;
  def.doc = d.doc;
  def.forms = d.forms;
  def.infer = d.infer;
  def.pointwise = d.pointwise;
  def.file = base_name(d.file);
  def.line = d.line;
  Registry::get().define(lib, def, true, nullptr);
  if (!d.composite) return;
  std::string name(d.schema, std::strchr(d.schema, '('));
  Registry::get().kernel(lib, name.c_str(), "composite",
                         {sizeof(lamella_kernel_def), 0, d.composite, nullptr, base_name(d.file), d.line, 0}, nullptr);
}

}  // namespace

void register_catalogue() {
  Library* lib = nullptr;
  (void)Registry::get().open({sizeof(lamella_library_def), LAMELLA_ABI_VERSION, "aten", "lamella", LAMELLA_DEFINES, 0},
                             &lib);
  register_meta(*lib);
  for (const auto* family : {&creation_operators(),      &copy_operators(),
                             &pointwise_operators(),     &view_operators(),
                             &reshaping_operators(),     &splitting_operators(),
                             &reduction_operators(),     &extremum_operators(),
                             &variance_operators(),      &scan_operators(),
                             &matmul_operators(),        &joining_operators(),
                             &repeating_operators(),     &flipping_operators(),
                             &triangle_operators(),      &gather_operators(),
                             &index_rows_operators(),    &mask_operators(),
                             &indexing_operators(),      &sort_operators(),
                             &unique_operators(),        &searching_operators(),
                             &random_operators(),        &sampling_operators(),
                             &normalization_operators(), &normalization_backward_operators(),
                             &convolution_operators(),   &padding_operators(),
                             &pooling_operators(),       &loss_operators(),
                             &complex_operators()})
    for (const Declaration& d : *family) add(*lib, d);
}

}  // namespace lamella::dispatcher
