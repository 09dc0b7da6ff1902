/* The families of pointwise operators that the catalogue declares, one header each: X(arithmetic). */
#ifndef LAMELLA_POINTWISE_FAMILIES_H
#define LAMELLA_POINTWISE_FAMILIES_H

#define LAMELLA_POINTWISE_FAMILIES(X) X(arithmetic) X(signs) X(functions) X(choosing) X(activations) X(backward)

#endif
