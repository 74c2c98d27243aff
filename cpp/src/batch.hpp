// Batches in packs: W samples are transposed into lanes, evaluated together and transposed back. Included by one
// source file for each instruction set; everything here is a template on the pack, so that nothing is shared.
#pragma once

#include <memory>
#include <new>
#include <utility>

#include "thunder/evaluation.hpp"
#include "thunder/math/pack.hpp"

namespace thunder {

template <class Pk>
THUNDER_INLINE void load_lanes(const double* const* rows, int n, Pk* x) {
  for (int i = 0; i < n; ++i)
    for (int l = 0; l < Pk::width; ++l) x[i].v[l] = rows[l][i];
}

#ifdef __clang__
#define THUNDER_SHUFFLE4(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define THUNDER_SHUFFLE4(a, b, i, j, k, l) __builtin_shuffle(a, b, Bits{i, j, k, l})
#endif

/// Lane l of x[0..size) goes to rows[l], for the first `lanes` lanes.
template <class Pk>
THUNDER_INLINE void store_lanes(const Pk* x, int size, double* const* rows, int lanes) {
  int i = 0;
  if constexpr (Pk::width == 4) {
    using Lanes = typename Pk::Lanes;
    [[maybe_unused]] typedef typename Pk::Bits Bits;
    for (; lanes == 4 && i + 4 <= size; i += 4) {
      const Lanes a = x[i].v, b = x[i + 1].v, c = x[i + 2].v, d = x[i + 3].v;
      const Lanes ab0 = THUNDER_SHUFFLE4(a, b, 0, 4, 2, 6), ab1 = THUNDER_SHUFFLE4(a, b, 1, 5, 3, 7);
      const Lanes cd0 = THUNDER_SHUFFLE4(c, d, 0, 4, 2, 6), cd1 = THUNDER_SHUFFLE4(c, d, 1, 5, 3, 7);
      const Lanes r[4] = {THUNDER_SHUFFLE4(ab0, cd0, 0, 1, 4, 5), THUNDER_SHUFFLE4(ab1, cd1, 0, 1, 4, 5),
                          THUNDER_SHUFFLE4(ab0, cd0, 2, 3, 6, 7), THUNDER_SHUFFLE4(ab1, cd1, 2, 3, 6, 7)};
      for (int l = 0; l < 4; ++l) __builtin_memcpy(rows[l] + i, &r[l], sizeof(Lanes));
    }
  }
  for (; i < size; ++i)
    for (int l = 0; l < lanes; ++l) rows[l][i] = x[i].v[l];
}

template <class Pk>
struct AlignedDelete {
  void operator()(Pk* p) const { ::operator delete(p, std::align_val_t(alignof(Pk))); }
};

template <std::size_t Index, class Pk>
void run_batch(const BatchCall& call) {
  using Q = std::tuple_element_t<Index, quantities::All>;
  constexpr int W = Pk::width;
  const int n = call.chain.n;
  const int size = Q::shape(n, call.chain.parameters(), call.selection.rows.count()).size();
  if constexpr (!Q::vectorised) {
    for (std::size_t b = call.first; b < call.last; ++b) {
      const double* in[kMaxInputs] = {};
      for (int k = 0; k < Q::input_count; ++k) in[k] = call.in[k] + static_cast<std::ptrdiff_t>(b) * call.stride[k];
      evaluate_one(Index)(call.chain, in, call.selection, call.out + b * size);
    }
  } else {
    const std::unique_ptr<Pk, AlignedDelete<Pk>> buffer(
        static_cast<Pk*>(::operator new(sizeof(Pk) * size, std::align_val_t(alignof(Pk)))));
    Pk x[Q::input_count][kMaxJoints];
    const Pk* in[Q::input_count];
    for (int k = 0; k < Q::input_count; ++k) in[k] = x[k];
    for (std::size_t b = call.first; b < call.last; b += W) {
      const int lanes = call.last - b < W ? static_cast<int>(call.last - b) : W;
      for (int k = 0; k < Q::input_count; ++k) {
        const double* rows[W];
        for (int l = 0; l < W; ++l)  // idle lanes repeat the last sample
          rows[l] = call.in[k] + static_cast<std::ptrdiff_t>(b + (l < lanes ? l : lanes - 1)) * call.stride[k];
        load_lanes(rows, n, x[k]);
      }
      Q::evaluate(call.chain, in, call.selection, buffer.get());
      double* rows[W];
      for (int l = 0; l < W; ++l) rows[l] = call.out + (b + l) * size;
      store_lanes(buffer.get(), size, rows, lanes);
    }
  }
}

/// One entry for each quantity of the list.
template <class Pk, class Sequence = std::make_index_sequence<kQuantityCount>>
struct BatchTable;
template <class Pk, std::size_t... I>
struct BatchTable<Pk, std::index_sequence<I...>> {
  static constexpr BatchFunction entries[] = {run_batch<I, Pk>...};
};

}  // namespace thunder
