#include "operators/sharing.h"

#include <algorithm>
#include <vector>

namespace lamella::operators {
namespace {

bool same_geometry(const lamella_tensor* a, const lamella_tensor* b) {
  if (a->dl.data != b->dl.data || a->dtype != b->dtype || a->dl.ndim != b->dl.ndim) return false;
  for (int d = 0; d < a->dl.ndim; d++)
    if (a->dl.shape[d] != b->dl.shape[d] || (a->dl.strides[d] != b->dl.strides[d] && a->dl.shape[d] > 1)) return false;
  return true;
}

// Calls f with the address of every element.
template <class F>
void each_address(const lamella_tensor* t, F f) {
  const int n = t->dl.ndim;
  const int64_t item = item_of(t);
  std::vector<int64_t> at(n, 0);
  const char* address = static_cast<const char*>(t->dl.data);
  for (int64_t i = 0; i < t->numel; i++) {
    f(address);
    for (int d = n - 1; d >= 0; d--) {
      address += t->dl.strides[d] * item;
      if (++at[d] < t->dl.shape[d]) break;
      address -= t->dl.shape[d] * t->dl.strides[d] * item;
      at[d] = 0;
    }
  }
}

bool is_dense(const lamella_tensor* t, const Span& span) { return span.end - span.begin == t->numel * item_of(t); }

}  // namespace

Sharing sharing_where_met(const lamella_tensor* a, const lamella_tensor* b) {
  if (same_geometry(a, b)) return Sharing::everything;
  const Span x = span_of(a), y = span_of(b);
  if (is_dense(a, x) && is_dense(b, y)) return Sharing::something;
  const char *begin = std::max(x.begin, y.begin), *end = std::min(x.end, y.end);
  std::vector<bool> used(end - begin);  // for each byte in both spans: whether it belongs to an element of `a`
  each_address(a, [&](const char* at) {
    for (const char* p = std::max(at, begin); p < std::min(at + item_of(a), end); p++) used[p - begin] = true;
  });
  bool shared = false;
  each_address(b, [&](const char* at) {
    for (const char* p = std::max(at, begin); p < std::min(at + item_of(b), end); p++) shared |= used[p - begin];
  });
  return shared ? Sharing::something : Sharing::nothing;
}

Sharing sharing(const lamella_tensor* a, const lamella_tensor* b) {
  const bool together = a->dl.device.device_type == b->dl.device.device_type &&
                        a->dl.device.device_id == b->dl.device.device_id && span_of(a).meets(span_of(b));
  return together ? sharing_where_met(a, b) : Sharing::nothing;
}

}  // namespace lamella::operators
