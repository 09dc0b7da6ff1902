// Memory of the host's pool for as long as a kernel, or a part of it on one thread, works.
#pragma once

#include <lattis/extension.h>

namespace lattis::cpu {

class Space {
 public:
  lattis_status take(int64_t bytes) {
    static const lattis_device host = [] {
      int32_t id = 0;
      api().find_backend("cpu", &id);
      return lattis_device{id, 0};
    }();
    lattis_tensor* raw = nullptr;
    lattis_status st = api().tensor_empty(1, &bytes, nullptr, LATTIS_UINT8, host, &raw);
    if (!st) tensor_ = Tensor::steal(raw);
    return st;
  }
  char* data() const { return tensor_ ? tensor_.data<char>() : nullptr; }

 private:
  Tensor tensor_;
};

}  // namespace lattis::cpu
