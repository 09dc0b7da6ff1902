// Samples in a native program: it opens a collector, and returns the gathered samples as text.
#include <lamella/library.h>
#include <lamella/sampled_calls.h>

#include <string>

namespace {

const lamella_samples* samples;
lamella_collector* collector;
std::string text;

lamella_status add_series(void*, const lamella_series* s) {
  return lamella::guarded([&] {
    text += std::string(s->name) + " " + s->backend + " " + s->dtype + " " + (s->values[0] ? s->values[0] : "-") + " " +
            std::to_string(s->count) + (s->sum >= s->max && s->min > 0 ? "\n" : " wrong\n");
    return LAMELLA_OK;
  });
}

lamella_status add_span(void*, const lamella_span* s) {
  return lamella::guarded([&] {
    text += std::string("span ") + s->name + " " + (s->values[1] ? s->values[1] : "-") + "\n";
    return LAMELLA_OK;
  });
}

}  // namespace

extern "C" const char* start(uint32_t capacity) {
  samples = static_cast<const lamella_samples*>(lamella::api().find_interface("samples", 1));
  if (!samples) return "no interface";
  static const char* const kinds[] = {"model", "request"};
  static const double bounds[] = {1e-5, 1e-3};
  lamella_sampling s{};
  s.size = sizeof s;
  s.capacity = capacity;
  s.probability = s.block_probability = 1;
  s.max_series = s.max_spans = 100;
  s.kinds = kinds;
  s.num_kinds = 2;
  s.num_series_kinds = 1;
  s.bounds = bounds;
  s.num_bounds = 2;
  if (!samples->open(&s, &collector)) return nullptr;
  text = lamella::api().error_message();
  lamella::api().error_clear();
  return text.c_str();
}

extern "C" const char* finish() {
  text.clear();
  samples->stop(collector);
  lamella_sample_counts n{};
  n.size = sizeof n;
  if (samples->drain(collector) || samples->each_series(collector, add_series, nullptr) ||
      samples->take_spans(collector, add_span, nullptr))
    return "failed";
  samples->counts(collector, &n);
  text += std::to_string(n.recorded) + " recorded\n";
  samples->close(collector, 0);
  return text.c_str();
}

LAMELLA_LIBRARY_FRAGMENT(gather, m) { (void)m; }
