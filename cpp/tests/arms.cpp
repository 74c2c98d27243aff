#include "arms.hpp"

#include "thunder/kernels/kernels.hpp"
#include "thunder/math/rotations.hpp"

namespace arms {

thunder::TaskReference reference_at(const thunder::Model& model, const Eigen::VectorXd& q) {
  thunder::Pose<double> pose;
  thunder::kernels().frame_poses(model.view(), thunder::thread_workspace(model.n()), q.data(),
                                 &model.frame(model.end_effector()), 1, &pose, nullptr);
  thunder::TaskReference reference;
  reference.p = {pose.p.x, pose.p.y, pose.p.z};
  reference.R = thunder::to_eigen(pose.R);
  return reference;
}

}  // namespace arms
