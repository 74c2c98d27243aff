// Names of the quantities, for callers of the table of kernels.
#pragma once

#include <cstddef>

namespace thunder {

enum class Quantity : std::size_t {
#define THUNDER_QUANTITY(NAME, ...) NAME,
#include "quantity_list.inc"
  count
};
inline constexpr auto kQuantityCount = static_cast<std::size_t>(Quantity::count);

}  // namespace thunder
