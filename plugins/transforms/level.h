// Levels of transforms that are open on a thread, and boxes: tensors that stand for one sample of a batch, for a primal
// and its tangent, or for a value that writes replace.
#pragma once

#include <lamella/extension.h>
#include <lamella/opaque.h>
#include <lamella/slot.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace lamella::transforms {

inline constexpr char layer_name[] = "vmap";
inline uint64_t layer_bit = 0;  // set once, at registration

// The behaviour at a level of operators that draw random numbers.
enum Randomness : int32_t { refuse_random = 0, different_random = 1, same_random = 2 };

// The transforms that open levels.
enum class Kind : int32_t { vmap = 0, forward = 1, functional = 2 };

// A call of vmap, of a derivative by forward mode, or of functionalize. Levels are numbered through the process, so that
// a box which outlives its level is recognized.
struct Level {
  int64_t number;
  Kind kind;
  int64_t size;        // of the batch of vmap
  int32_t randomness;  // of vmap
  int32_t choice;      // of vmap, of enum Fallback; of functionalize, of enum Views
};

// The behaviour of an operator without a rule: it runs once for each sample, or raises an error.
enum Fallback : int32_t { loop_fallback = 0, strict_fallback = 1 };
// View operators at a level of functionalize: they stay, or their copying forms run in their place.
enum Views : int32_t { keep_views = 0, copy_views = 1 };

// A value that a tensor and its views share: of functionalize that of the tensor, of forward mode its tangent. A write
// replaces it, and never writes to its memory.
struct Whole {
  Tensor value;   // of the tensor that the others are views of
  int64_t place;  // of that tensor's first element in its storage, in bytes
  bool strided;   // whether the value has that tensor's strides, by which parts of it are taken
  int64_t writes = 0;
};

// The state of a box. At a level of vmap `inner` is the batch, whose dimension 0 counts the samples; sizes, strides and
// offset of the box are those of one sample, so that views of the box are views of the batch. At a level of forward mode
// `inner` is the primal, with the box's own geometry, and `whole` is of the tangent, which integers lack. At a level of
// functionalize `whole` is of the value.
struct Box {
  int64_t level;
  Tensor inner;  // of functionalize: the part of `whole` that the box shows, as it was after `seen` writes
  Kind kind = Kind::vmap;
  std::shared_ptr<Whole> whole = {};
  Tensor tangent = {};  // of forward mode: the part of `whole`, as it was after `seen` writes
  int64_t seen = -1;
  int64_t shift = 0;  // what is added to the box's place in its own storage for its place in that of `whole`, in bytes
  std::optional<Box> carry(const Tensor& from, const Tensor& to, int32_t how) const;
};
inline Slot<Box> boxes;

// The state of a leaf that a transform has made within a level, and of its views.
struct Inside {
  int64_t level;
  std::optional<Inside> carry(const Tensor&, const Tensor&, int32_t how) const {
    return how == LAMELLA_CARRY_VIEW ? std::optional<Inside>(*this) : std::nullopt;
  }
};
inline Slot<Inside> insides;

inline bool is_differentiable(const Tensor& t) { return t.defined() && (t.is_floating_point() || t.is_complex()); }

inline const Box* box_of(const lamella_tensor* t) { return t && t->keys & layer_bit ? boxes.get(t) : nullptr; }

// Returns what is in a box: the batch, the primal, or the value now.
const Tensor& inner_of(const lamella_tensor* t);
// Returns the tangent of a box of forward mode now; undefined if it has none.
const Tensor& tangent_of(const lamella_tensor* t);
// Gives a box of forward mode another tangent, or one of functionalize another value, of its sizes and dtype.
void replace_part(const Tensor& box, const Tensor& value);

// Returns a tensor that is a box; null for another one. A box of a closed level of forward mode counts as its primal,
// and one of functionalize as its value: the result is then that, or if that is no box the closed one.
const lamella_tensor* open_box_of(const lamella_tensor* t);

// A tensor from outside of a level of functionalize, with all tensors that share its memory: its value, which a write
// within the level replaces. `of_level` is the level of the box that the tensor is; 0 if it is none.
struct Outside {
  int64_t level, of_level;
  Tensor base;
  std::shared_ptr<Whole> whole;
};

struct State {
  std::vector<Level> levels;
  // A call on a batch belongs to the levels below this number: those from it on have served the call on samples.
  int64_t below = INT64_MAX;
  // While a composite runs at the layer: the layers that were off when its operator was called.
  bool in_composite = false;
  uint64_t excluded = 0;
  int64_t composite = 0;  // the level whose call the composite serves
  std::vector<Outside> outsides;
};
// Returns this thread's state, which is made if there is none.
State& state();
// Returns an open level by its number; null if it is closed, or of another thread.
const Level* find_level(const State& s, int64_t number);

