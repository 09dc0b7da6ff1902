// Writes values, tensors and storages into an index, as jit.save of Python does.
#pragma once

#include <unordered_set>

#include "files/values.h"

namespace lamella::graph::files {

// Appends a text of JSON, in quotes.
void append_text(std::string* to, std::string_view text);

class Encoder {
 public:
  // parameters: the tensors that are parameters of modules.
  explicit Encoder(std::unordered_set<const lamella_tensor*> parameters) : parameters_(std::move(parameters)) {}

  // Appends a value. Raises Error for one that no file holds.
  void append(std::string* to, const lamella_value& v);
  size_t tensor(lamella_tensor* t);  // returns its number in the index
  // Appends JSON whose `{"$tensor": n}` name tensors of another index.
  void append_copy(std::string* to, const Json& json, Tensors* from);

  std::string tensors_text() const { return "[" + records_ + "]"; }
  std::string storages_text() const;
  const std::vector<lamella_storage*>& storages() const { return storages_; }
  Tensor bytes_of(size_t storage) const;  // in host memory; undefined for one on meta

 private:
  void number(std::string* to, double x);
  void container(std::string* to, const lamella_value& v);
  void instance(std::string* to, const lamella_value& v);
  void items(std::string* to, const std::vector<lamella_value>& all);
  void dict(std::string* to, const Dict& d);
  std::string record_of(lamella_tensor* t);
  size_t storage(lamella_tensor* t);

  const std::unordered_set<const lamella_tensor*> parameters_;
  std::vector<Tensor> kept_;
  std::unordered_map<const lamella_tensor*, size_t> tensors_;
  std::unordered_map<const lamella_storage*, size_t> numbers_;
  std::vector<lamella_storage*> storages_;
  std::vector<Tensor> over_;  // a tensor over each storage
  std::string records_;
  std::unordered_map<const lamella_object*, int64_t> containers_;  // -1: it is open
  int64_t count_ = 0;                                              // of numbered containers
};

}  // namespace lamella::graph::files
