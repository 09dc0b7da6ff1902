/* Samples of calls, gathered into histograms and spans: the interface "samples", version 1, of the plugin "profiler",
 * for programs that export them to a system that watches a fleet. Python's lamella.profiler.exporters is made of it.
 *
 * The interface is found as find_interface("samples", 1). The promises of docs/abi.md for the table hold for this file.
 *
 * Note [Queue]  A thread writes its samples into a queue of fixed size, without a lock; if that is full, the sample is
 *   dropped and counted. `drain` moves samples from there into the histograms. It is called now and then, on any
 *   thread, and so are the functions that read; no call of an operator ever waits for them.
 * Note [Time]  Durations are those of the host: for a device that works while the host goes on, the time to queue the
 *   work. */
#ifndef LAMELLA_SAMPLED_CALLS_H
#define LAMELLA_SAMPLED_CALLS_H

#include <lamella/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The settings of a collector. Copied. */
typedef struct {
  uint32_t size;
  uint32_t capacity;        /* of the queue, in samples of 320 bytes; rounded up to a power of 2, at least 2 */
  double probability;       /* of operators and steps of backward; 0: none */
  double block_probability; /* of named blocks; 0: none */
  uint32_t max_series;      /* samples that need a further one are dropped */
  uint32_t max_spans;       /* that are kept until they are taken; 0: no spans */
  const char* const* kinds; /* of debug information, at most 8; their values go to the samples: of n kinds each has
                             * 128/n bytes, of which 2 are no part of the value; a longer value is cut */
  const double* bounds;     /* of the histograms' buckets, in seconds, ascending; each belongs to the bucket below it */
  uint32_t num_kinds, num_bounds;
  uint32_t num_series_kinds; /* how many kinds, from the first on, distinguish series; spans have all */
  uint32_t reserved;
} lamella_sampling;

/* One histogram. Borrowed. */
typedef struct {
  uint32_t size;
  uint32_t scope;            /* enum lamella_scope of <lamella/profiler.h> */
  const char* name;          /* "aten::add", "MulBackward0", or the name of a block */
  const char* backend;       /* of the first tensor, or empty */
  const char* dtype;         /* of the first tensor, or empty */
  const char* const* values; /* as many as num_series_kinds; null: there was none */
  uint64_t count;
  double sum, min, max;    /* seconds */
  const uint64_t* buckets; /* one more than there are bounds */
} lamella_series;

/* One sample. Borrowed. */
typedef struct {
  uint32_t size;
  uint32_t scope;
  const char *name, *backend, *dtype;
  const char* const* values;
  uint64_t begin;    /* nanoseconds since 1970 */
  uint64_t duration; /* nanoseconds */
  uint64_t id;       /* of this sample in the process */
  uint64_t parent;   /* the id of the innermost sample around it, on its thread or in its host's context; or 0 */
  uint64_t root;     /* the id of the outermost sample around it */
  uint64_t thread;   /* the system's number */
} lamella_span;

/* Since the collector was opened. */
typedef struct {
  uint32_t size;
  uint64_t recorded; /* samples that were put into the queue */
  uint64_t queue;    /* dropped: the queue was full */
  uint64_t series;   /* dropped: it would have made one series more than max_series */
  uint64_t spans;    /* spans of recorded samples, dropped because earlier ones were not taken */
} lamella_sample_counts;

typedef struct lamella_collector lamella_collector;

typedef struct {
  uint32_t size;
  /* Begins to sample, on all threads. */
  lamella_status (*open)(const lamella_sampling*, lamella_collector** out);
  /* Ends sampling; samples in the queue stay. A second call does nothing. */
  void (*stop)(lamella_collector*);
  lamella_status (*drain)(lamella_collector*);
  lamella_status (*each_series)(lamella_collector*, lamella_status (*visit)(void* context, const lamella_series*),
                                void* context);
  /* Visits the drained spans that were not taken yet, the oldest first. */
  lamella_status (*take_spans)(lamella_collector*, lamella_status (*visit)(void* context, const lamella_span*),
                               void* context);
  void (*counts)(lamella_collector*, lamella_sample_counts* out); /* out->size is set by the caller */
  /* Stops the collector and frees it. Only a child of fork sets `leak`, for its parent's collector, which another
   * thread may have been using: then it is not freed. */
  void (*close)(lamella_collector*, int32_t leak);
} lamella_samples;

#ifdef __cplusplus
}
#endif
#endif
