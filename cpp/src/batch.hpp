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
struct AlignedDelete {
  void operator()(Pk* p) const { ::operator delete(p, std::align_val_t(alignof(Pk))); }
};

template <std::size_t Index, class Pk>
void run_batch(const BatchCall& call) {
  using Q = std::tuple_element_t<Index, quantities::All>;
  constexpr int W = Pk::width;
  const Sizes s = sizes(call.chain, call.selection.rows.count());
  const int size = Q::shape(s).size();
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
        for (int i = 0; i < Q::input_size(k, s); ++i) x[k][i] = across_rows<Pk>(rows, i);
      }
      Q::evaluate(call.chain, in, call.selection, buffer.get());
      double* rows[W];
      for (int l = 0; l < W; ++l) rows[l] = call.out + (b + l) * size;
      transpose_to_rows(buffer.get(), size, rows, lanes);
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
