// A bool as it lies in memory. For the files of this folder.
#pragma once

#include <stdint.h>

namespace lamella::cpu {
namespace {

// Every byte but 0 is true, whoever wrote it: decision 0047. It reads as 0 or 1; compilers take the byte of a bool to be
// one of these, and fail to vectorize its loads.
struct Truth {
  uint8_t byte;
  constexpr operator uint8_t() const { return byte != 0; }
};

}  // namespace
}  // namespace lamella::cpu
