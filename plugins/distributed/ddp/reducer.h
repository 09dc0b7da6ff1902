// The gradients of a module's parameters, averaged over the ranks of a group while a backward computes them.
//
// Note [Buckets]  Gradients lie in buckets, which are reduced as wholes: a gradient is a view of its bucket. The first
//   backward uses buckets in the reverse order of the parameters; after it the buckets are made anew in the order in which
//   rank 0 computed the gradients. A bucket is reduced when all of its gradients are there and those before it have begun,
//   so that all ranks reduce in one order.
// Note [Unused parameters]  When a backward ends, gradients that it has not computed count as zeros. The ranks compare
//   which parameters were used, so that one that no rank has used keeps its gradient, or has none.
#pragma once

#include <lamella/autograd.h>
#include <lamella/distributed.h>
#include <lamella/library.h>
#include <lamella/tensor.h>

#include <string>
#include <vector>

namespace lamella::distributed {

struct BucketLimits {
  int64_t first, others;  // in bytes
};

// Returns the numbers of the tensors of each bucket, in the order in which they are reduced. Tensors of one bucket have one
// dtype and one device.
std::vector<std::vector<int>> divide_into_buckets(const std::vector<Tensor>& tensors, const std::vector<int>& order,
                                                  BucketLimits limits);

class Reducer {
 public:
  lamella_object object;

  static Reducer* make(std::vector<Tensor> leaves, const lamella_reducer_options& options);
  static Reducer& of(lamella_object* o);
  ~Reducer();
  Reducer(const Reducer&) = delete;

  // Whether the backwards from now on average gradients.
  void set_sync(bool on) { sync_ = on; }
  // Sets the factor by which each gradient is multiplied before the mean is taken.
  void set_factor(double factor) { factor_ = factor; }
  void set_hook(const lamella_bucket_hook& hook);
  // Takes part in the reductions of the other ranks' backward, with zeros.
  void shadow();
  int num_buckets() const { return static_cast<int>(buckets_.size()); }
  const Tensor& bucket(int i, const int32_t** leaves, int32_t* n) const;

 private:
  struct Bucket {
    std::vector<int32_t> leaves;
    Tensor gradients;
    int missing = 0;
  };
  struct Leaf {  // the context of a leaf's hook
    Reducer* reducer;
    int number;
    Tensor tensor, view;  // of a bucket
    int bucket = 0;
    uint64_t hook = 0;
    bool fired = false;
  };
  class Backward;

  Reducer(std::vector<Tensor> leaves, const lamella_reducer_options& options);
  static const lamella_object_type type;

  void add_hooks();
  void remove_hooks();
  void make_buckets(const std::vector<std::vector<int>>& leaves);
  void begin();
  void computed(Leaf& leaf);
  // Brings a leaf's gradient into its bucket; returns false if it has none.
  bool collect(Leaf& leaf);
  void start_full_buckets();
  void finish();
  void wait_for_works();
  void drop_works();
  void follow_order();

  std::string group_;
  BucketLimits limits_;
  bool waits_ = false;  // buckets are reduced when the backward has ended, and by its thread
  bool sync_ = true, running_ = false, ordered_ = false;
  double factor_ = 1;
  lamella_bucket_hook hook_{};
  std::vector<Leaf> leaves_;
  std::vector<Bucket> buckets_;
  std::vector<int> order_;  // of the gradients of this backward
  size_t started_ = 0;      // buckets
  std::vector<int64_t> works_;
};

}  // namespace lamella::distributed
