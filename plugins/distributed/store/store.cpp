// The table of stores for C, what kinds of stores share, and the two stores within a process.

#include "store/store.h"

#include <charconv>
#include <condition_variable>
#include <mutex>

#include "store/values.h"

namespace lamella::distributed {

ErrorKinds errors;

void register_errors(Library& m) {
  m.error_kind("DistError", LAMELLA_RUNTIME_ERROR, &errors.dist);
  m.error_kind("DistBackendError", errors.dist, &errors.backend);
  m.error_kind("DistNetworkError", errors.dist, &errors.network);
  m.error_kind("DistStoreError", errors.dist, &errors.store);
}

Clock::time_point deadline_after(std::chrono::nanoseconds limit) {
  const auto now = Clock::now();
  return limit.count() < 0 || limit > Clock::time_point::max() - now ? Clock::time_point::max() : now + limit;
}

void raise_absent(const Keys& absent, std::chrono::nanoseconds limit) {
  std::string names;
  for (size_t i = 0; i < absent.size() && i < 8; i++) names += (i ? ", '" : "'") + absent[i] + "'";
  if (absent.size() > 8) names += ", …";
  throw Error(errors.store,
              detail::text("store: wait timeout after ",
                           std::chrono::duration_cast<std::chrono::milliseconds>(limit).count(), "ms, keys: ", names,
                           " were not set; a process that should set them has not "
                           "come, or has ended"));
}

int64_t number_in(const std::string& key, std::string_view value) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc() || end != value.data() + value.size())
    throw Error(LAMELLA_VALUE_ERROR, "store: add: key '" + key + "' holds bytes that are no whole number");
  return n;
}

namespace {

Store& store_of(lamella_store* s) { return *static_cast<Store*>(s); }
std::chrono::nanoseconds limit_of(int64_t ns) { return std::chrono::nanoseconds(ns); }
std::string_view bytes_of(const void* data, int64_t n) {
  return {static_cast<const char*>(data), static_cast<size_t>(n)};
}
lamella_status give(const std::string& bytes, lamella_value* out) {
  LAMELLA_CHECK_VALUE(bytes.size() < UINT32_MAX, "store: a value of ", bytes.size(), " bytes is too long");
  lamella_value v{LAMELLA_STRING, static_cast<uint32_t>(bytes.size()), {0}};
  v.as.string = bytes.c_str();
  return api().value_retain(&v, out);
}
Keys keys_of(const char* const* keys, int32_t n) { return Keys(keys, keys + n); }

const lamella_store_table store_table = {
    sizeof store_table,
    0,
    [](lamella_store* s, const char* key, const void* value, int64_t bytes) {
      return guarded([&] { return store_of(s).set(key, bytes_of(value, bytes)), LAMELLA_OK; });
    },
    [](lamella_store* s, const char* key, int64_t limit, lamella_value* out) {
      return guarded([&] { return give(store_of(s).get(key, limit_of(limit)), out); });
    },
    [](lamella_store* s, const char* key, int64_t amount, int64_t* out) {
      return guarded([&] { return *out = store_of(s).add(key, amount), LAMELLA_OK; });
    },
    [](lamella_store* s, const char* key, const void* value, int64_t bytes) {
      return guarded([&] { return store_of(s).append(key, bytes_of(value, bytes)), LAMELLA_OK; });
    },
    [](lamella_store* s, const char* const* keys, int32_t n, int32_t* all) {
      return guarded([&] { return *all = store_of(s).check(keys_of(keys, n)), LAMELLA_OK; });
    },
    [](lamella_store* s, const char* const* keys, int32_t n, int64_t limit) {
      return guarded([&] { return store_of(s).wait(keys_of(keys, n), limit_of(limit)), LAMELLA_OK; });
    },
    [](lamella_store* s, const char* key, const void* expected, int64_t en, const void* desired, int64_t dn,
       lamella_value* out) {
      return guarded(
          [&] { return give(store_of(s).compare_set(key, bytes_of(expected, en), bytes_of(desired, dn)), out); });
    },
    [](lamella_store* s, const char* key, int32_t* deleted) {
      return guarded([&] { return *deleted = store_of(s).delete_key(key), LAMELLA_OK; });
    },
    [](lamella_store* s, int64_t* out) { return guarded([&] { return *out = store_of(s).num_keys(), LAMELLA_OK; }); },
};

const lamella_object_type store_type = {sizeof store_type, 0, "Store", [](lamella_object* o) {
                                          delete static_cast<Store*>(reinterpret_cast<lamella_store*>(o));
                                        }};

class HashStore final : public Store {
 public:
  void set(const std::string& key, std::string_view value) override {
    const std::lock_guard lock(mutex_);
    values_.set(key, value);
    changed_.notify_all();
  }
  std::string get(const std::string& key, std::chrono::nanoseconds limit) override {
    std::unique_lock lock(mutex_);
    wait_for({key}, limit, lock);
    return *values_.find(key);
  }
  int64_t add(const std::string& key, int64_t amount) override {
    const std::lock_guard lock(mutex_);
    const int64_t sum = values_.sum(key, amount);
    values_.set(key, std::to_string(sum));
    changed_.notify_all();
    return sum;
  }
  void append(const std::string& key, std::string_view value) override {
    const std::lock_guard lock(mutex_);
    values_.append(key, value);
    changed_.notify_all();
  }
  bool check(const Keys& keys) override {
    const std::lock_guard lock(mutex_);
    return values_.absent(keys).empty();
  }
  void wait(const Keys& keys, std::chrono::nanoseconds limit) override {
    std::unique_lock lock(mutex_);
    wait_for(keys, limit, lock);
  }
  std::string compare_set(const std::string& key, std::string_view expected, std::string_view desired) override {
    const std::lock_guard lock(mutex_);
    if (!values_.fits(key, expected)) return values_.value_or(key, expected);
    values_.set(key, desired);
    changed_.notify_all();
    return std::string(desired);
  }
  bool delete_key(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    return values_.erase(key);
  }
  int64_t num_keys() override {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(values_.size());
  }

