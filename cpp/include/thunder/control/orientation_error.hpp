// Orientation error r sin(theta) and its kinematics (Thunder article, Appendix E; errata section 0 and T-11).
#pragma once

#include <Eigen/Dense>

namespace thunder {

inline Eigen::Matrix3d skew(const Eigen::Vector3d& v) {
  Eigen::Matrix3d S;
  S << 0.0, -v.z(), v.y(), v.z(), 0.0, -v.x(), -v.y(), v.x(), 0.0;
  return S;
}

/// Error of the orientation R with respect to R_d: Rt = R_d R' turns by theta about r.
struct OrientationError {
  Eigen::Matrix3d Rt;

  OrientationError(const Eigen::Matrix3d& R_d, const Eigen::Matrix3d& R) : Rt(R_d * R.transpose()) {}

  double cosine() const { return 0.5 * (Rt.trace() - 1.0); }

  /// e_o = r sin(theta), the vector of (Rt - Rt') / 2
  Eigen::Vector3d e() const {
    return 0.5 * Eigen::Vector3d(Rt(2, 1) - Rt(1, 2), Rt(0, 2) - Rt(2, 0), Rt(1, 0) - Rt(0, 1));
  }

  /// L_o of e_o' = L_o' w_d - L_o w. Its determinant is cos(theta) (1 + cos(theta)) / 2: no inverse at 90 degrees.
  Eigen::Matrix3d L() const { return half_trace_minus_transpose(Rt); }

  Eigen::Matrix3d L_dot(const Eigen::Vector3d& w_d, const Eigen::Vector3d& w) const {
    return half_trace_minus_transpose(skew(w_d) * Rt - Rt * skew(w));
  }

 private:
  static Eigen::Matrix3d half_trace_minus_transpose(const Eigen::Matrix3d& A) {
    return 0.5 * (A.trace() * Eigen::Matrix3d::Identity() - A.transpose());
  }
};

}  // namespace thunder
