// The kinds of collectives: their names, and what they have in common.
#pragma once

#include "group/work.h"
#include "store/store.h"

namespace lamella::distributed {

[[noreturn]] inline void raise_backend(const std::string& message) { throw Error(errors.backend, message); }

inline const char* kind_name(int kind) {
  static const char* const names[] = {"all_reduce",     "reduce",     "broadcast", "all_gather", "gather", "scatter",
                                      "reduce_scatter", "all_to_all", "send",      "recv",       "barrier"};
  return names[kind];
}
inline const char* reduction_name(const Job& job) {
  static const char* const names[] = {"sum", "product", "min", "max", "band", "bor", "bxor"};
  return job.mean ? "avg" : names[job.collective.reduction];
}
inline bool reduces(int kind) {
  return kind == LAMELLA_ALL_REDUCE || kind == LAMELLA_REDUCE || kind == LAMELLA_REDUCE_SCATTER;
}
inline bool has_root(int kind) {
  return kind == LAMELLA_REDUCE || kind == LAMELLA_BROADCAST || kind == LAMELLA_GATHER || kind == LAMELLA_SCATTER;
}

inline bool is_message(int kind) { return kind == LAMELLA_SEND || kind == LAMELLA_RECV; }

}  // namespace lamella::distributed
