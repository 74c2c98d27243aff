// Motion as a mean and functional components: x(tau) = x_bar + S_0(tau) + sum_i alpha_i S_i(tau) (D4.2, eq. 95).
#pragma once

#include <vector>

namespace thunder {

/// Largest number of degrees of freedom of a motion: states at its ends are stored on the stack.
constexpr int kMaxDofs = 8;

/// Result of functional PCA, on normalized time 0 to 1, as polynomials in Bernstein form on common pieces.
///
/// The *unknowns* of a motion are the offsets x_bar, one per degree of freedom, and then the scores alpha. A joint model
/// has one score per component, whose function is vector valued; otherwise every degree of freedom has scores of its own,
/// and that of component i and degree of freedom k is unknown number `dimension + i * dimension + k`.
struct FunctionalModel {
  static constexpr int kMaxComponents = 256;

  /// Throws std::invalid_argument where breaks do not go from 0 to 1 or sizes do not agree.
  FunctionalModel(std::vector<double> breaks, int dimension, bool joint, bool aligned, std::vector<double> mean,
                  std::vector<double> functions, std::vector<double> variances);

  int pieces() const noexcept { return static_cast<int>(breaks.size()) - 1; }
  /// Control points of one scalar function.
  int rows() const noexcept { return pieces() * (degree + 1); }
  int scores() const noexcept { return joint ? components : components * dimension; }
  int unknowns() const noexcept { return dimension + scores(); }
  /// Number of the unknown that is the score of this component in this degree of freedom.
  int score(int component, int dof) const noexcept {
    return dimension + (joint ? component : component * dimension + dof);
  }

  /// The piece that contains tau, and the position in it: 0 to 1.
  int piece_at(double tau, double& s) const noexcept;
  /// A derivative at tau of every S_i, [component][dof], and of S_0, [dof].
  void functions_at(double tau, int derivative, double* functions, double* mean) const noexcept;
  /// Control points [j][dof] of a piece of the motion with these unknowns and the mean's degrees of freedom multiplied by
  /// `mean_scale`.
  void compose(const double* unknowns, const double* mean_scale, int piece, double* points) const noexcept;

  std::vector<double> breaks;  // pieces + 1, from 0 to 1
  int dimension, degree, components;
  bool joint;                     // one score for all degrees of freedom
  bool aligned;                   // learned in the frame of the path: from 0 to (1, 0, 0), see path_frame.hpp
  std::vector<double> mean;       // [piece][j][dof]
  std::vector<double> functions;  // [component][piece][j][dof]
  std::vector<double> variances;  // of the scores, in their order
};

}  // namespace thunder
