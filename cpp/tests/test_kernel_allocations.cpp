// No kernel allocates or takes more scratch than `workspace_bytes` says, alone and in batches, on every instruction set.
#include <cstdlib>
#include <cstring>

#include "allocations.hpp"
#include "arms.hpp"
#include "check.hpp"
#include "random_chain.hpp"
#include "thunder/kernels/kernels.hpp"
#include "thunder/kernels/quantities.hpp"

using namespace thunder;
using Eigen::VectorXd;

namespace {

/// Rare ones, such as the constructions kept for study, may allocate.
template <std::size_t Index>
void check_allocations(const Kernels& table, const Model& model) {
  using Quantity = std::tuple_element_t<Index, quantities::All>;
  if (Quantity::batch == Batch::rare) return;
  VectorXd x = VectorXd::Constant(model.parameter_count(), 0.4);
  x.head(model.n()) = arms::posture();
  const double* in[] = {x.data(), x.data(), x.data(), x.data(), x.data()};
  const Selection<double> selection{model.frame(model.end_effector()), TaskRows{}};
  std::vector<double> out(Quantity::shape(sizes(model.view(), 6)).size());
  const Workspace work = thread_workspace(model.n());
  const allocations::Scope scope;
  table.evaluate[Index](model.view(), work, in, selection, out.data());
  if (!CHECK(scope.made() == 0)) std::fprintf(stderr, "  in %s of %s\n", Quantity::name, table.name);
}

template <std::size_t... I>
void check_allocations(const Kernels& table, const Model& model, std::index_sequence<I...>) {
  (check_allocations<I>(table, model), ...);
}

/// Bytes at the front of `memory` that a call wrote to.
template <class Call>
std::size_t touched(std::vector<std::byte>& memory, Call&& call) {
  std::memset(memory.data(), 0x5a, memory.size());
  std::byte* const begin = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) & ~std::uintptr_t{63});
  call(Workspace(begin));
  std::size_t last = memory.size();
  while (last > 0 && memory[last - 1] == std::byte{0x5a}) --last;
  return last;
}

template <std::size_t Index>
void check_workspace(const Kernels& table, const Chain& chain) {
  using Quantity = std::tuple_element_t<Index, quantities::All>;
  const auto lanes = static_cast<std::size_t>(table.state_lanes);
  const std::vector<double> x(static_cast<std::size_t>(chain.parameters()), 0.3);
  const double* in[] = {x.data(), x.data(), x.data(), x.data(), x.data()};
  const Selection<double> selection{{chain.n, {{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, {0.1, 0.2, 0.3}}}, TaskRows{}};
  const int size = Quantity::shape(sizes(chain, 6)).size();
  std::vector<double> out(static_cast<std::size_t>(size));
  const std::size_t one = workspace_bytes(chain.n, sizeof(double));
  std::vector<std::byte> memory(2 * one);
  std::size_t used = touched(memory, [&](Workspace w) { table.evaluate[Index](chain, w, in, selection, out.data()); });
  if (!CHECK(used <= one)) std::fprintf(stderr, "  in %s of %s, %d joints\n", Quantity::name, table.name, chain.n);
  const std::size_t batch = batch_workspace_bytes(chain, size, table.state_lanes);
  memory.resize(batch + one * lanes);
  const BatchCall call{chain, selection, {in[0], in[1], in[2], in[3], in[4]}, {}, out.data(), 0, 1};
  used = touched(memory, [&](Workspace w) { table.evaluate_batch[Index](call, w); });
  if (!CHECK(used <= batch)) std::fprintf(stderr, "  in batches of %s of %s, %d joints\n", Quantity::name, table.name, chain.n);
}

template <std::size_t... I>
void check_workspace(const Kernels& table, const Chain& chain, std::index_sequence<I...>) {
  (check_workspace<I>(table, chain), ...);
}

void check_counter() {
  if (!allocations::counted()) return;
  const long before = allocations::count();
  void* volatile probe = std::malloc(8);
  CHECK(allocations::count() == before + 1);
  std::free(probe);
}

}  // namespace

int main() {
  constexpr auto all = std::make_index_sequence<kQuantityCount>();
  check_counter();
  chains::Random random(3);
  for (const Kernels* table : available_kernels()) {
    for (const auto& model : {arms::panda(), arms::everything()}) check_allocations(*table, *model, all);
    for (const int n : {1, 2, 3, 4, 5, 7, 8, 12, 20}) {
      const chains::RandomChain chain(random, n);
      check_workspace(*table, chain.view(), all);
    }
  }
  return check::result();
}
