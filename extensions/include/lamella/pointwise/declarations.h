/* Pointwise operators, declared once, by meaning. The catalogue registers from here (schema and documentation
 * stand in operators/pointwise_*.cpp); a backend may instantiate the same declarations for its own loops.
 *
 * A declaration is a struct: how many inputs and scalar parameters, which dtype classes it accepts, which dtype it
 * computes in and returns, and `apply`, its meaning over scalars. Optional: `maths` (it calls functions that have
 * vector forms, see loops.h), `complex_maths`, `signless`, `fault` (an element-wise condition that is an error) with
 * `fault_message`. One file a family; each ends in its list. */
#ifndef LAMELLA_POINTWISE_DECLARATIONS_H
#define LAMELLA_POINTWISE_DECLARATIONS_H

#include <lamella/pointwise/activations.h>
#include <lamella/pointwise/arithmetic.h>
#include <lamella/pointwise/backward.h>
#include <lamella/pointwise/choosing.h>
#include <lamella/pointwise/functions.h>

/* Every declaration, for code that instantiates them all: X(struct, names of the operators that mean it). */
#define LAMELLA_POINTWISE_DECLARATIONS(X) \
  LAMELLA_POINTWISE_ARITHMETIC(X)         \
  LAMELLA_POINTWISE_FUNCTIONS(X)          \
  LAMELLA_POINTWISE_CHOOSING(X)           \
  LAMELLA_POINTWISE_ACTIVATIONS(X)        \
  LAMELLA_POINTWISE_BACKWARD(X)

#endif
