// The catalogue: one Declaration an operator, in operators/, one file a family. Schemas are parsed on first use.
#pragma once

#include <lamella/c_api.h>

#include <vector>

namespace lamella::dispatcher {

inline constexpr uint32_t function = LAMELLA_FORM_FUNCTION, method = LAMELLA_FORM_METHOD,
                          inplace = LAMELLA_FORM_INPLACE, out = LAMELLA_FORM_OUT, hidden = LAMELLA_FORM_PRIVATE,
                          no_kernel_needed = LAMELLA_FORM_NO_KERNEL, everywhere = function | method,
                          all_forms = everywhere | inplace | out;

struct Declaration {
  const char* schema;
  const char* category;
  uint32_t forms;
  lamella_infer infer;       // null for composites
  lamella_kernel composite;  // null for operators with kernels of their own
  const char* doc;           // on the first overload
  const lamella_pointwise* pointwise;
  int line;  // where it is written
  const char* file;

  Declaration(const char* schema, const char* category, uint32_t forms, lamella_infer infer, lamella_kernel composite,
              const char* doc, const lamella_pointwise* pointwise = nullptr, int line = __builtin_LINE(),
              const char* file = __builtin_FILE())
      : schema(schema),
        category(category),
        forms(forms),
        infer(infer),
        composite(composite),
        doc(doc),
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
const std::vector<Declaration>& convolution_operators();
const std::vector<Declaration>& padding_operators();
const std::vector<Declaration>& pooling_operators();
const std::vector<Declaration>& joining_operators();
const std::vector<Declaration>& repeating_operators();
const std::vector<Declaration>& flipping_operators();
const std::vector<Declaration>& triangle_operators();
const std::vector<Declaration>& sort_operators();
const std::vector<Declaration>& unique_operators();
const std::vector<Declaration>& searching_operators();
const std::vector<Declaration>& complex_operators();

void register_catalogue();

}  // namespace lamella::dispatcher
