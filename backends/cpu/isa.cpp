#include "backends/cpu/isa.h"

#include <cstdlib>
#include <string>

namespace lamella::cpu {
namespace {

Isa best() {
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("f16c");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? Isa::v4 : v3 ? Isa::v3 : Isa::baseline;
}

const char* wish() {
  const char* text = std::getenv("LAMELLA_CPU_ISA");
  return text ? text : "";
}

}  // namespace

Isa isa() {
  static const Isa chosen = [] {
    const std::string w = wish();
    const Isa most = w == "x86-64" ? Isa::baseline : w == "x86-64-v3" ? Isa::v3 : Isa::v4;
    return most < best() ? most : best();
  }();
  return chosen;
}

bool beside_levels() {
  static const bool may = isa() == Isa::v4 && std::string(wish()).empty();
  return may;
}

const char* isa_name() {
  static const char* const names[] = {"x86-64", "x86-64-v3", "x86-64-v4"};
  return names[static_cast<int>(isa())];
}

}  // namespace lamella::cpu
