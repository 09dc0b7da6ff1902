// A collector: two observers that write samples into a queue, and the histograms and spans that they become.
#pragma once

#include <lamella/profiler.h>
#include <lamella/samples.h>

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/queue.h"

namespace lamella::profiler {

// A sample of what runs: of a call, a step of backward or a block.
struct OpenSample {
  uint64_t begin, id, parent, root;
};

// The sample around another one; no sample has the id 0.
struct Around {
  uint64_t id = 0, root = 0;
};

class Collector {
 public:
  const uint64_t number;  // in the process
  explicit Collector(const lamella_sampling&);
  Collector(const Collector&) = delete;

  // The observers' side: on the threads that run operators.
  OpenSample* begin(Around);  // null: no memory
  void end(const lamella_record&, const OpenSample*);

  // The readers' side: one at a time.
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
  const size_t series_kinds_;   // the first of them
  std::vector<double> bounds_;  // nanoseconds
  const uint32_t max_series_, max_spans_;
  Queue queue_;
  std::atomic<uint64_t> full_{0};

  std::mutex mutex_;                                // of what follows
  std::unordered_map<std::string, Series> series_;  // by the scope's digit and the texts
  std::vector<Sample> spans_;
  uint64_t lost_series_ = 0, lost_spans_ = 0;
};

extern const lamella_samples samples_table;

}  // namespace lamella::profiler
