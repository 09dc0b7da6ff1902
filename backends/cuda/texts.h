// The texts of kernels/, which the build puts into the library.
#pragma once

namespace cuda {

struct Text {
  const char *name, *content;
};
extern const Text texts[];
extern const int text_count;

// The text of a file, or null.
const char* text_of(const char* name);

}  // namespace cuda
