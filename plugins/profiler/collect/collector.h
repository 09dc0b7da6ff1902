// Collector: up to two observers write samples into its queue; drain() adds them to histograms and, if wanted, spans.
#pragma once

#include <lamella/profiler.h>
#include <lamella/sampled_calls.h>

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/queue.h"

namespace lamella::profiler {

// The state of a call, a step of backward or a block from its begin to its end, while it is sampled.
struct OpenSample {
  uint64_t begin, id, parent, root;
};

// The ids of the sample around another one. No sample has the id 0.
struct Parent {
  uint64_t id = 0, root = 0;
};

class Collector {
 public:
  const uint64_t number;  // unique in the process
  explicit Collector(const lamella_sampling&);
  Collector(const Collector&) = delete;

  // Called by the observers, on the threads that run operators.
  OpenSample* begin(Parent);  // null if memory is lacking
  void end(const lamella_record&, const OpenSample*);

  // Called by readers, one at a time.
  void drain();
  lamella_status each_series(lamella_status (*visit)(void*, const lamella_series*), void* context);
  lamella_status take_spans(lamella_status (*visit)(void*, const lamella_span*), void* context);
  lamella_sample_counts counts();

 private:
  struct Series {
    uint64_t count = 0;
    double sum = 0, min = 0, max = 0;
    std::vector<uint64_t> buckets;
  };
  void write(Sample&, const lamella_record&) const;
  void add(const Sample&, int64_t offset);
  void add_to_series(const Sample&);

  std::vector<std::string> kinds_;
  const size_t series_kinds_;   // the first `series_kinds_` kinds distinguish series
  std::vector<double> bounds_;  // nanoseconds
  const uint32_t max_series_, max_spans_;
  Queue queue_;
  std::atomic<uint64_t> full_{0};

  std::mutex mutex_;                                // guards the members below
  std::unordered_map<std::string, Series> series_;  // key: the scope as a digit, then Sample::text to key_length
  std::vector<Sample> spans_;
  uint64_t lost_series_ = 0, lost_spans_ = 0;
};

extern const lamella_samples samples_table;

}  // namespace lamella::profiler
