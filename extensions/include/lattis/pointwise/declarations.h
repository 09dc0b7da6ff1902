/* Pointwise operators, declared once, by meaning. The catalogue registers from here (schema and documentation
 * stand in dispatcher/operators/pointwise_*.cpp); a backend may instantiate the same declarations for its own loops.
 *
 * A declaration is a struct: how many inputs and scalar parameters, which dtype classes it accepts, which dtype it
 * computes in and returns, and `apply`, its meaning over scalars. Optional: `maths` (it calls functions that have
 * vector forms, see loops.h), `complex_maths`, `signless`, `fault` (an element-wise condition that is an error) with
 * `fault_message`. One file a family; each ends in its list. */
#ifndef LATTIS_POINTWISE_DECLARATIONS_H
#define LATTIS_POINTWISE_DECLARATIONS_H

#include <lattis/pointwise/activations.h>
#include <lattis/pointwise/arithmetic.h>
#include <lattis/pointwise/backward.h>
#include <lattis/pointwise/choosing.h>
#include <lattis/pointwise/functions.h>

/* Every declaration, for whoever instantiates them all: X(struct, names of the operators that mean it). */
#define LATTIS_POINTWISE_DECLARATIONS(X) \
  LATTIS_POINTWISE_ARITHMETIC(X)         \
  LATTIS_POINTWISE_FUNCTIONS(X)          \
  LATTIS_POINTWISE_CHOOSING(X)           \
  LATTIS_POINTWISE_ACTIVATIONS(X)        \
  LATTIS_POINTWISE_BACKWARD(X)

#endif
