// The width of a vector register of the instruction set.
#pragma once

namespace lamella::cpu {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

}  // namespace
}  // namespace lamella::cpu
