#pragma once

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "taper/core/error.h"

namespace taper {

/// A dictionary that keeps the order of insertion.
template <class Key, class Value>
class OrderedDict {
 public:
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    const Key& key() const { return pair_.first; }
    Value& value() { return pair_.second; }
    const Value& value() const { return pair_.second; }
    Value& operator*() { return value(); }
    const Value& operator*() const { return value(); }
    Value* operator->() { return &value(); }
    const Value* operator->() const { return &value(); }
    const std::pair<Key, Value>& pair() const { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  explicit OrderedDict(std::string subject = "Key") : subject_(std::move(subject)) {}
  OrderedDict(std::initializer_list<Item> items) : OrderedDict("Key") {
    for (const Item& item : items) insert(item.key(), item.value());
  }

  const std::string& key_description() const { return subject_; }
  size_t size() const { return items_.size(); }
  bool is_empty() const { return items_.empty(); }
  bool contains(const Key& key) const { return index_.count(key) != 0; }
  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  Item& front() { return items_.front(); }
  const Item& front() const { return items_.front(); }
  Item& back() { return items_.back(); }
  const Item& back() const { return items_.back(); }
  Item& operator[](size_t i) { return items_.at(i); }
  const Item& operator[](size_t i) const { return items_.at(i); }

  Value* find(const Key& key) {
    const auto at = index_.find(key);
    return at == index_.end() ? nullptr : &items_[at->second].value();
  }
  const Value* find(const Key& key) const { return const_cast<OrderedDict*>(this)->find(key); }
  /// The value. Throws when there is none.
  Value& operator[](const Key& key) {
    Value* value = find(key);
    TAPER_CHECK(value, subject_, " '", key, "' is not defined");
    return *value;
  }
  const Value& operator[](const Key& key) const { return const_cast<OrderedDict&>(*this)[key]; }

  /// Throws when the key is there already.
  Value& insert(Key key, Value value) {
    TAPER_CHECK(!contains(key), subject_, " '", key, "' already defined");
    index_[key] = items_.size();
    items_.emplace_back(std::move(key), std::move(value));
    return items_.back().value();
  }
  void update(const OrderedDict& other) {
    for (const Item& item : other) insert(item.key(), item.value());
  }
  void erase(const Key& key) {
    const auto at = index_.find(key);
    TAPER_CHECK(at != index_.end(), subject_, " '", key, "' doesn't exist");
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at->second));
    index_.clear();
    for (size_t i = 0; i < items_.size(); ++i) index_[items_[i].key()] = i;
  }
  void clear() {
    items_.clear();
    index_.clear();
  }
  void reserve(size_t n) { items_.reserve(n); }

  std::vector<Key> keys() const {
    std::vector<Key> out;
    for (const Item& item : items_) out.push_back(item.key());
    return out;
  }
  std::vector<Value> values() const {
    std::vector<Value> out;
    for (const Item& item : items_) out.push_back(item.value());
    return out;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> out;
    for (const Item& item : items_) out.push_back(item.pair());
    return out;
  }

 private:
  std::string subject_;
  std::vector<Item> items_;
  std::unordered_map<Key, size_t> index_;
};

}  // namespace taper
