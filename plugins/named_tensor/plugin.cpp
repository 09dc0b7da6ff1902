// Named tensors: a layer, the slot that keeps a tensor's names, and overloads of operators that take new names. Start
// with layer.cpp; rule.h says what a rule is.
#include "layer.h"
#include "overloads.h"

LAMELLA_LIBRARY(named_tensor, m) {
  using namespace lamella::named;
  register_layer(m);
  if (!m.status()) register_state(m);
  if (!m.status()) register_switches(m);
}

LAMELLA_LIBRARY_FRAGMENT(aten, m) { lamella::named::register_overloads(m); }
