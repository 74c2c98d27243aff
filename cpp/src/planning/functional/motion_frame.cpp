#include "thunder/planning/functional/motion_frame.hpp"

#include <algorithm>

namespace thunder {

MotionFrame::MotionFrame(const FunctionalModel& model, const DofVector& start, const DofVector& goal) noexcept
    : aligned(model.aligned),
      dimension(model.dimension),
      other_ratio(std::min((goal - start).norm() / kLeastScale, 1.0)) {
  if (!aligned) return;
  const PathFrame path = path_frame(start.head<3>(), goal.head<3>());
  origin = path.origin;
  R = path.R;
  scale = std::max(path.length, kLeastScale);
  ratio = path.length / scale;
}

void MotionFrame::to_model(const DofVector& x, bool derivative, double* out) const noexcept {
  if (!aligned) {
    std::copy_n(x.data(), dimension, out);
    return;
  }
  Eigen::Vector3d p = x.head<3>();
  if (!derivative) p -= origin;
  Eigen::Map<Eigen::Vector3d>(out).noalias() = R.transpose() * p / scale;
  if (dimension > 3) Eigen::Map<Eigen::Vector3d>(out + 3).noalias() = R.transpose() * x.segment<3>(3);
}

void MotionFrame::turn_to_world(double* difference) const noexcept {
  if (!aligned) return;
  Eigen::Map<Eigen::Vector3d> p(difference);
  p = scale * (R * Eigen::Vector3d(p));
  if (dimension == 3) return;
  Eigen::Map<Eigen::Vector3d> turn(difference + 3);
  turn = R * Eigen::Vector3d(turn);
}

void MotionFrame::to_world(double* point) const noexcept {
  turn_to_world(point);
  if (aligned) Eigen::Map<Eigen::Vector3d>{point} += origin;
}

Eigen::MatrixXd MotionFrame::axes() const {
  Eigen::MatrixXd G = Eigen::MatrixXd::Identity(dimension, dimension);
  if (!aligned) return G;
  G.topLeftCorner<3, 3>() = scale * R;
  if (dimension > 3) G.bottomRightCorner<3, 3>() = R;
  return G;
}

}  // namespace thunder
