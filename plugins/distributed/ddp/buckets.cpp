// How tensors are divided into buckets.
#include <algorithm>
#include <map>

#include "ddp/reducer.h"

namespace lamella::distributed {

std::vector<std::vector<int>> divide_into_buckets(const std::vector<Tensor>& tensors, const std::vector<int>& order,
                                                  BucketLimits limits) {
  struct Open {
    std::vector<int> tensors;
    int64_t bytes = 0;
    size_t since = 0;  // its place in the order
    bool first = true;
  };
  std::map<std::string, Open> open;
  std::vector<std::vector<int>> full;
  for (size_t place = 0; place < order.size(); place++) {
    const Tensor& t = tensors[static_cast<size_t>(order[place])];
    Open& bucket = open[detail::text(t.dtype(), " ", t.device())];
    if (bucket.tensors.empty()) bucket.since = place;
    bucket.tensors.push_back(order[place]);
    bucket.bytes += t.numel() * t.itemsize();
    if (bucket.bytes < (bucket.first ? limits.first : limits.others)) continue;
    full.push_back(std::exchange(bucket.tensors, {}));
    bucket.bytes = 0;
    bucket.first = false;
  }
  std::vector<Open> rest;
  for (auto& [key, bucket] : open)
    if (!bucket.tensors.empty()) rest.push_back(bucket);
  std::sort(rest.begin(), rest.end(), [](const Open& a, const Open& b) { return a.since < b.since; });
  for (Open& bucket : rest) full.push_back(std::move(bucket.tensors));
  return full;
}

}  // namespace lamella::distributed
