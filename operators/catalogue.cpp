#include "operators/catalogue.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "dispatcher/kernels.h"
#include "dispatcher/meta.h"
#include "dispatcher/operators.h"
#include "operators/copy.h"

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
    {"random", 0},
    {"normalization", 0},
    {"linalg", 0},
    {"fft", 0},
    {"scatter", may_fault | by_index},
    {"dynamic", 0},
    {"host", 0},
    {"lists", 0},
};

const char* from_the_root(const char* path) {
  const char* p = std::strstr(path, "operators/");
  return p ? p : path;
}

void add(Library& lib, const Declaration& d) {
  lamella_operator_def def{};
  def.size = sizeof def;
  def.schema = d.schema;
  def.category = d.category;
  def.doc = d.doc;
  def.forms = d.forms;
  def.infer = d.infer.run;
  def.pointwise = d.pointwise;
  def.aliases = d.aliases;
  def.file = from_the_root(d.file);
  def.line = d.line;
  const std::string name(d.schema, std::strchr(d.schema, '('));
  Operator* op = nullptr;
  if (define_operator(lib, def, true, nullptr, &op)) {  // a mistake in this repository: the program cannot go on
    std::fprintf(stderr, "lamella: %s:%d: %s\n", def.file, def.line, core::pending_error().message.c_str());
    std::abort();
  }
  for (const auto fits : {d.infer.fits, d.composite.fits})
    if (fits) op->fits.push_back(fits);
  if (!d.composite.run) return;
  register_kernel(lib, name.c_str(), "composite",
                  {sizeof(lamella_kernel_def), 0, d.composite.run, nullptr, def.file, d.line, 0}, nullptr);
}

}  // namespace

void register_catalogue() {
  set_default_namespace(own_namespace);
  for (const auto& c : categories) declare_category(c.name, c.flags);
  Library* lib = nullptr;
  (void)open_library({sizeof(lamella_library_def), LAMELLA_ABI_VERSION, own_namespace, "lamella", LAMELLA_DEFINES, 0},
                     &lib);
  register_meta(*lib);
  for (const auto* family : {&creation_operators(),
                             &copy_operators(),
                             &pointwise_operators(),
                             &view_operators(),
                             &reshaping_operators(),
                             &splitting_operators(),
                             &reduction_operators(),
                             &extremum_operators(),
                             &variance_operators(),
                             &scan_operators(),
                             &matmul_operators(),
                             &joining_operators(),
                             &repeating_operators(),
                             &flipping_operators(),
                             &triangle_operators(),
                             &gather_operators(),
                             &index_rows_operators(),
                             &mask_operators(),
                             &indexing_operators(),
                             &sort_operators(),
                             &unique_operators(),
                             &searching_operators(),
                             &random_operators(),
                             &sampling_operators(),
                             &normalization_operators(),
                             &normalization_backward_operators(),
                             &convolution_operators(),
                             &transposed_convolution_operators(),
                             &padding_operators(),
                             &pooling_operators(),
                             &adaptive_pooling_operators(),
                             &volume_pooling_operators(),
                             &fractional_pooling_operators(),
                             &unpooling_operators(),
                             &folding_operators(),
                             &loss_operators(),
                             &complex_operators(),
                             &upsampling_operators(),
                             &shuffling_operators(),
                             &table_operators(),
                             &grid_sampling_operators(),
                             &ctc_operators(),
                             &activation_operators(),
                             &dropout_operators(),
                             &distance_operators(),
                             &margin_operators(),
                             &instance_norm_operators(),
                             &attention_operators(),
                             &recurrent_operators(),
                             &recurrent_layer_operators(),
                             &running_operators(),
                             &statistics_operators(),
                             &combining_operators(),
                             &placing_operators(),
                             &drawing_operators(),
                             &taper_operators(),
                             &optimizer_update_operators(),
                             &foreach_operators()})
    for (const Declaration& d : *family) add(*lib, d);
  set_copying(copying_by_operators());
}

}  // namespace lamella::operators
