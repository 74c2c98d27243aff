// No kernel allocates. Apart from the laws' test, as to compile all kernels takes long.
#include <cstdlib>

#include "allocations.hpp"
#include "arms.hpp"
#include "check.hpp"
#include "thunder/quantities.hpp"

using namespace thunder;
using Eigen::VectorXd;

namespace {

/// The constructions kept for study, which are not vectorised, may allocate.
template <class Quantity>
void check_kernel(const Model& model) {
  if (!Quantity::vectorised) return;
  const VectorXd x = arms::posture();
  const double* in[] = {x.data(), x.data(), x.data(), x.data(), x.data()};
  const Selection<double> selection{model.frame(model.end_effector()), TaskRows{}};
  std::vector<double> out(Quantity::shape(sizes(model.view(), 6)).size());
  const allocations::Scope scope;
  Quantity::evaluate(model.view(), in, selection, out.data());
  if (!CHECK(scope.made() == 0)) std::fprintf(stderr, "  in %s\n", Quantity::name);
}

template <class... Quantity>
void check_kernels(const Model& model, std::tuple<Quantity...>) {
  (check_kernel<Quantity>(model), ...);
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
  check_counter();
  for (const auto& model : {arms::panda(), arms::everything()}) check_kernels(*model, quantities::All{});
  return check::result();
}
