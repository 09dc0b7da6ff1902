// The names of a tensor's dimensions. Each name, and each list of names, is kept once and for the life of the process,
// so that two lists are equal if and only if their pointers are, and no call allocates for names that were met before.
#pragma once

#include <lamella/extension.h>

#include <string>
#include <vector>

namespace lamella::named {

using Name = const std::string*;  // a kept text; null for a dimension without a name
using Names = std::vector<Name>;  // one for each dimension; a kept list has at least one name that is not null

// A list under construction.
class List {
 public:
  List() = default;
  explicit List(const Names& names) {
    for (Name name : names) push_back(name);
  }
  explicit List(int size) {
    for (int i = 0; i < size; i++) push_back(nullptr);
  }

  int size() const { return size_; }
  Name* begin() { return at_; }
  Name* end() { return at_ + size_; }
  const Name* begin() const { return at_; }
  const Name* end() const { return at_ + size_; }
  Name& operator[](int i) { return at_[i]; }
  Name operator[](int i) const { return at_[i]; }
  void push_back(Name name) {
    LAMELLA_CHECK(size_ < LAMELLA_MAX_DIMS, "a tensor has at most ", LAMELLA_MAX_DIMS, " dimensions");
    at_[size_++] = name;
  }
  void insert(int at, Name name) {
    push_back(name);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(int at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    size_--;
  }

 private:
  Name at_[LAMELLA_MAX_DIMS];
  int size_ = 0;
};

// Returns the kept name with a text.
Name kept(std::string_view text);

// Returns the kept list; null if no dimension has a name.
const Names* kept(const List& list);

// Raises an error if two dimensions have the same name. `who` begins the message.
void check_distinct(const std::string& who, const List& list);

// Returns a list for messages: ['n', None].
std::string text(const List& list);

// Reads a list of strings and None, as users give it for a tensor of `ndim` dimensions, and checks it.
List parsed(const lamella_value& given, int ndim);

// Returns ", did you mean 'x'?" with the name in the list that is nearest to a text; "" if none is near.
std::string suggestion(std::string_view text, const List& list);

}  // namespace lamella::named
