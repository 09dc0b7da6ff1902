#include "backends/cpu/kernels.h"

namespace lattis::cpu {

void register_pooling(Library&) {}

}  // namespace lattis::cpu
