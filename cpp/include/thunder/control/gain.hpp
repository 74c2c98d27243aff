// Gains as user input: a number, one number per row, or a symmetric positive definite matrix.
#pragma once

#include <Eigen/Dense>
#include <string>

namespace thunder {

/// The size x size matrix that `value` (1 x 1, size x 1 or size x size) stands for. Throws std::invalid_argument, with
/// the gain's name, unless it is finite, symmetric and positive definite.
Eigen::MatrixXd gain_matrix(const Eigen::MatrixXd& value, int size, const std::string& name);

/// Throws unless K_p Lambda + Lambda K_p is positive definite: K_p and Lambda being so is not enough (errata T-10).
void require_joint_definiteness(const Eigen::MatrixXd& K_p, const Eigen::MatrixXd& Lambda);

}  // namespace thunder
