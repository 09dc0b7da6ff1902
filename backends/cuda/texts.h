// The sources that the build embeds in the library: the files of kernels/, and headers of <lamella/> that they include.
#pragma once

namespace cuda {

struct Text {
  const char *name, *content;
};
extern const Text texts[];
extern const int text_count;

// Returns the content of a file by its name in an #include, "common.cuh" or "lamella/quotient.h", or null.
const char* text_of(const char* name);

}  // namespace cuda
