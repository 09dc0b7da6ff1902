/* Pointwise operators, declared once, by meaning. The catalogue registers from here; a backend may instantiate the same
 * declarations for its own loops.
 *
 * A declaration is a struct: how many inputs and scalar parameters, which dtype classes it accepts, which dtype it
 * computes in and returns, `signatures`, the operators that it defines, with their documentation, and `apply`, its
 * meaning over scalars. Optional: `maths` (`apply` calls functions that have vector forms, see loops.h),
 * `complex_maths`, `moves` and `signless` (see base.h), `fault` (an element-wise condition that is an error) with
 * `fault_message`, `condition`, `params_promote` and `absent` (see lamella_pointwise in <lamella/c_api.h>). Each family
 * has one file, which ends in the list of its declarations. */
#ifndef LAMELLA_POINTWISE_DECLARATIONS_H
#define LAMELLA_POINTWISE_DECLARATIONS_H

#include <lamella/pointwise/activations.h>
#include <lamella/pointwise/arithmetic.h>
#include <lamella/pointwise/backward.h>
#include <lamella/pointwise/choosing.h>
#include <lamella/pointwise/draws.h>
#include <lamella/pointwise/functions.h>
#include <lamella/pointwise/orthogonal.h>
#include <lamella/pointwise/quantization.h>
#include <lamella/pointwise/signs.h>
#include <lamella/pointwise/special.h>

#endif
