// The Lyapunov equation of a linear system, for laws that weigh their error with its solution.
#pragma once

#include <Eigen/Dense>

namespace thunder {

/// The symmetric P with A' P + P A = -Q, Q symmetric; positive definite if Q is. Throws std::invalid_argument, with the
/// eigenvalue in question, unless A is Hurwitz.
Eigen::MatrixXd solve_lyapunov(const Eigen::MatrixXd& A, const Eigen::MatrixXd& Q);

/// The matrix [0 1; -K_p -K_v] of error dynamics e'' + K_v e' + K_p e = 0, in the state (e, e').
Eigen::MatrixXd error_dynamics(const Eigen::MatrixXd& K_p, const Eigen::MatrixXd& K_v);

}  // namespace thunder
