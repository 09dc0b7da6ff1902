// Plans: the advice of a library for a problem, requested once and kept for all threads.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <unordered_map>

namespace cuda {

// A Problem is a struct of numbers with ==. A new plan beyond `most` of them drops all earlier ones.
template <class Problem, class Plan>
class Plans {
 public:
  // Returns the problem's plan, or null.
  std::shared_ptr<Plan> find(const Problem& problem) {
    std::lock_guard lock(mutex_);
    const auto at = made_.find(problem);
    return at == made_.end() ? nullptr : at->second;
  }
  // Keeps a plan and returns it. If another thread has kept a plan of the problem meanwhile, returns that plan instead.
  std::shared_ptr<Plan> keep(const Problem& problem, std::shared_ptr<Plan> plan) {
    std::lock_guard lock(mutex_);
    if (made_.size() >= most) made_.clear();
    return made_.emplace(problem, std::move(plan)).first->second;
  }
  template <class Visit>
  void each(Visit visit) {
    std::lock_guard lock(mutex_);
    for (const auto& [problem, plan] : made_) visit(problem, *plan);
  }

 private:
  static_assert(std::has_unique_object_representations_v<Problem>, "its bytes are hashed");
  struct Hash {
    size_t operator()(const Problem& p) const {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(&p), sizeof p});
    }
  };
  static constexpr size_t most = 8192;
  std::mutex mutex_;
  std::unordered_map<Problem, std::shared_ptr<Plan>, Hash> made_;
};

}  // namespace cuda
