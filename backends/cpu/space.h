// Memory for the duration of a kernel, or of a part of it on one thread: up to 8 KiB lie in the object itself, more
// comes from the host's pool.
#pragma once

#include <lamella/library.h>

namespace lamella::cpu {

class Space {
 public:
  lamella_status take(int64_t bytes) {
    data_ = little_;
    if (bytes <= static_cast<int64_t>(sizeof little_)) return LAMELLA_OK;
    static const lamella_device host = [] {
      int32_t id = 0;
      api().find_backend("cpu", &id);
      return lamella_device{id, 0};
    }();
    lamella_tensor* raw = nullptr;
    lamella_status st = api().tensor_empty(1, &bytes, nullptr, LAMELLA_UINT8, host, &raw);
    if (st) return st;
    tensor_ = TensorRef::steal(raw);
    data_ = tensor_.data<char>();
    return LAMELLA_OK;
  }
  // Takes memory that will be written in no order. The system clears a new page at its first write, which takes long
  // for a large page: a loop that meets many new pages would check for interrupts late. So this function writes one
  // byte in each whole run of 2 MiB, the size of a large page.
  lamella_status take_touched(int64_t bytes) {
    if (lamella_status st = take(bytes)) return st;
    constexpr int64_t page = 2 << 20;
    return parallel_for(0, bytes / page, 1, [&](int64_t b, int64_t e) -> lamella_status {
      for (int64_t k = b; k < e; k++) *static_cast<volatile char*>(data_ + k * page + page - 1) = 0;
      return LAMELLA_OK;
    });
  }
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  TensorRef tensor_;
  alignas(64) char little_[8192];
};

}  // namespace lamella::cpu
