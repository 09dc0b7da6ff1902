// Makes tensors over the storages of a file. Every number of the index is checked.
#include "files/tensors.h"

#include "run/host.h"

namespace lamella::graph::files {
namespace {

constexpr const char* meta = "meta";

// Calls an operator with one result, which is owned.
template <size_t N>
lamella_value called(const char* name, const char* overload, const lamella_value (&args)[N]) {
  lamella_value result = none();
  check(api().call(nullptr, api().find_operator(name, overload), args, N, &result, 1));
  return result;
}

std::vector<int64_t> sizes_of(const Json& list, std::string_view what) {
  std::vector<int64_t> all;
  for (const Json& x : list.as_list(what)) all.push_back(x.as_number_of_part());
  if (all.size() > LAMELLA_MAX_DIMS)
    throw Damage(std::string(what) + " are more than " + std::to_string(LAMELLA_MAX_DIMS));
  return all;
}

// Changes the bytes of a tensor of bools that are neither 0 nor 1 to 1, since kernels rely on that.
void make_truth(const Tensor& t) {
  if (t.is_meta() || t.numel() == 0) return;
  lamella_tensor* bytes = nullptr;
  const int64_t whole = api().storage_bytes(t.get()->storage);
  if (t.numel() > whole)  // it is expanded
    check(api().tensor_over(t.get()->storage, 1, &whole, nullptr, 0, LAMELLA_UINT8, &bytes));
  else
    check(api().tensor_over(t.get()->storage, t.get()->dl.ndim, t.get()->dl.shape, t.get()->dl.strides,
                            t.storage_offset(), LAMELLA_UINT8, &bytes));
  const Tensor flat = Tensor::steal(bytes);
  const lamella_value largest = called("aten::max", "", {value(flat)});
  const Tensor most = Tensor::steal(largest.as.tensor);
  lamella_value item = called("aten::item", "", {value(most)});
  if (item.as.i > 1) {
    lamella_value same = called("aten::clamp_", "", {value(flat), none(), value(int64_t{1})});
    api().value_release(&same);
  }
}

}  // namespace

const Tensor& Tensors::tensor(const Json& number) {
  const auto n = static_cast<size_t>(number.as_number_of_part());
  const auto found = tensors_.find(n);
  if (found != tensors_.end()) return found->second;
  if (n >= records_.size())
    throw Damage("it has no tensor " + std::to_string(n) + ", but " + std::to_string(records_.size()) + " tensors");
  Tensor t = made(records_[n].as_list("a tensor"));
  return tensors_[n] = std::move(t);
}

Tensor Tensors::made(const Json::List& record) {
  if (record.size() != 5 && record.size() != 6) throw Damage("a tensor has to have 5 or 6 entries");
  const std::string& name = record[1].as_text("the dtype of a tensor");
  int32_t dtype = 0;
  check(api().find_dtype(name.c_str(), &dtype));
  const std::vector<int64_t> sizes = sizes_of(record[2], "the sizes of a tensor");
  std::vector<int64_t> strides;
  if (!record[3].is_null()) {
    strides = sizes_of(record[3], "the strides of a tensor");
    if (strides.size() != sizes.size()) throw Damage("a tensor has to have as many strides as sizes");
  }
  const int64_t offset = record[4].as_number_of_part();
  if (record[0].is_null()) {
    std::string slots;
    const Json* found = record.size() == 6 ? record[5].find("slots") : nullptr;
    if (found && found->list())
      for (const Json& pair : *found->list())
        if (pair.list() && !pair.list()->empty() && (*pair.list())[0].text())
          slots += (slots.empty() ? "'" : ", '") + *(*pair.list())[0].text() + "'";
    Index::refuse(index_.name() + " has an opaque tensor, whose values are in the slots " + slots +
                  " of a plugin; programs without Python read plain tensors alone");
  }
  const Tensor& flat = storage(static_cast<size_t>(record[0].as_number_of_part()));
  lamella_tensor* t = nullptr;
  check(api().tensor_over(flat.get()->storage, static_cast<int32_t>(sizes.size()), sizes.data(),
                          record[3].is_null() ? nullptr : strides.data(), offset, dtype, &t));  // checks the window
  Tensor made = Tensor::steal(t);
  if (dtype == LAMELLA_BOOL) make_truth(made);
  if (record.size() == 6) add_attributes(made, record[5]);
  return made;
}

const Tensor& Tensors::storage(size_t number) {
  const auto found = storages_.find(number);
  if (found != storages_.end()) return found->second;
  const Json::List& all = index_.json().at("storages").as_list("'storages'");
  if (number >= all.size()) throw Damage("it has no storage " + std::to_string(number));
  const Json::List& parts = all[number].as_list("a storage");
  const auto bytes = static_cast<uint64_t>(parts[0].as_number_of_part());
  const std::string& from = parts[1].as_text("the device of a storage");
  Tensor flat;
  if (from == meta || device_.value_or(from) == meta) {
    const int64_t size[] = {static_cast<int64_t>(bytes)};
    lamella_tensor* t = nullptr;
    check(api().tensor_empty(1, size, nullptr, LAMELLA_UINT8, Device(meta).get(), &t));
    flat = Tensor::steal(t);
  } else {
    flat = moved(read(storage_member(number), bytes), from);
  }
  return storages_[number] = std::move(flat);
}

Tensor Tensors::read(const std::string& member, uint64_t bytes) const {
  const auto size = static_cast<int64_t>(bytes);
  Tensor flat = index_.reading([&] { return index_.archive().tensor(member, LAMELLA_UINT8, {size}); });
  if (!mapped_) {
    lamella_tensor* t = nullptr;
    check(api().tensor_empty(1, &size, nullptr, LAMELLA_UINT8, flat.device().get(), &t));
    flat = Tensor::steal(t);
    if (bytes)
      index_.reading([&] { check(archive_interface().read(index_.archive().c(), member.c_str(), flat.data_ptr())); });
  }
  if (index_.verifies()) index_.compare_hash(member, {static_cast<const char*>(flat.data_ptr()), bytes});
  return flat;
}

Tensor Tensors::moved(Tensor flat, const std::string& from) const {
  const std::string target = device_.value_or(from);
  try {
    const Device to(target);
    if (to == flat.device()) return flat;
    const lamella_value made = called("aten::to", "device", {value(flat), value(to)});
    return Tensor::steal(made.as.tensor);
  } catch (const Error& e) {
    const std::string note =
        "a storage was saved on '" + from + "', and '" + target + "' is not here: " + std::string(e.what());
    Index::refuse(note + "; pass the device '" + flat.device().str() + "'");
  }
}

void Tensors::add_attributes(const Tensor& t, const Json& more) const {
  more.as_object("what a tensor carries");
  if (const Json* kind = more.find("class"); kind && kind->as_text("'class'") != "parameter")
    throw Damage("there is no class of tensors '" + *kind->text() + "'");
  const auto each = [&](const char* entry, auto use) {
    if (const Json* all = more.find(entry))
      for (const Json& pair : all->as_list(entry)) {
        const Json::List& parts = pair.as_list("an attribute of a tensor");
        if (parts.size() != 2) throw Damage("an attribute of a tensor has to be a name and a value");
        use(parts[0].as_text("the name of an attribute"), parts[1]);
      }
  };
  const auto warn_of = [](const std::string& name) {
    graph::warn("a tensor is read without '" + name + "', which no plugin here reads in a program without Python");
  };
  each("plugins", [&](const std::string& name, const Json& x) {
    if (name == "requires_grad" && Tensor::autograd()) {
      const bool* on = std::get_if<bool>(&x.value);
      if (!on) throw Damage("'requires_grad' of a tensor has to be true or false");
      t.set_requires_grad(*on);
    } else {
      warn_of(name);
    }
  });
  each("slots", [&](const std::string& name, const Json&) { warn_of(name); });
}

}  // namespace lamella::graph::files
