// Convolutions by cuDNN, where it can be opened: it is NVIDIA's own library, in a wheel or beside the driver.
#pragma once

#include "kernels/images.h"
#include "operands.h"

namespace cuda {

// Which of a convolution's three tensors is computed from the other two: the output, or a gradient.
enum class Pass { output, image, weight };

// Computes one tensor of a convolution. *done is false, and nothing is written, where cuDNN is not there, is switched
// off or does not take the problem.
lamella_status dnn_convolve(Pass, const Images&, const Tensor& image, const Tensor& weight, const Tensor& output,
                            bool* done);

// A switch of torch's by its name, once it has been set where `on` is given: "enabled", "allow_tf32", "deterministic",
// and "deterministic_algorithms" for that of all operators.
bool dnn_switch(std::string_view name, std::optional<bool> on);
// 92800 of cuDNN 9.28.0; 0 where there is none.
int64_t dnn_version();
// A line for each problem that was met: its algorithms in the order in which they are tried, or what refused it.
std::string dnn_plans();

}  // namespace cuda