// Returns the innermost level of functionalize that has yet to serve a call; 0 if there is none. It serves each call, also
// one without boxes, whose results may be written.
int64_t functional_level(const State& s);

// Returns whether a level is open on any thread.
bool is_open_level(int64_t number);

// Opens a level and returns its number.
int64_t open_level(const Level& described);
// Returns the number of the last level that was opened in the process.
int64_t last_level();
// Closes a level, and those that were opened after it.
void close_level(int64_t number);

// Returns the bit of autograd's layer; 0 if no plugin differentiates.
uint64_t autograd_bit();

// Returns what follows the first element of a list of sizes or strides.
inline IntArrayRef behind_first(IntArrayRef list) { return {list.data() + 1, list.size() - 1}; }
inline IntArrayRef sizes_of_sample(const Tensor& batch) { return behind_first(batch.sizes()); }

// Returns a box at a level for a batch along dimension 0.
Tensor boxed(const Tensor& batch, int64_t level);
// Returns a box at a level for a batch along dimension `dim`, which may be negative.
Tensor boxed_along(const Tensor& batch, int64_t dim, int64_t level);
// Returns the batch of a tensor at a level along dimension `dim`. A tensor that is no box of the level is repeated.
Tensor unboxed(const Tensor& t, const Level& level, int64_t dim);

// Returns a value of a tensor that is no view; null for an undefined one.
std::shared_ptr<Whole> whole_of(const Tensor& value, const Tensor& of);
// Returns the part of a value that a tensor of the sizes, strides and dtype of `like` shows at a place.
Tensor part_at(const Whole& w, const Tensor& like, int64_t place, bool copies);
// Replaces that part.
void replace_at(Whole* w, const Tensor& like, int64_t place, const Tensor& value);
// Returns another tensor over the same elements, with their history. A box of a closed level counts as what is in it.
Tensor elements_of(const Tensor& base);
// Returns whether two elements of a tensor may share memory.
bool overlaps(const Tensor& t);
// Returns whether dimensions that have more than one element have the same strides.
bool has_strides_of(const Tensor& t, const Tensor& other);

// Returns whether autograd follows a tensor, or something in a box of it.
bool is_recorded(const Tensor& t);

// Returns a box at a level of forward mode. The tangent of integers is undefined.
Tensor dual(const Tensor& primal, const Tensor& tangent, int64_t level);
// Returns zeros that take no memory.
Tensor zeros_of(const Tensor& like);
// Gives a tensor a tangent of zeros at a level of forward mode unless it has one there, and its base, if it is a view.
// Returns its state.
Box* become_dual(const Tensor& t, int64_t level);

// Returns a tensor over the same elements without history; the batch of a box keeps its own.
Tensor cut(const Tensor& t);
// Returns a leaf over the elements of a tensor, by which a transform within the open levels differentiates.
Tensor fresh(const Tensor& t);
// Returns the tensor that a call on batches at a level gets for one that is not batched there: without its history if it
// is a leaf of a transform within the level, since that one records the calls on samples.
Tensor outside(const Tensor& t, int64_t level);

// While it lives, calls belong to the levels outside of `level`, and pass the layers that were on when the layer's call
// began, so that autograd records them. Other layers that the call has passed stay off, since they have followed it.
class AsCalled {
 public:
  AsCalled(const lamella_frame* f, State& s, int64_t level);
  ~AsCalled();
  AsCalled(const AsCalled&) = delete;

 private:
  lamella_thread* thread_;
  State& s_;
  int64_t below_;
  uint64_t exclude_, excluded_;
  bool in_composite_;
};

// While it lives, calls of this thread belong to the levels outside of one.
class Below {
 public:
  Below(State& s, int64_t level) : s_(s), below_(s.below) { s.below = std::min(s.below, level); }
  ~Below() { s_.below = below_; }
  Below(const Below&) = delete;

 private:
  State& s_;
  int64_t below_;
};

// While it lives, operators of a composite run at the layer: the layers outside of it are off.
class InComposite {
 public:
  InComposite(const lamella_frame* f, State& s, int64_t level);
  ~InComposite();
  InComposite(const InComposite&) = delete;

 private:
  State& s_;
  uint64_t excluded_;
  int64_t composite_;
  bool in_composite_;
};

void register_levels(Library& m);

}  // namespace lamella::transforms
