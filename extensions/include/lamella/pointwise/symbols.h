/* The words of the vocabulary over symbols: each returns the text of an expression. Included by vocabulary.h. */
#ifndef LAMELLA_POINTWISE_SYMBOLS_H
#define LAMELLA_POINTWISE_SYMBOLS_H

namespace lamella::pointwise {
namespace {

/* An operation of integers casts its result back to T; complex numbers are structs, which need functions. */
template <int Class>
inline Symbol<Class> operation(const Symbol<Class>& a, const char* op, const char* word, const Symbol<Class>& b) {
  if constexpr (Class == LAMELLA_CLASS_COMPLEX)
    return {word + ("(" + a.text) + ", " + b.text + ")"};
  else
    return {(Class == LAMELLA_CLASS_INTEGRAL ? "((T)(" : "(") + a.text + " " + op + " " + b.text +
            (Class == LAMELLA_CLASS_INTEGRAL ? "))" : ")")};
}
template <int Class>
inline Truth comparison(const Symbol<Class>& a, const char* op, const Symbol<Class>& b) {
  return {"(" + a.text + " " + op + " " + b.text + ")"};
}
#define LAMELLA_SYMBOL_OPERATION(op, word)                                           \
  template <int Class>                                                               \
  inline Symbol<Class> operator op(const Symbol<Class>& a, const Symbol<Class>& b) { \
    return operation(a, #op, #word, b);                                              \
  }
LAMELLA_SYMBOL_OPERATION(+, add)
LAMELLA_SYMBOL_OPERATION(-, sub)
LAMELLA_SYMBOL_OPERATION(*, mul)
LAMELLA_SYMBOL_OPERATION(/, div)
LAMELLA_SYMBOL_OPERATION(&, )
LAMELLA_SYMBOL_OPERATION(|, )
LAMELLA_SYMBOL_OPERATION(^, )
#undef LAMELLA_SYMBOL_OPERATION
#define LAMELLA_SYMBOL_COMPARISON(op)                                        \
  template <int Class>                                                       \
  inline Truth operator op(const Symbol<Class>& a, const Symbol<Class>& b) { \
    return comparison(a, #op, b);                                            \
  }
LAMELLA_SYMBOL_COMPARISON(<)
LAMELLA_SYMBOL_COMPARISON(>)
LAMELLA_SYMBOL_COMPARISON(<=)
LAMELLA_SYMBOL_COMPARISON(>=)
#undef LAMELLA_SYMBOL_COMPARISON
inline Truth operator&&(const Truth& a, const Truth& b) { return comparison(a, "&&", b); }
inline Truth operator||(const Truth& a, const Truth& b) { return comparison(a, "||", b); }
inline Truth operator!(const Truth& a) { return {"(!" + a.text + ")"}; }
template <int Class>
inline Truth operator==(const Symbol<Class>& a, const Symbol<Class>& b) {
  if constexpr (Class == LAMELLA_CLASS_COMPLEX)
    return {"equal(" + a.text + ", " + b.text + ")"};
  else
    return comparison(a, "==", b);
}
template <int Class>
inline Truth operator!=(const Symbol<Class>& a, const Symbol<Class>& b) {
  if constexpr (Class == LAMELLA_CLASS_COMPLEX)
    return !(a == b);
  else
    return comparison(a, "!=", b);
}
template <int Class>
inline Symbol<Class> operator-(const Symbol<Class>& a) {
  if constexpr (Class == LAMELLA_CLASS_COMPLEX)
    return {"neg(" + a.text + ")"};
  else
    return {(Class == LAMELLA_CLASS_INTEGRAL ? "((T)-" : "(-") + a.text + ")"};
}
inline Symbol<LAMELLA_CLASS_INTEGRAL> operator~(const Symbol<LAMELLA_CLASS_INTEGRAL>& a) {
  return {"((T)~" + a.text + ")"};
}

#define LAMELLA_SYMBOL_FUNCTION(name)                    \
  template <int Class>                                   \
  inline Symbol<Class> name##_(const Symbol<Class>& a) { \
    return {#name "(" + a.text + ")"};                   \
  }
LAMELLA_VECTOR_FUNCTIONS(LAMELLA_SYMBOL_FUNCTION)
LAMELLA_SYMBOL_FUNCTION(sqrt)
LAMELLA_SYMBOL_FUNCTION(abs)
LAMELLA_SYMBOL_FUNCTION(floor)
LAMELLA_SYMBOL_FUNCTION(ceil)
LAMELLA_SYMBOL_FUNCTION(trunc)
LAMELLA_SYMBOL_FUNCTION(lgamma)
LAMELLA_SYMBOL_FUNCTION(erfinv)
LAMELLA_SYMBOL_FUNCTION(normal_cdf)
LAMELLA_SYMBOL_FUNCTION(mantissa)
LAMELLA_SYMBOL_FUNCTION(exponent)
LAMELLA_SPECIAL_FUNCTIONS(LAMELLA_SYMBOL_FUNCTION)
#undef LAMELLA_SYMBOL_FUNCTION
inline RealSymbol round_(const RealSymbol& a) { return {"rint(" + a.text + ")"}; }
inline Truth signbit_(const RealSymbol& a) { return {"signbit(" + a.text + ")"}; }
inline RealSymbol modulus(const Symbol<LAMELLA_CLASS_COMPLEX>& a) { return {"modulus(" + a.text + ")"}; }
inline RealSymbol arg(const Symbol<LAMELLA_CLASS_COMPLEX>& a) { return {"arg(" + a.text + ")"}; }
#define LAMELLA_SYMBOL_FUNCTION_2(name)                                          \
  template <int Class>                                                           \
  inline Symbol<Class> name##_(const Symbol<Class>& a, const Symbol<Class>& b) { \
    return {#name "(" + a.text + ", " + b.text + ")"};                           \
  }
LAMELLA_VECTOR_FUNCTIONS_2(LAMELLA_SYMBOL_FUNCTION_2)
LAMELLA_SYMBOL_FUNCTION_2(copysign)
LAMELLA_SYMBOL_FUNCTION_2(fmod)
LAMELLA_SYMBOL_FUNCTION_2(quotient)
LAMELLA_SYMBOL_FUNCTION_2(floor_quotient)
LAMELLA_SYMBOL_FUNCTION_2(shift_left)
LAMELLA_SYMBOL_FUNCTION_2(shift_right)
LAMELLA_SYMBOL_FUNCTION_2(gamma_draw)
LAMELLA_SYMBOL_FUNCTION_2(poisson_draw)
LAMELLA_SYMBOL_FUNCTION_2(gamma_gradient)
LAMELLA_SYMBOL_FUNCTION_2(gcd)
LAMELLA_SYMBOL_FUNCTION_2(lcm)
LAMELLA_SYMBOL_FUNCTION_2(nextafter)
LAMELLA_SYMBOL_FUNCTION_2(scaled_by)
LAMELLA_SPECIAL_FUNCTIONS_2(LAMELLA_SYMBOL_FUNCTION_2)
#undef LAMELLA_SYMBOL_FUNCTION_2
#define LAMELLA_SYMBOL_FUNCTION_3(name)                                                                  \
  template <int Class>                                                                                   \
  inline Symbol<Class> name##_(const Symbol<Class>& a, const Symbol<Class>& b, const Symbol<Class>& c) { \
    return {#name "(" + a.text + ", " + b.text + ", " + c.text + ")"};                                   \
  }
LAMELLA_SYMBOL_FUNCTION_3(binomial_draw)
LAMELLA_SYMBOL_FUNCTION_3(beta_gradient)
#undef LAMELLA_SYMBOL_FUNCTION_3

}  // namespace
}  // namespace lamella::pointwise

#endif
