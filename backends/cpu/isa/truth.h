// A bool as it lies in memory. For the files of this folder.
#pragma once

#include <stdint.h>

namespace lamella::cpu {
namespace {

// The byte of a bool in memory, which may hold any number (decision 0047). The conversion returns 0 for the byte 0 and
// 1 for every other byte. A C++ bool cannot serve: compilers assume that its byte is 0 or 1, and do not vectorize its
// loads.
struct Truth {
  uint8_t byte;
  constexpr operator uint8_t() const { return byte != 0; }
};

}  // namespace
}  // namespace lamella::cpu