 private:
  void wait_for(const Keys& keys, std::chrono::nanoseconds limit, std::unique_lock<std::mutex>& lock) {
    const auto end = deadline_after(limit);
    while (!values_.absent(keys).empty()) {
      if (Clock::now() >= end) raise_absent(values_.absent(keys), limit);
      changed_.wait_for(lock, std::chrono::milliseconds(50));
      lock.unlock();  // a handler of the signal may use the store
      lamella::check(api().check_interrupt());
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Values values_;
};

// Passes keys on to another store with a prefix before them.
class PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, StoreRef inner) : prefix_(std::move(prefix)), inner_(std::move(inner)) {}
  void set(const std::string& key, std::string_view value) override { inner_.set(full(key), value); }
  std::string get(const std::string& key, std::chrono::nanoseconds limit) override {
    return inner_.get(full(key), limit);
  }
  int64_t add(const std::string& key, int64_t amount) override { return inner_.add(full(key), amount); }
  void append(const std::string& key, std::string_view value) override {
    lamella_store* s = inner_.get();
    lamella::check(s->table->append(s, full(key).c_str(), value.data(), static_cast<int64_t>(value.size())));
  }
  bool check(const Keys& keys) override { return inner_.check(full(keys)); }
  void wait(const Keys& keys, std::chrono::nanoseconds limit) override { inner_.wait(full(keys), limit); }
  std::string compare_set(const std::string& key, std::string_view expected, std::string_view desired) override {
    lamella_value out = none();
    lamella_store* s = inner_.get();
    lamella::check(s->table->compare_set(s, full(key).c_str(), expected.data(), static_cast<int64_t>(expected.size()),
                                         desired.data(), static_cast<int64_t>(desired.size()), &out));
    std::string value(out.as.string, out.length);
    api().value_release(&out);
    return value;
  }
  bool delete_key(const std::string& key) override {
    int32_t deleted = 0;
    lamella::check(inner_.get()->table->delete_key(inner_.get(), full(key).c_str(), &deleted));
    return deleted;
  }
  int64_t num_keys() override {
    int64_t n = 0;
    lamella::check(inner_.get()->table->num_keys(inner_.get(), &n));
    return n;
  }

 private:
  std::string full(const std::string& key) const { return prefix_ + "/" + key; }
  Keys full(Keys keys) const {
    for (std::string& k : keys) k = full(k);
    return keys;
  }
  std::string prefix_;
  StoreRef inner_;
};

std::vector<const char*> pointers(const Keys& keys) {
  std::vector<const char*> all;
  for (const std::string& k : keys) all.push_back(k.c_str());
  return all;
}

}  // namespace

Store::Store() : lamella_store{{1, &store_type}, &store_table} {}

void StoreRef::set(const std::string& key, std::string_view value) const {
  lamella::check(store_->table->set(store_, key.c_str(), value.data(), static_cast<int64_t>(value.size())));
}
std::string StoreRef::get(const std::string& key, std::chrono::nanoseconds limit) const {
  lamella_value out = none();
  lamella::check(store_->table->get(store_, key.c_str(), limit.count(), &out));
  std::string value(out.as.string, out.length);
  api().value_release(&out);
  return value;
}
int64_t StoreRef::add(const std::string& key, int64_t amount) const {
  int64_t sum = 0;
  lamella::check(store_->table->add(store_, key.c_str(), amount, &sum));
  return sum;
}
bool StoreRef::check(const Keys& keys) const {
  int32_t all = 0;
  lamella::check(store_->table->check(store_, pointers(keys).data(), static_cast<int32_t>(keys.size()), &all));
  return all;
}
void StoreRef::wait(const Keys& keys, std::chrono::nanoseconds limit) const {
  lamella::check(store_->table->wait(store_, pointers(keys).data(), static_cast<int32_t>(keys.size()), limit.count()));
}

StoreRef make_hash_store() { return StoreRef::steal(new HashStore()); }
StoreRef make_prefix_store(std::string prefix, StoreRef inner) {
  return StoreRef::steal(new PrefixStore(std::move(prefix), std::move(inner)));
}

}  // namespace lamella::distributed
