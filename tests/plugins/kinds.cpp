// Kinds of errors of a plugin's own: the operator line_kinds::fail raises one of them.
#include <lamella/extension.h>

namespace {

using lamella::api;

int32_t network = 0, timeout = 0;

int64_t fail(int64_t which) {
  throw lamella::Error(which == 0   ? network
                       : which == 1 ? timeout
                                    : static_cast<int32_t>(which),
                       "kinds: the line is cut");
}

}  // namespace

LAMELLA_LIBRARY(line_kinds, m) {
  m.error_kind("LineError", LAMELLA_RUNTIME_ERROR, &network).error_kind("LineTimeout", network, &timeout);
  m.def("fail(int which) -> int", fail);
}
