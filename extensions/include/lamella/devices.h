/* Devices and the options of new tensors: DeviceType, Device, Layout, MemoryFormat, Generator and TensorOptions. */
#ifndef LAMELLA_DEVICES_H
#define LAMELLA_DEVICES_H

#include <lamella/library.h>
#include <lamella/scalar_type.h>

#include <cstring>
#include <optional>

#pragma GCC visibility push(hidden)

namespace lamella {

/* A kind of device, by its name. The name is a literal, or a backend's name, which lives as long as the process. */
class DeviceType {
 public:
  explicit constexpr DeviceType(const char* name) : name_(name) {}
  static const DeviceType CPU, CUDA, Meta;

  constexpr const char* name() const { return name_; }
  std::string str() const { return name_; }
  operator std::string() const { return name_; }
  friend bool operator==(DeviceType a, DeviceType b) { return std::strcmp(a.name_, b.name_) == 0; }
  friend bool operator!=(DeviceType a, DeviceType b) { return !(a == b); }
  friend bool operator==(DeviceType a, const char* name) { return std::strcmp(a.name_, name) == 0; }
  friend bool operator!=(DeviceType a, const char* name) { return !(a == name); }

 private:
  const char* name_;
};
inline constexpr DeviceType DeviceType::CPU{"cpu"}, DeviceType::CUDA{"cuda"}, DeviceType::Meta{"meta"};

class Device {
 public:
  explicit Device(lamella_device d) : device_(d) {}
  /* Takes a text such as "cpu" or "cuda:1"; throws if there is no such backend. */
  Device(const char* text) : Device(std::string(text)) {}
  Device(const std::string& text) {
    const size_t colon = text.find(':');
    device_.index = 0;
    if (colon != std::string::npos) {
      const std::string number = text.substr(colon + 1);
      LAMELLA_CHECK(!number.empty() && number.size() < 5 && number.find_first_not_of("0123456789") == std::string::npos,
                    "Device: expected a name and an index below 10000, as in 'cuda:1', got '", text, "'");
      device_.index = std::stoi(number);
    }
    check(api().find_backend(text.substr(0, colon).c_str(), &device_.backend));
  }
  Device(DeviceType type) : Device(type.str()) {}
  Device(DeviceType type, int index) : Device(type.str()) { device_.index = index < 0 ? 0 : index; }
  Device(const char* type, int index) : Device(DeviceType(type), index) {}
  Device(const std::string& type, int index) : Device(DeviceType(type.c_str()), index) {}

  DeviceType type() const { return DeviceType(api().backend_name(device_.backend)); }
  int index() const { return device_.index; }
  bool has_index() const { return true; }
  bool is_cpu() const { return type() == DeviceType::CPU; }
  bool is_cuda() const { return type() == DeviceType::CUDA; }
  bool is_meta() const { return type() == DeviceType::Meta; }
  std::string str() const { return type().str() + (index() > 0 ? ":" + std::to_string(index()) : ""); }
  lamella_device get() const { return device_; }
  friend bool operator==(const Device& a, const Device& b) {
    return a.device_.backend == b.device_.backend && a.device_.index == b.device_.index;
  }
  friend bool operator!=(const Device& a, const Device& b) { return !(a == b); }
  /* Compares with "cuda:1", or with the name alone, which matches every index. The backend need not exist. */
  friend bool operator==(const Device& a, const char* text) {
    return a.type() == text || a.type().str() + ":" + std::to_string(a.index()) == text;
  }
  friend bool operator==(const Device& a, DeviceType type) { return a.type() == type; }
  friend bool operator!=(const Device& a, DeviceType type) { return !(a == type); }
  friend bool operator==(DeviceType type, const Device& a) { return a == type; }
  friend bool operator!=(DeviceType type, const Device& a) { return !(a == type); }
  friend bool operator!=(const Device& a, const char* text) { return !(a == text); }

 private:
  lamella_device device_{};
};
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMeta = DeviceType::Meta;
inline void append_part(std::string& to, const Device& d) { to += d.str(); }
inline void append_part(std::string& to, DeviceType t) { to += t.name(); }

enum class Layout : int64_t { Strided };
constexpr Layout kStrided = Layout::Strided;

enum class MemoryFormat : int64_t {
  Contiguous = LAMELLA_CONTIGUOUS_FORMAT,
  Preserve = LAMELLA_PRESERVE_FORMAT,
  ChannelsLast = LAMELLA_CHANNELS_LAST
};

/* A source of random numbers; counted. */
class Generator {
 public:
  Generator() = default;
  static Generator borrow(lamella_object* o) {
    Generator g;
    if ((g.object_ = o)) api().retain(o);
    return g;
  }
  Generator(const Generator& o) : object_(o.object_) {
    if (object_) api().retain(object_);
  }
  Generator(Generator&& o) noexcept : object_(std::exchange(o.object_, nullptr)) {}
  Generator& operator=(Generator o) noexcept {
    std::swap(object_, o.object_);
    return *this;
  }
  ~Generator() {
    if (object_) api().release(object_);
  }
  bool defined() const { return object_ != nullptr; }
  lamella_object* get() const { return object_; }
  /* Reserves n random words for a tensor on a device. Returns the key and the counter of Philox at which they begin. */
  std::pair<uint64_t, uint64_t> reserve(const Device& device, uint64_t n) const {
    std::pair<uint64_t, uint64_t> r;
    check(api().generator_reserve(object_, device.get(), n, &r.first, &r.second));
    return r;
  }

 private:
  lamella_object* object_ = nullptr;
};

/* The options that a factory takes beside the sizes: lamella::dtype(lamella::kFloat).device("cpu"). */
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType t) : dtype_(t) {}
  TensorOptions(Device d) : device_(d) {}
  TensorOptions(DeviceType type) : device_(type) {}

  TensorOptions dtype(std::optional<ScalarType> t) const { return with(&TensorOptions::dtype_, t); }
  TensorOptions device(std::optional<Device> d) const { return with(&TensorOptions::device_, d); }
  TensorOptions device(const std::string& type, int index) const { return device(Device(type, index)); }
  TensorOptions layout(std::optional<Layout> l) const { return with(&TensorOptions::layout_, l); }
  TensorOptions pinned_memory(std::optional<bool> p) const { return with(&TensorOptions::pinned_, p); }
  TensorOptions requires_grad(bool on = true) const { return with(&TensorOptions::requires_grad_, on); }

  std::optional<ScalarType> dtype() const { return dtype_; }
  std::optional<Device> device() const { return device_; }
  std::optional<Layout> layout() const { return layout_; }
  std::optional<bool> pinned_memory() const { return pinned_; }
  bool requires_grad_set() const { return requires_grad_; }

 private:
  template <class Field, class T>
  TensorOptions with(Field TensorOptions::*field, T x) const {
    TensorOptions o = *this;
    o.*field = x;
    return o;
  }
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<Layout> layout_;
  std::optional<bool> pinned_;
  bool requires_grad_ = false;
};
inline TensorOptions dtype(ScalarType t) { return TensorOptions(t); }
inline TensorOptions device(Device d) { return TensorOptions(d); }
inline TensorOptions device(const std::string& type, int index) { return TensorOptions(Device(type, index)); }
inline TensorOptions requires_grad(bool on = true) { return TensorOptions().requires_grad(on); }

}  // namespace lamella

#pragma GCC visibility pop

#endif
