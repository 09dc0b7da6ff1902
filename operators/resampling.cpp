// Computes the taps and weights of each place of a resampled axis: see resampling.h.
#include "operators/resampling.h"

#include <cmath>

namespace lamella::operators {
namespace {

double cube_of(double x) { return x * x * x; }

// Returns the cubic kernel of Keys (1981), with slope `a` at 1, at the distance `x`. It is 1 at 0 and 0 at 1 and 2, so
// that a place on an element takes its value.
double keys(double x, double a) {
  if (x < 1) return (a + 2) * cube_of(x) - (a + 3) * x * x + 1;
  return x < 2 ? a * (cube_of(x) - 5 * x * x + 8 * x - 4) : 0;
}

double sinc(double x) { return x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x); }

// reach() is half of the number of elements under a filter at scale 1; height() is the filter's value at a distance.
int64_t reach(Filter f) { return f == Filter::linear_smooth ? 1 : f == Filter::cubic_smooth ? 2 : 3; }

double height(Filter f, double x) {
  x = std::abs(x);
  if (f == Filter::linear_smooth) return std::max(1 - x, 0.0);
  if (f == Filter::cubic_smooth) return keys(x, -0.5);
  return x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

// Places further apart than this are beyond any tensor. Steps end here, so that every place is a finite number.
constexpr double longest_step = 1e18;

// Returns the distance of two neighbouring places, in elements.
double step_of(int64_t in, int64_t out, bool align, std::optional<double> scale) {
  if (align) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  return scale && *scale > 0 ? std::min(1 / *scale, longest_step) : static_cast<double>(in) / static_cast<double>(out);
}

// Returns the element that place i takes: the nearest one if `exact`, else the one before; in float32, as in torch.
int64_t nearest_of(bool exact, int64_t i, int64_t in, float step) {
  const float at = exact ? (static_cast<float>(i) + 0.5f) * step : static_cast<float>(i) * step;
  const auto last = static_cast<float>(in - 1);
  return std::min(static_cast<int64_t>(std::floor(std::min(at, last))), in - 1);
}

Taps picked(bool exact, int64_t in, int64_t out, std::optional<double> scale) {
  const float step = scale && *scale > 0 ? static_cast<float>(std::min(1 / *scale, longest_step))
                                         : static_cast<float>(in) / static_cast<float>(out);
  Taps t;
  for (int64_t i = 0; i < out; i++) t.index.push_back(nearest_of(exact, i, in, step));
  return t;
}

Taps mixed(bool cubic, int64_t in, int64_t out, bool align, double step) {
  Taps t;
  t.count = cubic ? 4 : 2;
  t.index.resize(t.count * out);
  t.weight.resize(t.count * out);
  for (int64_t i = 0; i < out; i++) {
    const double centre = static_cast<double>(i);
    double at = align ? step * centre : step * (centre + 0.5) - 0.5;
    // All taps of a cubic beyond this take the outer element, whatever their weights.
    const double beyond = cubic ? 3 : 0;
    at = std::clamp(at, -beyond, static_cast<double>(in - 1) + beyond);
    const auto first = static_cast<int64_t>(std::floor(at));
    const double part = at - static_cast<double>(first);
    for (int64_t k = 0; k < t.count; k++) {
      t.index[k * out + i] = std::clamp<int64_t>(cubic ? first - 1 + k : first + k, 0, in - 1);
      t.weight[k * out + i] = cubic ? keys(std::abs(part + 1 - static_cast<double>(k)), -0.75) : k ? part : 1 - part;
    }
  }
  return t;
}

// Returns the taps of a filter, which is widened where places are further apart than elements. The weights of a place
// add up to 1.
Taps smoothed(Filter f, int64_t in, int64_t out, double step) {
  const double wide = std::max(step, 1.0), half = static_cast<double>(reach(f)) * wide;
  Taps t;
  std::vector<int64_t> first(out), count(out);
  for (int64_t i = 0; i < out; i++) {
    const double centre = step * (static_cast<double>(i) + 0.5);
    const auto last = static_cast<double>(in - 1);  // a place beyond the image takes its last element
    first[i] = static_cast<int64_t>(std::clamp(centre - half + 0.5, 0.0, last));
    count[i] = std::max<int64_t>(static_cast<int64_t>(std::min(centre + half + 0.5, last + 1)) - first[i], 1);
    t.count = std::max(t.count, count[i]);
  }
  t.index.resize(t.count * out);
  t.weight.resize(t.count * out);
  for (int64_t i = 0; i < out; i++) {
    const double centre = step * (static_cast<double>(i) + 0.5);
    double sum = 0;
    for (int64_t k = 0; k < t.count; k++) {
      const int64_t at = first[i] + k;
      const double w = k < count[i] ? height(f, (static_cast<double>(at) - centre + 0.5) / wide) : 0;
      t.index[k * out + i] = std::min(at, first[i] + count[i] - 1);
      t.weight[k * out + i] = w;
      sum += w;
    }
    for (int64_t k = 0; k < t.count && sum != 0; k++) t.weight[k * out + i] /= sum;
  }
  return t;
}

}  // namespace

Taps taps_of(Filter f, int64_t in, int64_t out, bool align, std::optional<double> scale) {
  if (only_picks(f)) return picked(f == Filter::nearest_exact, in, out, scale);
  const double step = step_of(in, out, align, scale);
  if (f == Filter::linear || f == Filter::cubic) return mixed(f == Filter::cubic, in, out, align, step);
  return smoothed(f, in, out, step);
}

void merge_weightless(Taps* t) {
  constexpr int64_t most_halves = 8;
  const auto out = static_cast<int64_t>(t->index.size()) / t->count;
  for (int64_t i = 0; i < out; i++) {
    auto weight = [&](int64_t k) -> double& { return t->weight[k * out + i]; };
    int64_t heaviest = 0, shares = 1;
    for (int64_t k = 0; k < t->count; k++) {
      if (std::abs(weight(k)) > std::abs(weight(heaviest))) heaviest = k;
      shares += weight(k) == 0;
    }
    const double whole = weight(heaviest);
    if (shares == 1 || whole == 0) continue;
    // A half, a quarter and so on, the last twice, from the smallest on: the sum of few shares is exact.
    int64_t left = shares;
    for (int64_t k = 0; k < t->count; k++) {
      if (k != heaviest && weight(k) != 0) continue;
      const auto halves = static_cast<int>(left == shares ? left - 1 : left);
      t->index[k * out + i] = t->index[heaviest * out + i];
      weight(k) = shares <= most_halves ? std::ldexp(whole, -halves) : whole / static_cast<double>(shares);
      left--;
    }
  }
}

}  // namespace lamella::operators
