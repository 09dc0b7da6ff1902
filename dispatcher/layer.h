// Layers: functionality keys. A layer is a rank among 64, the highest runs first; anchors are published bands of
// ranks that exist whether or not a plugin stands in them.
//
// Note [Key order]  A layer keeps its bit. Bands, outermost first:
//   modes 54-63, profiler 44-53, names 34-43, autocast 23-33, autograd 11-22, backend 1-10; no layer has bit 0, by
//   which opaque tensors and those of other dtypes than plain ones are found (restricted.h). A layer states where it
//   must stand relative to bands and to other layers, loaded or not; it gets a free fitting bit in the middle of the
//   widest gap. Where its band is full, it gets the nearest free bit beside it, as far as no layer is passed over that
//   it, or that layer, must not pass. Where there is none left, the error names the neighbours. The bit of a layer that
//   never stood on a tensor is given again; that of any other stays its own, as tensors may have it.
#pragma once

#include <lamella/c_api.h>

#include <atomic>
#include <string>
#include <vector>

namespace lamella::dispatcher {

struct Layer {
  std::string name, owner;
  int32_t band = -1;  // the anchor's place in the order of anchors, if it wished for one
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
// One switch of a layer for the whole process. `birth` tells the layer from a later one that got its bit.
struct Inclusion {
  int32_t bit;
  uint64_t birth;
};
Inclusion include_in_process(int32_t bit);
void end_inclusion(const Inclusion&);
// The number of the last change of who has which bit, and the bits that were given or taken away after such a number.
uint64_t last_gift();
uint64_t bits_given_since(uint64_t gift);
// Raises unless a layer that stands on tensors has the bit. `whose` is the name of what asks.
lamella_status check_layer_bit(const char* entry, const char* whose, int32_t bit);
const Layer* layer(int32_t bit);             // null if the bit was never given
int32_t layer_bit(const std::string& name);  // -1 if there is no live one

struct Band {
  const char* name;
  int32_t low, high;
};
const std::vector<Band>& bands();

// Sets of layers by flag, readable without a lock.
extern std::atomic<uint64_t> inside_layers, alias_layers, process_layers;
extern std::atomic<uint64_t> tensor_layers;  // those whose keys tensors may have, also after they were withdrawn

}  // namespace lamella::dispatcher
