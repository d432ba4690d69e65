#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace subfleet {

// Keeps the last `capacity` values that were asked for, and makes missing ones.
template <typename Key, typename Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(size_t capacity = 2) : capacity_(capacity) {}

  // From now on keeps at least `capacity` values.
  void make_room(size_t capacity) { capacity_ = std::max(capacity_, capacity); }

  // Calls make(key) if there is no value for the key. The reference is valid until the next call.
  template <typename Make>
  Value& get(const Key& key, Make&& make) {
    auto found =
        std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item.first == key; });
    if (found == items_.end()) {
      if (items_.size() == capacity_) items_.pop_back();
      items_.emplace_back(key, make(key));
      found = items_.end() - 1;
    }
    std::rotate(items_.begin(), found, found + 1);
    return items_.front().second;
  }

 private:
  size_t capacity_;
  std::vector<std::pair<Key, Value>> items_;  // the latest first
};

}  // namespace subfleet
