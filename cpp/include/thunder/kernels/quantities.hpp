// The quantities of the list as types, and their description for callers that take any of them.
#pragma once

#include <array>
#include <tuple>

#include "../dynamics/derivatives.hpp"
#include "../dynamics/elastic.hpp"
#include "../dynamics/energy.hpp"
#include "../dynamics/energy_regressors.hpp"
#include "../dynamics/matrix_algebra.hpp"
#include "../dynamics/operational_space.hpp"
#include "../dynamics/regressor_products.hpp"
#include "../dynamics/slotine_li_torque.hpp"
#include "quantity.hpp"

namespace thunder {

/// Shape of one sample of an output.
struct Shape {
  int rank;
  int dims[4];
  THUNDER_INLINE int size() const {
    int product = 1;
    for (int i = 0; i < rank; ++i) product *= dims[i];
    return product;
  }
};

/// Dimensions of shapes: joints, parameters, chosen rows, elastic joints and their numbers of coefficients.
struct Sizes {
  int n, p, m, e, K, D, Dm;
};
template <class P>
THUNDER_INLINE Sizes sizes(const ChainView<P>& c, int rows) {
  return {c.n, c.parameters(), rows, c.elastic.count, c.elastic.K_order, c.elastic.D_order, c.elastic.Dm_order};
}

/// Is an input of this name a vector of motors, with an entry for each elastic joint (x, dx, ddx)? Others have n.
THUNDER_INLINE constexpr bool is_of_motors(const char* input) {
  while (*input == 'd') ++input;
  return input[0] == 'x' && input[1] == '\0';
}
/// Is it a vector of parameters, with p entries (pi)?
THUNDER_INLINE constexpr bool is_of_parameters(const char* input) { return input[0] == 'p' && input[1] == 'i'; }
/// The inputs of a kind as bits.
template <int N>
constexpr unsigned input_bits(const char* const (&inputs)[N], bool (*is_of_kind)(const char*)) {
  unsigned bits = 0;
  for (int k = 0; k < N; ++k) bits |= is_of_kind(inputs[k]) ? 1u << k : 0u;
  return bits;
}

/// How the states of a batch are evaluated: together in packs; one by one, where packs hold directions of derivatives or would
/// double rarely used code. Rare quantities may also allocate.
enum class Batch { packs, alone, rare };

namespace quantities {
#define THUNDER_QUANTITY(NAME, FUNCTION, FRAME, ROWS, BATCH, SHAPE, CALL, KERNEL, SUMMARY, RETURNS, NOTES, ...) \
  struct NAME {                                                                                   \
    static constexpr const char *name = #FUNCTION, *kernel = KERNEL, *summary = SUMMARY, *returns = RETURNS, *notes = NOTES; \
    static constexpr const char* inputs[] = {__VA_ARGS__};                                        \
    static constexpr int input_count = sizeof(inputs) / sizeof(inputs[0]);                        \
    static constexpr bool takes_frame = FRAME, takes_rows = ROWS;                                \
    static constexpr Batch batch = Batch::BATCH;                                                  \
    static constexpr unsigned motor_inputs = input_bits(inputs, is_of_motors);                    \
    static constexpr unsigned parameter_inputs = input_bits(inputs, is_of_parameters);            \
    THUNDER_INLINE static constexpr int input_size(int k, const Sizes& s) {                       \
      return (motor_inputs >> k & 1) != 0 ? s.e : (parameter_inputs >> k & 1) != 0 ? s.p : s.n;   \
    }                                                                                             \
    THUNDER_INLINE static Shape shape(const Sizes& s) {                                           \
      [[maybe_unused]] const auto [n, p, m, e, K, D, Dm] = s;                                     \
      return Shape SHAPE;                                                                         \
    }                                                                                             \
    template <class S, class P>                                                                   \
    static void evaluate(const ChainView<P>& c, [[maybe_unused]] Workspace w, const S* const* in, \
                         [[maybe_unused]] const Selection<P>& s, S* out) {                        \
      CALL;                                                                                       \
    }                                                                                             \
  };
#include "quantity_list.inc"

/// All of them, in the order of the list.
using All = decltype(std::tuple_cat(
#define THUNDER_QUANTITY(NAME, ...) std::declval<std::tuple<NAME>>(),
#include "quantity_list.inc"
    std::declval<std::tuple<>>()));
}  // namespace quantities

/// Description of a quantity, for callers that take any of them.
struct QuantityInfo {
  const char *name, *kernel, *summary, *returns, *notes;
  const char* const* inputs;
  int input_count;
  bool takes_frame, takes_rows;
  unsigned motor_inputs;
  Shape (*shape)(const Sizes&);
  int (*input_size)(int, const Sizes&);
};
template <class Q>
constexpr QuantityInfo quantity_info() {
  return {Q::name,        Q::kernel,     Q::summary,   Q::returns,      Q::notes, Q::inputs, Q::input_count, Q::takes_frame, Q::takes_rows, Q::motor_inputs, Q::shape, Q::input_size};
}

template <class... Q>
constexpr std::array<QuantityInfo, kQuantityCount> list_quantities(std::tuple<Q...>*) {
  return {quantity_info<Q>()...};
}
/// All entries, in the order of the list.
inline constexpr std::array<QuantityInfo, kQuantityCount> kQuantities =
    list_quantities(static_cast<quantities::All*>(nullptr));

}  // namespace thunder
