// Powers to Bernstein polynomials and back: one path.
#include <random>

#include "check.hpp"
#include "thunder/planning/trajectory/bezier_path.hpp"

using namespace thunder;

namespace {

void check_conversions(int dimension, int order, const std::vector<double>& breaks) {
  std::mt19937 generator(static_cast<unsigned>(10 * order + dimension));
  std::normal_distribution<double> normal;
  std::vector<double> coefficients((breaks.size() - 1) * static_cast<std::size_t>(order * dimension));
  for (double& c : coefficients) c = normal(generator);
  const PiecewisePolynomial powers(breaks, coefficients, dimension);
  const BezierPath path(powers);
  CHECK(path.dimension == dimension && path.degree == order - 1 && path.breaks == breaks);
  std::vector<double> expected[3], found(static_cast<std::size_t>(dimension));
  for (auto& derivative : expected) derivative.resize(static_cast<std::size_t>(dimension));
  for (int k = 0; k < 50; ++k) {
    const double t = breaks.front() + (breaks.back() - breaks.front()) * (k + 0.5) / 50.0;
    powers.at(t, expected[0].data(), expected[1].data(), expected[2].data());
    for (int derivative = 0; derivative < 3; ++derivative) {
      path.at(t, derivative, found.data());
      for (std::size_t d = 0; d < found.size(); ++d) CHECK(std::abs(found[d] - expected[derivative][d]) < 1e-10);
    }
  }
  const std::vector<double> back = path.polynomial().coefficients();
  for (std::size_t k = 0; k < back.size(); ++k) CHECK(std::abs(back[k] - coefficients[k]) < 1e-9);
}

}  // namespace

int main() {
  for (const int order : {1, 2, 6, 10})
    for (const int dimension : {1, 3, 6}) check_conversions(dimension, order, {-0.5, 0.2, 0.9, 1.7});
  return check::result();
}
