// Walks over the graph of one call, by the interface of the plugin that differentiates.
#pragma once

#include <vector>

#include "level.h"

namespace lamella::transforms {

// While it lives, autograd records the calls of this thread.
class WithGrad {
 public:
  WithGrad() : thread_(api().thread()), exclude_(thread_->exclude) { thread_->exclude &= ~autograd_bit(); }
  ~WithGrad() { thread_->exclude = exclude_; }
  WithGrad(const WithGrad&) = delete;

 private:
  lamella_thread* thread_;
  uint64_t exclude_;
};

// While it lives, the calls of this thread save tensors without the program's hooks, such as those of a checkpoint, which
// expect the calls of the program alone.
class WithoutSavedHooks {
 public:
  WithoutSavedHooks() : hooks_(static_cast<const Hooks*>(api().find_interface("autograd.saved_hooks", 1))) {
    if (hooks_) were_on_ = hooks_->suspend(1);
  }
  ~WithoutSavedHooks() {
    if (were_on_) hooks_->suspend(0);
  }
  WithoutSavedHooks(const WithoutSavedHooks&) = delete;

 private:
  struct Hooks {  // as plugins/autograd/plugin.cpp has it
    int32_t (*suspend)(int32_t on);
  };
  const Hooks* hooks_;
  int32_t were_on_ = 0;
};

// Returns gradients of the inputs; undefined where no root depends on an input.
inline std::vector<Tensor> gradients(const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                                     const std::vector<Tensor>& inputs, bool retain, bool create) {
  const auto pointers = [](const std::vector<Tensor>& tensors) {
    std::vector<lamella_tensor*> all;
    for (const Tensor& t : tensors) all.push_back(t.get());
    return all;
  };
  std::vector<lamella_tensor*> made(inputs.size(), nullptr);
  const uint32_t flags =
      (retain || create ? LAMELLA_BACKWARD_RETAIN_GRAPH : 0) | (create ? LAMELLA_BACKWARD_CREATE_GRAPH : 0);
  check(Tensor::autograd()->backward(pointers(roots).data(), pointers(grads).data(), static_cast<int32_t>(roots.size()),
                                     pointers(inputs).data(), static_cast<int32_t>(inputs.size()), made.data(), flags));
  std::vector<Tensor> all;
  for (lamella_tensor* t : made) all.push_back(t ? Tensor::steal(t) : Tensor());
  return all;
}

inline bool requires_grad(const Tensor& t) {
  const lamella_autograd* a = Tensor::autograd();
  return a && t.defined() && a->requires_grad(t.get());
}

}  // namespace lamella::transforms
