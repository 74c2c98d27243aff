// Kinematics and torques of an arm as functions of its unknown lengths.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../kernels/evaluator.hpp"
#include "../math/matrices.hpp"

namespace thunder {

/// Position and Jacobian of the end effector are affine in the k unknown lengths, torques are polynomials of the second degree.
/// Their coefficients follow from arms with displaced lengths, without truncation error. Torques are linear in the a
/// monomials of the lengths times 1 and the u unknown inertial parameters, the products.
class LengthModel {
 public:
  struct Data {
    std::vector<std::string> names;                    // of the lengths
    Eigen::VectorXd nominal, scale;                    // of the lengths, and the displacement of each [m]
    std::vector<std::shared_ptr<const Model>> affine;  // the nominal arm, then one for each displaced length
    std::vector<std::shared_ptr<const Model>> nodes;   // arms whose torques determine the a coefficients
    std::vector<std::vector<int>> factors;             // of each monomial: the scaled displacements in it
    RowMajor weights;                                  // (a, a), coefficients from the values at the nodes
    std::vector<bool> unknown;                         // of the inertial parameters
  };

  struct Kinematics {
    Eigen::Vector3d p;
    Eigen::Matrix3d R;
    Eigen::Vector3d w;           // angular velocity
    Eigen::Matrix3Xd P;          // derivative of p by the lengths
    Jacobian J, J_dot;           // J_dot with constant lengths
    std::vector<Jacobian> dJ;    // derivatives of J by the lengths
    Eigen::Matrix<double, 6, Eigen::Dynamic> W;  // of J dq
  };

  /// Throws std::invalid_argument where sizes do not agree.
  explicit LengthModel(Data data);

  const std::shared_ptr<const Model>& arm() const noexcept { return affine_.front().shared_model(); }
  int n() const noexcept { return affine_.front().n(); }
  int lengths() const noexcept { return static_cast<int>(data_.nominal.size()); }
  int monomials() const noexcept { return static_cast<int>(data_.factors.size()); }
  /// Unknown inertial parameters.
  const std::vector<int>& unknown() const noexcept { return unknown_; }
  const Data& data() const noexcept { return data_; }
  std::vector<std::string> product_names() const;

  Kinematics blank_kinematics() const;
  void kinematics(const double* q, const double* dq, const double* lengths, Kinematics& result) noexcept;
  /// The products (a, 1 + u) of lengths and all inertial parameters.
  void products(const double* lengths, const double* parameters, RowMajor& result) const noexcept;
  /// Evaluates the regressor for the calls below.
  void regress(const double* q, const double* dq, const double* dq_r, const double* ddq_r) noexcept;
  /// tau = Y products
  void torque(const RowMajor& products, double* tau) noexcept;
  /// Y' s, (a, 1 + u)
  void gradient(const Eigen::VectorXd& s, RowMajor& result) noexcept;
  /// Row i of Y, (a, 1 + u).
  RowMajor regressor_row(int i) const;

 private:
  Data data_;
  std::vector<int> unknown_;
  Eigen::VectorXd known_;  // inertial parameters, zero where they are unknown
  std::vector<Evaluator> affine_, nodes_;
  std::vector<RowMajor> columns_;  // (n, 1 + u), the regressor of each node
  RowMajor Y_, at_nodes_;          // (n, p) and (a, 1 + u)
  std::vector<Jacobian> J_, J_dot_;
};

}  // namespace thunder
