// The texts of kernels/, which the build embeds in the library.
#pragma once

namespace cuda {

struct Text {
  const char *name, *content;
};
extern const Text texts[];
extern const int text_count;

// Returns the text of a file, or null.
const char* text_of(const char* name);

}  // namespace cuda
