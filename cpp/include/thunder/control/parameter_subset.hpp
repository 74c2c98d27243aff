// Subset of unknown parameters (Thunder article, Remark 2): laws adapt these, the others keep their nominal values.
#pragma once

#include <vector>

namespace thunder {

class ParameterSubset {
 public:
  /// One entry per parameter; throws std::invalid_argument if none is set.
  explicit ParameterSubset(const std::vector<bool>& mask);

  int size() const noexcept { return static_cast<int>(indices_.size()); }
  /// Length of the full parameter vector.
  int full_size() const noexcept { return full_size_; }
  const std::vector<int>& indices() const noexcept { return indices_; }

 private:
  int full_size_;
  std::vector<int> indices_;
};

}  // namespace thunder
