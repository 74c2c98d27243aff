#include "thunder/planning/functional/functional_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "thunder/planning/trajectory/bezier_path.hpp"

namespace thunder {

namespace {

/// Bernstein polynomials of `degree` at s, differentiated with respect to s: their weights of the control points.
void bernstein_weights(int degree, int derivative, double s, double* out) noexcept {
  std::fill_n(out, degree + 1, 0.0);
  if (derivative > degree) return;
  out[0] = 1.0;
  for (int level = 1; level <= degree - derivative; ++level)
    for (int j = level; j >= 0; --j)
      out[j] = (j < level ? (1.0 - s) * out[j] : 0.0) + (j > 0 ? s * out[j - 1] : 0.0);
  for (int level = degree - derivative + 1; level <= degree; ++level)  // a derivative is a difference of neighbors
    for (int j = level; j >= 0; --j)
      out[j] = level * ((j > 0 ? out[j - 1] : 0.0) - (j < level ? out[j] : 0.0));
}

void check_breaks(const std::vector<double>& breaks) {
  if (breaks.size() < 2 || breaks.front() != 0.0 || breaks.back() != 1.0)
    throw std::invalid_argument("breaks must go from 0 to 1");
  for (std::size_t k = 1; k < breaks.size(); ++k)
    if (!(breaks[k] > breaks[k - 1])) throw std::invalid_argument("breaks must increase");
}

}  // namespace

FunctionalModel::FunctionalModel(std::vector<double> breaks_, int dimension_, bool joint_, bool aligned_,
                                 std::vector<double> mean_, std::vector<double> functions_,
                                 std::vector<double> variances_)
    : breaks(std::move(breaks_)), dimension(dimension_), degree(0), components(0), joint(joint_), aligned(aligned_),
      mean(std::move(mean_)), functions(std::move(functions_)), variances(std::move(variances_)) {
  check_breaks(breaks);
  if (dimension < 1 || dimension > kMaxDofs)
    throw std::invalid_argument("a motion must have 1 to " + std::to_string(kMaxDofs) + " degrees of freedom, got " +
                                std::to_string(dimension));
  if (aligned && dimension != 3 && dimension != 6)
    throw std::invalid_argument("a model aligned with the path must have 3 or 6 degrees of freedom, got " +
                                std::to_string(dimension));
  const std::size_t per_degree = static_cast<std::size_t>(pieces() * dimension);
  if (mean.empty() || mean.size() % per_degree != 0 || functions.size() % mean.size() != 0)
    throw std::invalid_argument("control points must be as many as pieces x (degree + 1) x dimension");
  degree = static_cast<int>(mean.size() / per_degree) - 1;
  if (degree > BezierPath::kMaxDegree)
    throw std::invalid_argument("the degree must be at most " + std::to_string(BezierPath::kMaxDegree) + ", got " +
                                std::to_string(degree));
  components = static_cast<int>(functions.size() / mean.size());
  if (components > kMaxComponents)
    throw std::invalid_argument("components must be at most " + std::to_string(kMaxComponents) + ", got " +
                                std::to_string(components));
  if (variances.size() != static_cast<std::size_t>(scores()))
    throw std::invalid_argument("variances must be as many as scores");
}

int FunctionalModel::piece_at(double tau, double& s) const noexcept {
  const auto next = std::upper_bound(breaks.begin() + 1, breaks.end() - 1, tau);
  const auto piece = next - breaks.begin() - 1;
  s = (tau - breaks[piece]) / (breaks[piece + 1] - breaks[piece]);
  return static_cast<int>(piece);
}

void FunctionalModel::functions_at(double tau, int derivative, double* values, double* mean_values) const noexcept {
  double s, weights[BezierPath::kMaxDegree + 1];
  const int piece = piece_at(tau, s);
  bernstein_weights(degree, derivative, s, weights);
  const double h = breaks[piece + 1] - breaks[piece];
  for (int j = 0; j <= degree; ++j)
    for (int i = 0; i < derivative; ++i) weights[j] /= h;
  const auto at = [&](const double* points, double* out) {
    double sum[kMaxDofs] = {};
    for (int j = 0; j <= degree; ++j) {
      if (weights[j] == 0.0) continue;  // most are at the ends of a piece
      for (int k = 0; k < dimension; ++k) sum[k] += weights[j] * points[j * dimension + k];
    }
    for (int k = 0; k < dimension; ++k) out[k] = sum[k];
  };
  const std::size_t here = static_cast<std::size_t>(piece * (degree + 1) * dimension);
  for (int i = 0; i < components; ++i) at(functions.data() + i * mean.size() + here, values + i * dimension);
  at(mean.data() + here, mean_values);
}

void FunctionalModel::compose(const double* unknowns, const double* mean_scale, int piece,
                              double* points) const noexcept {
  const int width = (degree + 1) * dimension;
  const double* const constant = mean.data() + piece * width;
  for (int p = 0; p < width; p += dimension)
    for (int k = 0; k < dimension; ++k) points[p + k] = unknowns[k] + mean_scale[k] * constant[p + k];
  double one[(BezierPath::kMaxDegree + 1) * kMaxDofs];
  for (int i = 0; i < components; ++i) {
    for (int q = 0; q < width; ++q) one[q] = unknowns[score(i, q % dimension)];
    const double* const function = functions.data() + i * mean.size() + piece * width;
    for (int q = 0; q < width; ++q) points[q] += one[q] * function[q];
  }
}

}  // namespace thunder
