// Motion as a mean and functional components: x(tau) = x_bar + S_0(tau) + sum_i alpha_i S_i(tau) (D4.2, eq. 95).
#pragma once

#include <vector>

namespace thunder {

/// Degrees of freedom that a motion may have: states at its ends live on the stack.
constexpr int kMaxDofs = 8;

/// What functional PCA has learned, on normalised time 0 to 1, as polynomials in Bernstein form on common pieces.
///
/// The *unknowns* of a motion are the offsets x_bar, one per degree of freedom, and then the scores alpha. A joint model
/// has one score per component, whose function is vector valued; otherwise every degree of freedom has scores of its own,
/// and the unknown of component i and degree of freedom k is number `dimension + i * dimension + k`.
struct FunctionalModel {
  /// Throws std::invalid_argument where breaks do not go from 0 to 1 or sizes do not agree.
  FunctionalModel(std::vector<double> breaks, int dimension, bool joint, bool aligned, std::vector<double> mean,
                  std::vector<double> functions, std::vector<double> variances);

  int pieces() const noexcept { return static_cast<int>(breaks.size()) - 1; }
  /// Control points of one scalar function.
  int rows() const noexcept { return pieces() * (degree + 1); }
  int scores() const noexcept { return joint ? components : components * dimension; }
  int unknowns() const noexcept { return dimension + scores(); }

  /// Bernstein polynomials at tau, differentiated: degree + 1 weights of the control points of the piece returned.
  int weights(double tau, int derivative, double* out) const noexcept;
  /// Derivative of S_0 of one degree of freedom at tau.
  double mean_at(double tau, int derivative, int dof) const noexcept;
  /// Derivatives of what the unknowns multiply in one degree of freedom at tau: `unknowns()` numbers.
  void row(double tau, int derivative, int dof, double* out) const noexcept;
  /// Control points [piece][j][dof] of the motion with these unknowns.
  void compose(const double* unknowns, double* points) const noexcept;

  std::vector<double> breaks;  // pieces + 1, from 0 to 1
  int dimension, degree, components;
  bool joint;                     // one score for all degrees of freedom
  bool aligned;                   // learned in the frame of the path: from 0 to (1, 0, 0), see path_frame.hpp
  std::vector<double> mean;       // [piece][j][dof]
  std::vector<double> functions;  // [component][piece][j][dof]
  std::vector<double> variances;  // of the scores, in their order
};

}  // namespace thunder
