#include "ddp/reducer.h"

#include <lamella/function.h>
#include <lamella/operators.h>
#include <lamella/typed_call.h>

#include <sched.h>

#include <algorithm>
#include <cstring>

#include <numeric>

#include "group/group.h"
#include "operators.h"

namespace lamella::distributed {
namespace {

const lamella_autograd& autograd() {
  const lamella_autograd* found = Tensor::autograd();
  LAMELLA_CHECK(found, "Reducer: the plugin 'autograd' is not loaded, so that there are no gradients to average");
  return *found;
}

Tensor grad_of(const Tensor& leaf) {
  lamella_tensor* grad = nullptr;
  check(autograd().grad(leaf.get(), &grad));
  return Tensor::steal(grad);
}

// Collectives that the caller waits for itself; the profiler and all layers see them.
int64_t start_all_reduce(const Tensor& t, std::string_view op, const std::string& group) {
  static const Operator<int64_t(const Tensor&, std::string_view, std::string_view)> start("c10d::start_all_reduce");
  return start(t, op, group);
}
void all_reduce(const Tensor& t, std::string_view op, const std::string& group) {
  static const Operator<Tensor(const Tensor&, std::string_view, std::string_view)> reduce("c10d::all_reduce_");
  reduce(t, op, group);
}
void finish_work(int64_t work) {
  static const Operator<void(int64_t)> finish("c10d::finish");
  finish(work);
}

constexpr int64_t alignment = 64;  // of gradients in a bucket, in bytes

}  // namespace

const lamella_object_type Reducer::type = {sizeof type, 0, "Reducer",
                                           [](lamella_object* o) { delete reinterpret_cast<Reducer*>(o); }};

Reducer* Reducer::make(std::vector<Tensor> leaves, const lamella_reducer_options& options) {
  return new Reducer(std::move(leaves), options);
}

Reducer& Reducer::of(lamella_object* o) {
  LAMELLA_CHECK_TYPE(o->type == &type, "expected a Reducer, got a ", o->type->name);
  return *reinterpret_cast<Reducer*>(o);
}

Reducer::Reducer(std::vector<Tensor> leaves, const lamella_reducer_options& o)
    : object{1, &type}, group_(o.group), limits_{o.first_bucket_bytes, o.bucket_bytes}, leaves_(leaves.size()) {
  for (size_t i = 0; i < leaves.size(); i++) {
    const Tensor& t = leaves[i];
    LAMELLA_CHECK_VALUE(t.requires_grad() && t.is_leaf(), "Reducer: tensor ", i, " is no leaf that requires grad");
    leaves_[i].reducer = this;
    leaves_[i].number = static_cast<int>(i);
    leaves_[i].tensor = t;
  }
  std::vector<int> order(leaves.size());
  std::iota(order.rbegin(), order.rend(), 0);
  make_buckets(divide_into_buckets(leaves, order, limits_));
  // With as many computing threads as processors, a thread that reduces beside backward takes one from it.
  const auto group = Group::find(group_);
  cpu_set_t processors;
  CPU_ZERO(&processors);
  const bool known = ::sched_getaffinity(0, sizeof processors, &processors) == 0;
  waits_ = known && group->shares_memory() && group->size() * api().num_threads() >= CPU_COUNT(&processors);
  try {
    add_hooks();
  } catch (...) {
    remove_hooks();
    throw;
  }
}

void Reducer::add_hooks() {
  for (Leaf& leaf : leaves_) {
    lamella_node* node = nullptr;
    uint32_t output = 0;
    check(autograd().edge(leaf.tensor.get(), &node, &output));
    lamella_hook hook{};
    hook.size = sizeof hook;
    hook.kind = LAMELLA_HOOK_ACCUMULATED;
    hook.context = &leaf;
    hook.run = [](void* context, lamella_tensor**, int32_t, lamella_tensor* const*, int32_t) {
      auto* of = static_cast<Leaf*>(context);
      return guarded([&] { return of->reducer->computed(*of), LAMELLA_OK; });
    };
    const lamella_status status = autograd().hook_add(node, output, &hook, &leaf.hook);
    autograd().node_release(node);
    check(status);
  }
}

void Reducer::remove_hooks() {
  for (const Leaf& leaf : leaves_)
    if (leaf.hook) autograd().hook_remove(leaf.hook);
}

Reducer::~Reducer() {
  remove_hooks();
  if (hook_.destroy) hook_.destroy(hook_.context);
}

void Reducer::set_hook(const lamella_bucket_hook& hook) {
  LAMELLA_CHECK(!hook_.begin, "register_comm_hook: there is a hook already, and it can be set once");
  std::memcpy(&hook_, &hook, std::min<size_t>(hook.size, sizeof hook_));
}

const Tensor& Reducer::bucket(int i, const int32_t** leaves, int32_t* n) const {
  LAMELLA_CHECK_VALUE(i >= 0 && i < num_buckets(), "argument 'bucket': expected a number from 0 to ", num_buckets() - 1,
                      ", got ", i);
  const Bucket& b = buckets_[static_cast<size_t>(i)];
  *leaves = b.leaves.data();
  *n = static_cast<int32_t>(b.leaves.size());
  return b.gradients;
}

// Gradients that were in other buckets before move. If memory cannot be had, the buckets stay as they were.
void Reducer::make_buckets(const std::vector<std::vector<int>>& leaves) {
  const NoGradGuard off;
  std::vector<Bucket> made;
  std::vector<Tensor> views(leaves_.size());
  for (const std::vector<int>& of_bucket : leaves) {
    Bucket& b = made.emplace_back();
    b.leaves.assign(of_bucket.begin(), of_bucket.end());
    const Tensor& first = leaves_[static_cast<size_t>(of_bucket[0])].tensor;
    const int64_t step = alignment / first.itemsize();
    int64_t n = 0;
    std::vector<int64_t> begins;
    for (const int i : of_bucket) {
      begins.push_back(n);
      n += (leaves_[static_cast<size_t>(i)].tensor.numel() + step - 1) / step * step;
    }
    if (first.is_cpu())
      b.gradients = Group::find(group_)->window(n * first.itemsize()).view(first.dtype());
    else
      b.gradients = lamella::zeros({n}, TensorOptions().dtype(first.dtype()).device(first.device()));
    for (size_t k = 0; k < of_bucket.size(); k++) {
      const auto i = static_cast<size_t>(of_bucket[k]);
      const Tensor& t = leaves_[i].tensor;
      if (t.get()->flags & LAMELLA_DENSE)
        views[i] = b.gradients.as_strided(t.sizes(), t.strides(), begins[k]);
      else
        views[i] = b.gradients.narrow(0, begins[k], t.numel()).view(t.sizes());
    }
  }
  buckets_ = std::move(made);
  for (size_t b = 0; b < buckets_.size(); b++)
    for (const int32_t i : buckets_[b].leaves) {
      Leaf& leaf = leaves_[static_cast<size_t>(i)];
      leaf.bucket = static_cast<int>(b);
      leaf.view = std::move(views[static_cast<size_t>(i)]);
      collect(leaf);
    }
}

bool Reducer::collect(Leaf& leaf) {
  const Tensor grad = grad_of(leaf.tensor);
  if (!grad.defined()) return false;
  LAMELLA_CHECK(!grad.is_opaque(), "DistributedDataParallel: the gradient of parameter ", leaf.number,
                " is no dense tensor; give its module a dense gradient, as Embedding(sparse=False) does");
  if (grad.get()->storage == leaf.view.get()->storage && grad.storage_offset() == leaf.view.storage_offset())
    return true;
  const NoGradGuard off;
  leaf.view.copy_(grad);
  check(autograd().set_grad(leaf.tensor.get(), leaf.view.get()));
  return true;
}

// The context of the callback that a backward queues. Autograd calls `end` when the backward has ended, and frees the
// context without that call if the backward has failed.
class Reducer::Backward {
 public:
  explicit Backward(Reducer* r) : reducer_(r) { api().retain(r); }
  ~Backward() {
    if (!ended_) {
      lamella_object* pending = api().error_take();  // the backward's error, which the store's must not replace
      reducer_->running_ = false;
      reducer_->drop_works();
      try {
        Group::find(reducer_->group_)->give_up("a backward has failed on this rank");
      } catch (const Error&) {  // the group has gone
      }
      if (pending) (void)api().error_restore(pending);
    }
    api().release(reducer_);
  }
  static lamella_status end(void* context) {
    auto* b = static_cast<Backward*>(context);
    const lamella_status status = guarded([&] { return b->reducer_->finish(), LAMELLA_OK; });
    b->ended_ = status == LAMELLA_OK;  // else the others wait for what this rank does not do
    return status;
  }

