// The catalogue: one Declaration an operator, in operators/, one file a family. Schemas are parsed on first use.
#pragma once

#include <lamella/c_api.h>

#include <cstddef>
#include <vector>

namespace lamella::operators {

inline constexpr uint32_t function = LAMELLA_FORM_FUNCTION, method = LAMELLA_FORM_METHOD,
                          inplace = LAMELLA_FORM_INPLACE, out = LAMELLA_FORM_OUT, hidden = LAMELLA_FORM_PRIVATE,
                          no_kernel_needed = LAMELLA_FORM_NO_KERNEL, everywhere = function | method,
                          all_forms = everywhere | inplace | out;

// A function as the C ABI calls it, and its comparison with the operator's schema, which runs when that is parsed. A
// function against the C ABI has no types to compare.
template <class Function>
struct Adapted {
  constexpr Adapted(std::nullptr_t = nullptr) {}
  constexpr Adapted(Function run) : run(run) {}
  constexpr Adapted(Function run, lamella_status (*fits)(const lamella_operator*)) : run(run), fits(fits) {}
  Function run = nullptr;
  lamella_status (*fits)(const lamella_operator*) = nullptr;
};

struct Declaration {
  const char* schema;
  const char* category;
  uint32_t forms;
  Adapted<lamella_infer> infer;       // null for composites
  Adapted<lamella_kernel> composite;  // null for operators with kernels of their own
  const char* doc;                    // on the first overload
  const char* aliases;                // further names, separated by spaces; on the first overload
  const lamella_pointwise* pointwise;
  int line;  // where it is written
  const char* file;

  Declaration(const char* schema, const char* category, uint32_t forms, Adapted<lamella_infer> infer,
              Adapted<lamella_kernel> composite, const char* doc, const char* aliases = nullptr,
              const lamella_pointwise* pointwise = nullptr, int line = __builtin_LINE(),
              const char* file = __builtin_FILE())
      : schema(schema),
        category(category),
        forms(forms),
        infer(infer),
        composite(composite),
        doc(doc),
        aliases(aliases),
        pointwise(pointwise),
        line(line),
        file(file) {}
};

const std::vector<Declaration>& creation_operators();
const std::vector<Declaration>& copy_operators();
const std::vector<Declaration>& pointwise_operators();
const std::vector<Declaration>& view_operators();
const std::vector<Declaration>& reshaping_operators();
const std::vector<Declaration>& splitting_operators();
const std::vector<Declaration>& reduction_operators();
const std::vector<Declaration>& extremum_operators();
const std::vector<Declaration>& variance_operators();
const std::vector<Declaration>& matmul_operators();
const std::vector<Declaration>& gather_operators();
const std::vector<Declaration>& index_rows_operators();
const std::vector<Declaration>& mask_operators();
const std::vector<Declaration>& indexing_operators();
const std::vector<Declaration>& random_operators();
const std::vector<Declaration>& sampling_operators();
const std::vector<Declaration>& scan_operators();
const std::vector<Declaration>& normalization_operators();
const std::vector<Declaration>& normalization_backward_operators();
const std::vector<Declaration>& loss_operators();
const std::vector<Declaration>& attention_operators();
const std::vector<Declaration>& recurrent_operators();
const std::vector<Declaration>& recurrent_layer_operators();
const std::vector<Declaration>& convolution_operators();
const std::vector<Declaration>& transposed_convolution_operators();
const std::vector<Declaration>& padding_operators();
const std::vector<Declaration>& pooling_operators();
const std::vector<Declaration>& adaptive_pooling_operators();
const std::vector<Declaration>& volume_pooling_operators();
const std::vector<Declaration>& fractional_pooling_operators();
const std::vector<Declaration>& unpooling_operators();
const std::vector<Declaration>& folding_operators();
const std::vector<Declaration>& upsampling_operators();
const std::vector<Declaration>& shuffling_operators();
const std::vector<Declaration>& table_operators();
const std::vector<Declaration>& grid_sampling_operators();
const std::vector<Declaration>& ctc_operators();
const std::vector<Declaration>& joining_operators();
const std::vector<Declaration>& repeating_operators();
const std::vector<Declaration>& flipping_operators();
const std::vector<Declaration>& triangle_operators();
const std::vector<Declaration>& sort_operators();
const std::vector<Declaration>& unique_operators();
const std::vector<Declaration>& searching_operators();
const std::vector<Declaration>& complex_operators();
const std::vector<Declaration>& activation_operators();
const std::vector<Declaration>& dropout_operators();
const std::vector<Declaration>& distance_operators();
const std::vector<Declaration>& margin_operators();
const std::vector<Declaration>& instance_norm_operators();
const std::vector<Declaration>& running_operators();
const std::vector<Declaration>& statistics_operators();
const std::vector<Declaration>& combining_operators();
const std::vector<Declaration>& placing_operators();
const std::vector<Declaration>& drawing_operators();
const std::vector<Declaration>& taper_operators();
const std::vector<Declaration>& optimizer_update_operators();
const std::vector<Declaration>& foreach_operators();

void register_catalogue();

}  // namespace lamella::operators
