// Recording: operators that a program calls with stand-ins become nodes of a graph.
//
// Note [Stand-ins]  The program that is recorded gets opaque tensors in the place of its inputs. A stand-in has the
//   layer's key and a state: the real tensor, and the value of the graph that it stands for. So each operator reaches
//   the layer, which calls it with the real tensors, appends a node, and answers with stand-ins. A value leaves a
//   stand-in only through an operator, `item` or `_materialize`: the layer refuses it, for the graph would not have what
//   follows from it; a recorder that is not strict gives the value and collects a warning.
// Note [What was there]  Tensors that are no stand-ins are attributes of the recorded module, or else constants.
#pragma once

#include <lamella/graph.h>
#include <lamella/opaque.h>
#include <lamella/slot.h>

#include <array>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "interface/program.h"

namespace lamella::graph {

extern const lamella_object_type recorder_type;

class Recorder {
 public:
  // A number, or a short list of ints.
  struct Plain {
    uint32_t tag, length;
    std::array<int64_t, 4> bits;
    bool operator==(const Plain&) const = default;
  };

  lamella_object object{1, &recorder_type};

  // by_shape: stand-ins are of `meta`, and so is all else that operators get, so that nothing is computed or written.
  Recorder(lamella_object* program, const std::string& name, bool strict, bool by_shape, lamella_graph_place place,
           void* context);
  ~Recorder();

  // Makes this the recorder of the thread, until `stop`; recorders nest.
  void start();
  void stop();
  // Returns the recorder of this thread, or null.
  static Recorder* of_thread();
  // While it lives, the recorder around this thread's is the thread's.
  class InOuter {
   public:
    InOuter();
    ~InOuter();
    InOuter(const InOuter&) = delete;

   private:
    Recorder* const inner_;
  };
  // Ends the recording: its stand-ins are of no use any more.
  void end() { ended_ = true; }

  Tensor stand_in(const Tensor& real, Value* v);
  // Says that a tensor is an attribute, by the names on the way to it from the parameter `self`.
  void add_attribute(const Tensor& t, const Value& self, const std::vector<std::string>& path);
  // Returns the value that stands for a value of the program: that of a stand-in, an attribute, or a new constant.
  Value* value_for(const lamella_value& v);
  // Appends the node of a call, and puts stand-ins in the place of its results.
  void record(const Signature& s, const lamella_value* given, const lamella_value* real, lamella_value* rets);
  // Fails if a strict recorder meets an operator that gives values to the program; else collects a warning.
  void leave(const std::string& op);
  // Fails for a stand-in whose recording has ended.
  void check_open(const std::string& op) const;
  bool ended() const { return ended_; }
  bool by_shape() const { return by_shape_; }
  lamella_object* program() const { return program_; }
  // Returns a new recorder by shape, of a program of its own, for the function that this one has recorded. It knows the
  // attributes, and no places.
  Recorder* by_other_shape() const;
  // Returns the tensor of `meta` with the shape and the dtype of another one.
  lamella_tensor* shape_of(lamella_tensor* t);
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Source where() const;
  std::string where_text() const;
  Node* append(std::string op, std::string overload = {});
  Value* find(const lamella_value& v);
  Value* constant(Literal x, TypePtr type);
  Value* attribute(int64_t part);
  Value* list_of(const std::vector<Value*>& items, TypePtr element);
  TypePtr type_of_result(const lamella_tensor& t) const;
  lamella_tensor* answer(const lamella_value* given, const lamella_value* real, size_t n, lamella_tensor* owned,
                         Value* v);

  lamella_object* const program_;
  const std::string name_;
  Graph& graph_;
  const size_t num_parameters_;  // of the graph before the recording
  const bool strict_, by_shape_;
  bool compared_ = false;  // whether the graph is only compared with another, so that names and types are left out
  const lamella_graph_place place_;
  void* const context_;
  bool ended_ = false;
  std::mutex lock_;            // of all that follows, and of the graph: other threads may call operators with stand-ins
  Source now_;                 // the place of the call that is recorded
  Recorder* outer_ = nullptr;  // the thread's recorder before `start`
  bool was_on_ = false, started_ = false;

  // The attributes of the parameters: the names on the way to each are parts, which several attributes share.
  struct Attributes {
    struct Part {
      int64_t of;             // the part before it, or -1 - i for the parameter i
      std::string name, way;  // way: its name behind those of the parts before it, as in "0.weight"
      TypePtr type;           // null: the class has no such attribute
    };
    std::vector<Part> parts;
    std::map<std::pair<int64_t, std::string>, int64_t> numbers;
    std::unordered_map<const lamella_tensor*, std::pair<Tensor, int64_t>> tensors;
    std::mutex lock;                                                        // of the tensors that follow
    std::unordered_map<lamella_tensor*, std::pair<Tensor, Tensor>> shapes;  // a tensor, and that of `meta`
  };
  std::shared_ptr<Attributes> attributes_ = std::make_shared<Attributes>();  // shared with recorders for other shapes
  std::vector<Value*> parts_;
  std::unordered_multimap<size_t, Value*> literals_;  // by their hashes
  // The arguments of the last call of an operator: layers that follow each other often have the same ones.
  struct Last {
    std::optional<Plain> plain;
    std::optional<bool> is_default;
    Value* value = nullptr;
  };
  std::unordered_map<const Signature*, std::vector<Last>> last_;
  std::unordered_map<const lamella_tensor*, Value*> constants_;
  mutable std::mutex files_lock_;
  mutable std::unordered_map<const char*, std::shared_ptr<const std::string>> files_;
  std::vector<std::string> warnings_;
};

// The state of a stand-in. A copy of it, which a subclass of Tensor in Python makes, stands for the same value.
struct StandIn {
  Tensor real;
  Recorder* recorder;  // retained
  Value* value;

  StandIn(Tensor real, Recorder* recorder, Value* value);
  StandIn(const StandIn& o);
  StandIn(StandIn&& o) noexcept
      : real(std::move(o.real)), recorder(std::exchange(o.recorder, nullptr)), value(o.value) {}
  StandIn& operator=(const StandIn&) = delete;
  ~StandIn();
  std::optional<StandIn> carry(const Tensor&, const Tensor&, int32_t) const { return *this; }
};

extern Slot<StandIn> stand_ins;
extern int32_t trace_bit;

// Returns the type that a tensor has: its dtype and its sizes.
TypePtr type_of_tensor(const lamella_tensor& t);

}  // namespace lamella::graph