 private:
  Reducer* reducer_;
  bool ended_ = false;
};

void Reducer::begin() {
  running_ = true;
  started_ = 0;
  order_.clear();
  for (Leaf& leaf : leaves_) leaf.fired = false;
  for (Bucket& b : buckets_) b.missing = static_cast<int>(b.leaves.size());
}

void Reducer::computed(Leaf& leaf) {
  if (!sync_) return;
  if (!running_) {
    auto* backward = new Backward(this);
    check(autograd().queue_callback(Backward::end, backward, [](void* b) { delete static_cast<Backward*>(b); }));
    begin();
  }
  LAMELLA_CHECK(!leaf.fired, "DistributedDataParallel: a backward has computed the gradient of parameter ", leaf.number,
                " twice, as one that runs inside of another does");
  leaf.fired = true;
  order_.push_back(leaf.number);
  if (!collect(leaf)) leaf.view.zero_();  // another hook has taken it away
  buckets_[static_cast<size_t>(leaf.bucket)].missing--;
  if (!waits_ || hook_.begin) start_full_buckets();
}

void Reducer::start_full_buckets() {
  const NoGradGuard off;
  for (; started_ < buckets_.size() && !buckets_[started_].missing; started_++) {
    Bucket& b = buckets_[started_];
    if (factor_ != 1) b.gradients.mul_(Scalar(factor_));
    const bool last = started_ + 1 == buckets_.size();
    if (hook_.begin)
      check(hook_.begin(hook_.context, static_cast<int32_t>(started_), last, b.gradients.get()));
    else if (waits_)
      all_reduce(b.gradients, "avg", group_);
    else
      works_.push_back(start_all_reduce(b.gradients, "avg", group_));
  }
}

void Reducer::finish() {
  struct Done {
    bool& running;
    ~Done() { running = false; }
  } done{running_};
  const NoGradGuard off;
  const Tensor used = lamella::zeros({static_cast<int64_t>(leaves_.size())}, kByte);
  auto* const uses = static_cast<uint8_t*>(used.data_ptr());
  for (Leaf& leaf : leaves_) {
    uses[leaf.number] = leaf.fired || collect(leaf);
    if (leaf.fired) continue;
    if (!uses[leaf.number]) leaf.view.zero_();
    buckets_[static_cast<size_t>(leaf.bucket)].missing--;
  }
  start_full_buckets();
  if (waits_)
    all_reduce(used, "max", group_);
  else
    works_.push_back(start_all_reduce(used, "max", group_));
  for (size_t i = 0; hook_.end && i < buckets_.size(); i++)
    check(hook_.end(hook_.context, static_cast<int32_t>(i), buckets_[i].gradients.get()));
  wait_for_works();
  for (Leaf& leaf : leaves_)
    if (uses[leaf.number] && !grad_of(leaf.tensor).defined())
      check(autograd().set_grad(leaf.tensor.get(), leaf.view.get()));
  if (!std::exchange(ordered_, true)) follow_order();
}

void Reducer::wait_for_works() {
  for (; !works_.empty(); works_.erase(works_.begin())) finish_work(works_.front());
}

// Forgets the works that go on when a backward fails. What they read and write is theirs.
void Reducer::drop_works() {
  for (const int64_t work : std::exchange(works_, {})) drop_work(work);
}

// Makes the buckets anew, in the order in which rank 0 has computed the gradients.
void Reducer::follow_order() {
  const Tensor order = lamella::zeros({static_cast<int64_t>(leaves_.size())}, kLong);
  auto* const numbers = static_cast<int64_t*>(order.data_ptr());
  std::copy(order_.begin(), order_.end(), numbers);
  size_t n = order_.size();
  for (const Leaf& leaf : leaves_)
    if (!leaf.fired) numbers[n++] = leaf.number;
  static const Operator<Tensor(const Tensor&, int64_t, std::string_view)> broadcast("c10d::broadcast_");
  broadcast(order, 0, group_);
  std::vector<Tensor> tensors;
  for (const Leaf& leaf : leaves_) tensors.push_back(leaf.tensor);
  const auto divided = divide_into_buckets(tensors, std::vector<int>(numbers, numbers + n), limits_);
  const bool equal = std::equal(divided.begin(), divided.end(), buckets_.begin(), buckets_.end(),
                                [](const std::vector<int>& a, const Bucket& b) {
                                  return std::equal(a.begin(), a.end(), b.leaves.begin(), b.leaves.end());
                                });
  if (!equal) make_buckets(divided);
}

void Reducer::shadow() {
  LAMELLA_CHECK(!running_, "Reducer: a backward runs");
  begin();
  for (Leaf& leaf : leaves_) check(autograd().set_grad(leaf.tensor.get(), nullptr));
  finish();
}

}  // namespace lamella::distributed
