// Records: what observers are told of one call, one step of backward or one named block, from its begin to its end.
#pragma once

#include <string>

#include "observe/thread.h"

namespace lamella::profiler {

struct Record {
  lamella_record shared{};  // what observers see
  Record* outer = nullptr;  // the innermost observed one around it

  Record() = default;
  Record(const Record&) = delete;
  virtual ~Record() = default;
  virtual bool left() const { return false; }  // whether it has ended elsewhere, and is only linked here still
  virtual void unlinked() {}                   // its thread does not know it any more
  // The name, to be kept for longer than the record lives; null where it lives as long as the process.
  virtual std::shared_ptr<const std::string> kept_name() const { return nullptr; }
  void hold();                                 // its observers, whose list goes

  struct Running {
    Observer* observer;
    void* state;
  };
  static constexpr int few = 3;
  int running = 0;
  Running first[few];
  std::vector<Running> more;
  std::vector<Held> held;  // by `hold`
};

// Takes a record out of this thread's open ones; what is open within it has another one around it then.
void unlink(Thread&, Record&);

// The kernels of the two layers, for every operator.
template <int S>
lamella_status observe(lamella_frame*, const lamella_value* args, lamella_value* rets);

// Has an observer that hears of steps of backward hear of them.
lamella_status follow_nodes(Observer&);
// Has calls that autograd records numbered, for whichever observers need it.
lamella_status follow_recorded(lamella_handle* subscription);

lamella_status scope_begin(const char* name, void** scope);
void scope_end(void* scope);

}  // namespace lamella::profiler
