// Layers: functionality keys. A layer has a rank among 64; the highest runs first. Anchors are published bands of
// ranks, which exist whether or not a plugin has a layer in them.
//
// Note [Key order]  A layer keeps its bit. Bands, outermost first:
//     modes 54-63, profiler 44-53, names 34-43, autocast 23-33, autograd 11-22, backend 1-10.
//   No layer has bit 0, which marks opaque tensors and tensors of dtypes that are not plain (restricted.h). A layer
//   states its place relative to bands and to other layers, loaded or not; it gets a free bit that fits, in the middle
//   of the widest gap. If its band is full, it gets the nearest free bit outside the band that its wishes, and those of
//   other layers, allow. If there is none, the error names the neighbours. The bit of a withdrawn layer may be given to
//   another layer once no thread includes it, unless a tensor or a storage has had it or a slot names it: then it stays
//   reserved for the layer's name.
#pragma once

#include <lamella/c_api.h>

#include <atomic>
#include <string>
#include <vector>

namespace lamella::dispatcher {

struct Layer {
  std::string name, owner;
  int32_t band = -1;  // the place of the anchor that it wished for in the order of anchors; -1: none
  std::string at;
  std::vector<std::string> outside, inside;
  uint32_t flags = 0;
  uint32_t kernel_flags = 0;  // of the fallback
  lamella_kernel fallback = nullptr, rule = nullptr;
  void* context = nullptr;
  void* (*prepare)(void*, const lamella_operator*, const void*) = nullptr;
  bool live = false;
};

// The caller holds the registry's lock.
lamella_status add_layer(const lamella_layer& desc, const std::string& owner, int32_t* bit);
void remove_layer(int32_t bit);
// One request that a layer is on for the whole process. `birth` distinguishes the layer from a later one with its bit.
struct Inclusion {
  int32_t bit;
  uint64_t birth;
};
Inclusion include_in_process(int32_t bit);
void end_inclusion(const Inclusion&);
// last_gift() returns the number of the last change, by which a bit was given or became free. bits_given_since()
// returns the bits that were given after the change `gift` and all bits that are free; 0 if no change came after it.
uint64_t last_gift();
uint64_t bits_given_since(uint64_t gift);
// Raises unless a layer whose keys tensors may have has the bit, or had it before it was withdrawn. `entry`, a function
// of the C ABI, and `whose`, the name of a slot type, begin the message.
lamella_status check_layer_bit(const char* entry, const char* whose, int32_t bit);
const Layer* layer(int32_t bit);             // null if the bit is free; a withdrawn layer may keep its bit
int32_t layer_bit(const std::string& name);  // -1 if there is no live one

struct Band {
  const char* name;
  int32_t low, high;
};
const std::vector<Band>& bands();

// Sets of layers, readable without a lock: those that have LAMELLA_LAYER_INSIDE, those that have
// LAMELLA_LAYER_FOLLOWS_ALIAS, and those that are on for the whole process.
extern std::atomic<uint64_t> inside_layers, alias_layers, process_layers;
extern std::atomic<uint64_t> layers_not_in_backward;  // those that have LAMELLA_LAYER_NOT_IN_BACKWARD
// tensor_layers has the layers whose keys tensors may have, and withdrawn layers that keep their bits. marked_layers has
// the layers whose keys some tensor, storage or slot has had; a mark lasts until the bit is given to another layer.
extern std::atomic<uint64_t> tensor_layers, marked_layers;
// Notes, before a tensor or a storage gets keys, that their layers keep their bits. Raises if a bit of `set` or `clear`
// is no layer's whose keys tensors may have; `entry`, a function of the C ABI, begins the message.
lamella_status mark_layers(const char* entry, uint64_t set, uint64_t clear);

}  // namespace lamella::dispatcher
