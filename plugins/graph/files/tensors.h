// The tensors of a file of a program.
#pragma once

#include <lamella/tensor.h>

#include <optional>

#include "files/index.h"

namespace lamella::graph::files {

class Tensors {
 public:
  // mapped: tensors in host memory lie in the file, whose checksums are then not read. device: where all tensors are
  // put; none: where they were saved from.
  Tensors(const Index& index, bool mapped, std::optional<std::string> device)
      : index_(index),
        records_(index.json().at("tensors").as_list("'tensors'")),
        mapped_(mapped),
        device_(std::move(device)) {}

  // Returns the tensor of a number, the same one in each call. Raises Damage or Error.
  const Tensor& tensor(const Json& number);

 private:
  Tensor made(const Json::List& record);
  const Tensor& storage(size_t number);
  Tensor read(const std::string& member, uint64_t bytes) const;
  Tensor moved(Tensor flat, const std::string& from) const;
  void add_attributes(const Tensor& t, const Json& more) const;

  const Index& index_;
  const Json::List& records_;
  const bool mapped_;
  const std::optional<std::string> device_;
  std::unordered_map<size_t, Tensor> tensors_, storages_;  // storages as tensors of bytes
};

}  // namespace lamella::graph::files
