/* Helpers for the kernels of any backend: operands and results in a kernel's own layout, dimensions that are walked
 * together, quotients by multiplication, windows of pools. Each part is a header of its own. */
#ifndef LAMELLA_OPERANDS_H
#define LAMELLA_OPERANDS_H

#include <lamella/dimensions.h>
#include <lamella/operand.h>
#include <lamella/quotient.h>
#include <lamella/window.h>

#endif
