// Convolutions by cuDNN, NVIDIA's library, if libraries.py finds it: in LD_LIBRARY_PATH, in a wheel or among the
// system's libraries.
#pragma once

#include "kernels/images.h"
#include "operands.h"

namespace cuda {

// The tensor of a convolution that is computed from the other two: the output, or a gradient.
enum class Pass { output, image, weight };

// Computes one tensor of a convolution. *done is false, and nothing is written, if cuDNN was not opened, is switched
// off, does not support the problem or has too little memory for it.
lamella_status dnn_convolve(Pass, const Images&, const Tensor& image, const Tensor& weight, const Tensor& output,
                            bool* done);

// Returns one of torch's switches by its name, after setting it if `on` is given: "enabled", "allow_tf32",
// "deterministic", or "deterministic_algorithms", the switch for all operators.
bool dnn_switch(std::string_view name, std::optional<bool> on);
// Returns 92800 for cuDNN 9.28.0, and 0 without cuDNN.
int64_t dnn_version();
// Returns a line for each problem with a kept plan: the algorithms in the order in which they are tried, or why there
// are none.
std::string dnn_plans();

}  // namespace cuda
