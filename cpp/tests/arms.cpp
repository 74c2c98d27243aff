#include "arms.hpp"

#include "thunder/dynamics/kinematics.hpp"

namespace arms {

thunder::TaskReference reference_at(const thunder::Model& model, const Eigen::VectorXd& q) {
  Eigen::Matrix<double, 4, 4, Eigen::RowMajor> T;
  thunder::forward_kinematics(model.view(), q.data(), model.frame(model.end_effector()), T.data());
  thunder::TaskReference reference;
  reference.p = T.topRightCorner<3, 1>();
  reference.R = T.topLeftCorner<3, 3>();
  return reference;
}

}  // namespace arms
