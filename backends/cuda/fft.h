// Fourier transforms by cuFFT, NVIDIA's library, if libraries.py finds it: in LD_LIBRARY_PATH, in a wheel or among the
// system's libraries.
#pragma once

#include <optional>
#include <string_view>

#include "devices.h"

namespace cuda {

enum class FftKind : int32_t { complex_to_complex, real_to_complex, complex_to_real };

// How the signals of a batch lie in memory, in elements. The element (i, j, k) of signal b of three dimensions lies at
// b * batch_step + ((i * embed[1] + j) * embed[2] + k) * step. embed[0] is not read.
struct FftLayout {
  int64_t embed[3], step, batch_step;
  bool operator==(const FftLayout&) const = default;
};

// A batch of transforms of one to three dimensions; its numbers are the key of its plan. `size` has the sizes of the
// signal with all its elements, also where one side holds only the first half of the last dimension.
struct FftProblem {
  FftKind kind;
  int32_t wide, rank, unused;  // wide: 1 for float64 and complex128
  int64_t size[3];
  FftLayout in, out;
  int64_t batches;
  bool operator==(const FftProblem&) const = default;
};

// Returns whether cuFFT was opened.
bool fft_there();

// Computes the transforms, without a scale, on the device's current stream. *done is false, and nothing is written, if
// cuFFT does not support the problem. A transform from complex to real numbers overwrites its input. In a capture, the
// plan must have been made before.
lamella_status fft_run(const lamella_tensor* on, const FftProblem&, const void* in, void* out, bool forward,
                       bool* done);

}  // namespace cuda
