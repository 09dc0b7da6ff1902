// The words of expressions for complex numbers. Products and quotients are numpy's: plain, and by Smith's algorithm.
#ifndef LAMELLA_CUDA_WORDS_COMPLEX
#define LAMELLA_CUDA_WORDS_COMPLEX
#include "words.cuh"
#endif
