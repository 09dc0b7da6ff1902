/* The parts of an optimizer's update: options, lists of state, the plan of a step, and functions for formulas.
 *
 * Note [Updates]  An update is a struct of <lamella/updates.h>, from which its operator follows. The operator takes
 * lists of tensors: the parameters, their gradients, then the `state` that the struct declares. Tensors of the state
 * have the parameter's shape; after them come `kept` lists of single numbers that the update changes. If it
 * `counts`, the list of the steps follows. Then come the options in the order of their declaration, grad_scale and
 * found_inf. From the options and the step `plan` computes the factors of one tensor and its variant, whose bit
 * `decays` has one meaning for all updates. `apply` changes a parameter p and the state s that the variant `holds`,
 * given the gradient g. Kernels take numbers for X and double for N; composites take whole tensors for X, and for N a
 * number that may be a tensor of one element, so that an option may have a gradient. */
#ifndef LAMELLA_UPDATES_BASE_H
#define LAMELLA_UPDATES_BASE_H

#include <cstdint>

namespace lamella::updates {

constexpr int most_state = 3, most_kept = 2, most_factors = 8, most_options = 9;
constexpr int most_lists = most_state + 2;
constexpr unsigned decays = 1;

template <class N>
struct PlanOf {
  unsigned variant = 0;
  N decay = 0; /* this times the parameter is added to the gradient */
  N factors[most_factors] = {};
  double kept[most_kept] = {}; /* the new values of the kept numbers */
};
using Plan = PlanOf<double>;

namespace { /* objects of several instruction sets must not share these */

/* ---- options ---- */

constexpr double endless = 1.7976931348623157e308;

struct Option {
  const char* name;
  bool flag;
  bool tensor; /* it may be a tensor of one element */
  double start;
  const char* words; /* its name in the text of an error */
  double low, high;  /* an optimizer refuses other values, and NaN */
  bool open;         /* the optimizer refuses `high`, too */
};
constexpr Option flag() { return {nullptr, true, false, 0, "flag", -endless, endless, false}; }
constexpr Option within(double start, const char* words, double low, double high) {
  return {nullptr, false, false, start, words, low, high, false};
}
constexpr Option positive(double start, const char* words) { return within(start, words, 0, endless); }
constexpr Option any_number(double start, const char* words) { return within(start, words, -endless, endless); }
constexpr Option share(double start, const char* words) { return {nullptr, false, false, start, words, 0, 1, true}; }
constexpr Option maybe_tensor(Option o) { return {nullptr, o.flag, true, o.start, o.words, o.low, o.high, o.open}; }
constexpr Option rate(double start) { return maybe_tensor(positive(start, "learning rate")); }
constexpr Option decay(double start = 0) { return positive(start, "weight_decay value"); }
constexpr Option epsilon(double start) { return positive(start, "epsilon value"); }
constexpr Option first_beta() { return share(0.9, "beta parameter at index 0"); }
constexpr Option second_beta() { return share(0.999, "beta parameter at index 1"); }
constexpr Option named(const char* name, Option o) {
  return {name, o.flag, o.tensor, o.start, o.words, o.low, o.high, o.open};
}

/* LAMELLA_OPTIONS((lr, rate(1e-3)), (maximize, flag())) declares an enumerator for each option and their table. */
#define LAMELLA_OPTIONS(...)                                       \
  enum { LAMELLA_EACH(LAMELLA_OPTION_NAME, __VA_ARGS__) options }; \
  static constexpr Option about[] = {LAMELLA_EACH(LAMELLA_OPTION_ROW, __VA_ARGS__)};
#define LAMELLA_OPTION_NAME(name, ...) name,
#define LAMELLA_OPTION_ROW(name, ...) named(#name, __VA_ARGS__),
#define LAMELLA_EACH(F, ...) LAMELLA_EACH_N(__VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(F, __VA_ARGS__)
#define LAMELLA_EACH_N(a, b, c, d, e, f, g, h, i, n, ...) LAMELLA_EACH_##n
#define LAMELLA_EACH_1(F, x) F x
#define LAMELLA_EACH_2(F, x, ...) F x LAMELLA_EACH_1(F, __VA_ARGS__)
#define LAMELLA_EACH_3(F, x, ...) F x LAMELLA_EACH_2(F, __VA_ARGS__)
#define LAMELLA_EACH_4(F, x, ...) F x LAMELLA_EACH_3(F, __VA_ARGS__)
#define LAMELLA_EACH_5(F, x, ...) F x LAMELLA_EACH_4(F, __VA_ARGS__)
#define LAMELLA_EACH_6(F, x, ...) F x LAMELLA_EACH_5(F, __VA_ARGS__)
#define LAMELLA_EACH_7(F, x, ...) F x LAMELLA_EACH_6(F, __VA_ARGS__)
#define LAMELLA_EACH_8(F, x, ...) F x LAMELLA_EACH_7(F, __VA_ARGS__)
#define LAMELLA_EACH_9(F, x, ...) F x LAMELLA_EACH_8(F, __VA_ARGS__)

/* An operator takes numbers; in its overload ".tensor_lr" the option `lr` is a tensor, and in ".tensors" every option
 * that may be a tensor is one. */
enum Overload { of_numbers, of_tensor_lr, of_tensors };
constexpr const char* overloads[] = {"", ".tensor_lr", ".tensors"};
constexpr bool is_tensor(const Option& o, int overload) {
  if (overload == of_tensors) return o.tensor;
  return overload == of_tensor_lr && o.name[0] == 'l' && o.name[1] == 'r' && o.name[2] == 0;
}

/* ---- state ---- */

/* A list of the state: the operator's argument, and the key under which an optimizer keeps each of its tensors. The
 * optimizer fills a new tensor with `start`, or with its option `start_option`. */
struct State {
  const char* list;
  const char* key;
  double start;
  const char* start_option;
  bool number;
};
constexpr State like_parameter(const char* list, const char* key, const char* start_option = nullptr) {
  return {list, key, 0, start_option, false};
}
constexpr State number(const char* list, const char* key, double start, const char* start_option = nullptr) {
  return {list, key, start, start_option, true};
}
template <int n>
constexpr int count(const State (&state)[n], bool number) {
  int found = 0;
  for (int k = 0; k < n; k++) found += state[k].number == number;
  return found;
}
/* LAMELLA_STATE(like_parameter("axs", "ax"), number("mus", "mu", 1)): numbers stand last. */
#define LAMELLA_STATE(...)                        \
  static constexpr State state[] = {__VA_ARGS__}; \
  static constexpr int lists = 2 + count(state, false), kept = count(state, true);

/* A base for updates that hold their whole state in every variant, and have no variants besides the decay's or declare
 * their own. */
struct Steady {
  enum : unsigned { variants = 2 };
  static constexpr bool holds(unsigned, int) { return true; }
};

/* ---- words ---- */

inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }
inline float size(float x) { return __builtin_fabsf(x); }
inline double size(double x) { return __builtin_fabs(x); }
inline double power(double x, double y) { return __builtin_pow(x, y); }
inline double value_of(double x) { return x; }
/* NaN if one of them is. */
template <class T>
inline T larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
inline T limited(T x, T low, T high) {
  const T raised = x < low ? low : x;
  return raised > high ? high : raised;
}
/* Returns one of three values, as x is positive, zero or negative. */
template <class T>
inline T by_sign(T x, T positive, T zero, T negative) {
  return x > 0 ? positive : x < 0 ? negative : zero;
}
template <class N>
inline bool is_on(const N& option) {
  return value_of(option) != 0;
}
template <class N>
inline PlanOf<N> with_decay(const N& decay) {
  PlanOf<N> plan;
  plan.decay = decay;
  plan.variant = is_on(decay) ? decays : 0;
  return plan;
}

/* Makes one step, with the decay that all updates have in common. */
template <class U, class V, class X, class C>
inline __attribute__((always_inline)) void step(V v, X& p, X g, X (&s)[most_state], C decay, const C* factors) {
  if (v & decays) g = g + p * decay;
  U::apply(v, p, g, s, factors);
}

/* ---- the same as data ---- */

struct Update {
  const char* type; /* "Adam"; the operator is "_fused_adam_" */
  int number;       /* its place in update_table */
  int lists, kept;
  bool counts;
  int options, maximize;
  const Option* about;
  const State* state;
  const char *doc, *example, *result; /* example: arguments after the gradients; result: new elements */
  /* Takes the options as numbers, the number of this step (the first is 1), and the kept numbers. */
  Plan (*plan)(const double* o, double step, const double* kept);
  bool (*holds)(unsigned variant, int state);

  constexpr int step_list() const { return lists + kept; }
  constexpr int first_option() const { return lists + kept + counts; }
  constexpr int grad_scale() const { return first_option() + options; }
  constexpr int found_inf() const { return grad_scale() + 1; }
  constexpr int overload_count() const {
    int tensors = 0;
    for (int k = 0; k < options; k++) tensors += about[k].tensor;
    return tensors > 1 ? 3 : tensors + 1;
  }
};
template <class U>
constexpr Update update_of(const char* type, int number) {
  return {type,
          number,
          U::lists,
          U::kept,
          U::counts,
          U::options,
          U::maximize,
          U::about,
          U::state,
          U::doc,
          U::example,
          U::result,
          U::template plan<double>,
          U::holds};
}

}  // namespace
}  // namespace lamella::updates

#endif
