#include "backends/cpu/kernels.h"

namespace lattis::cpu {

void register_scans(Library&) {}

}  // namespace lattis::cpu
