// The layer "c10d": it stands inside autograd, on the storages in which a collective is or was under way. Before an
// operator it waits for the collectives that write what the operator reads, or that use what it writes.
#include <algorithm>
#include <numeric>

#include "operators.h"

namespace lamella::distributed {
namespace {

int32_t layer_bit = -1, slot_index = -1;

// The bytes of a storage that a tensor's elements span: runs of bytes, which begin at multiples of `step` from the first.
struct Range {
  int64_t begin, end;
  int64_t run, step;  // step 0: one run

  bool overlaps(const Range& o) const {
    if (begin >= o.end || o.begin >= end) return false;
    const int64_t common = std::gcd(step, o.step);
    if (!common) return true;
    const auto modulo = [&](int64_t n) { return (n % common + common) % common; };
    return modulo(o.begin - begin) < run || modulo(begin - o.begin) < o.run;  // as columns of a matrix do not
  }
  bool operator==(const Range& o) const { return begin == o.begin && end == o.end; }
};

Range range_of(const lamella_tensor* t) {
  const int64_t item = itemsize(t);
  int64_t first = 0, last = 0, run = item, step = 0;
  for (int i = t->dl.ndim - 1; i >= 0; i--) {
    const int64_t size = t->dl.shape[i], stride = t->dl.strides[i] * item;
    if (size == 0) return {0, 0, 0, 0};
    if (size == 1) continue;
    (stride < 0 ? first : last) += (size - 1) * stride;
    if (stride == run && !step)
      run *= size;
    else
      step = std::gcd(step, stride);
  }
  const int64_t begin = t->storage_offset * item;
  return {begin + first, begin + last + item, run, step};
}

// What is under way in a storage: the state of its slot, which stays until the storage goes.
class UnderWay {
 public:
  void add(Range range, const WorkRef& work, bool writes) {
    const std::lock_guard lock(mutex_);
    drop_ended();
    entries_.push_back({range, work, writes});
  }
  WorkRef last(Range range) {
    const std::lock_guard lock(mutex_);
    for (auto e = entries_.rbegin(); e != entries_.rend(); ++e)
      if (e->range == range) return e->work;
    return nullptr;
  }
  // Waits for what an operator that reads or writes the range has to wait for. Raises the error of a work that failed.
  void settle(Range range, bool writes) {
    std::vector<WorkRef> before;
    {
      const std::lock_guard lock(mutex_);
      for (const Entry& e : entries_)
        if ((writes || e.writes) && e.range.overlaps(range)) before.push_back(e.work);
    }
    if (before.empty()) return;
    struct Last {  // an error that is raised here is not raised by the next operator
      UnderWay& u;
      const std::vector<WorkRef>& seen;
      ~Last() {
        const std::lock_guard lock(u.mutex_);
        u.drop_ended(seen);
      }
    } last{*this, before};
    without_host_lock([&] {
      for (const WorkRef& work : before) work->wait(std::chrono::nanoseconds(-1));
    });
  }

 private:
  struct Entry {
    Range range;
    WorkRef work;
    bool writes;
  };
  // Drops what has ended well, and what has failed if it is among those that were waited for.
  void drop_ended(const std::vector<WorkRef>& seen = {}) {
    const auto drops = [&](const Entry& e) {
      return e.work->done() && (!e.work->failed() || std::find(seen.begin(), seen.end(), e.work) != seen.end());
    };
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), drops), entries_.end());
  }
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

UnderWay* under_way_in(const lamella_tensor* t) {
  return t->storage ? static_cast<UnderWay*>(api().storage_slot_get(t->storage, slot_index)) : nullptr;
}

lamella_status wait_first(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return guarded([&] {
    for (int i = 0; i < f->num_args; i++) {
      const uint32_t tag = args[i].tag;
      if (tag != LAMELLA_TENSOR && tag != LAMELLA_TENSOR_LIST) continue;
      const bool writes = api().operator_argument(f->op, i)->flags & (LAMELLA_ARGUMENT_WRITTEN | LAMELLA_ARGUMENT_OUT);
      if (tag == LAMELLA_TENSOR)
        settle(args[i].as.tensor, writes);
      else
        for (uint32_t k = 0; k < args[i].length; k++) settle(args[i].as.tensors[k], writes);
    }
    return api().redispatch(f, args, f->num_args, rets, f->num_rets);
  });
}

}  // namespace

void register_layer(Library& m) {
  lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = "c10d";
  layer.at = "autograd";
  static const char* const recorder[] = {"autograd", nullptr};
  layer.inside = recorder;
  layer.flags = LAMELLA_LAYER_FOLLOWS_ALIAS | LAMELLA_LAYER_INSIDE;
  layer.fallback = wait_first;
  m.layer(layer, &layer_bit);
  lamella_slot_type slot{};
  slot.size = sizeof slot;
  slot.name = "c10d.work";
  slot.destroy = [](void* state) { delete static_cast<UnderWay*>(state); };
  if (!m.status()) check(api().storage_slot(m.handle(), &slot, &slot_index));
}

uint64_t layer_mask() { return uint64_t{1} << layer_bit; }

void settle(const lamella_tensor* t, bool writes) {
  UnderWay* u = t ? under_way_in(t) : nullptr;
  if (!u) return;
  struct Kept {  // the storage, and its state, while other threads run
    lamella_storage* storage;
    explicit Kept(lamella_storage* s) : storage(s) { api().storage_retain(s); }
    ~Kept() { api().storage_release(storage); }
  } kept(t->storage);
  u->settle(range_of(t), writes);
}

void mark(const Tensor& t, const WorkRef& work, bool writes) {
  static std::mutex mutex;  // two threads may be the first on a storage
  const std::lock_guard lock(mutex);
  UnderWay* u = under_way_in(t.get());
  if (!u) {
    u = new UnderWay;
    check(api().storage_slot_set(t.get()->storage, slot_index, u));
    check(api().storage_add_sticky(t.get()->storage, layer_mask()));
  }
  u->add(range_of(t.get()), work, writes);
}

WorkRef work_of(const lamella_tensor* t) {
  UnderWay* u = under_way_in(t);
  return u ? u->last(range_of(t)) : WorkRef(nullptr);
}

}  // namespace lamella::distributed
