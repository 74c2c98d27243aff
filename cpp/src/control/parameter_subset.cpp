#include "thunder/control/parameter_subset.hpp"

#include <stdexcept>

namespace thunder {

ParameterSubset::ParameterSubset(const std::vector<bool>& mask) : full_size_(static_cast<int>(mask.size())) {
  for (int i = 0; i < full_size_; ++i)
    if (mask[i]) indices_.push_back(i);
  if (indices_.empty()) throw std::invalid_argument("unknown must select at least one parameter");
}

}  // namespace thunder
