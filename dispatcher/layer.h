// Layers: functionality keys. A layer is a rank among 64, the highest runs first; anchors are published bands of
// ranks that exist whether or not a plugin stands in them.
//
// Note [Key order]  Bits are given once and never renumbered or reused by another name. Bands, outermost first:
//   modes 54-63, profiler 44-53, names 34-43, autocast 23-33, autograd 11-22, backend 0-10. A layer states
//   where it must stand relative to bands and to other layers, loaded or not; it gets a free fitting bit in the
//   middle of the widest gap, or an error that names its neighbours.
#pragma once

#include <lamella/c_api.h>

#include <atomic>
#include <string>
#include <vector>

namespace lamella::dispatcher {

struct Layer {
  std::string name, owner;
  std::string at;
  std::vector<std::string> outside, inside;
  uint32_t flags = 0;
  uint32_t kernel_flags = 0;  // of the fallback
  lamella_kernel fallback = nullptr, rule = nullptr;
  void* context = nullptr;
  void* (*prepare)(void*, const lamella_operator*, const void*) = nullptr;
  bool live = false;
};

// All under the registry's lock.
lamella_status add_layer(const lamella_layer& desc, const std::string& owner, int32_t* bit);
void remove_layer(int32_t bit);
const Layer* layer(int32_t bit);             // null if the bit was never given
int32_t layer_bit(const std::string& name);  // -1 if there is no live one

struct Band {
  const char* name;
  int32_t low, high;
};
const std::vector<Band>& bands();

// Sets of layers by flag, readable without a lock.
extern std::atomic<uint64_t> inside_layers, alias_layers, process_layers;

}  // namespace lamella::dispatcher
