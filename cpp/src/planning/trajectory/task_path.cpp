#include "thunder/planning/trajectory/task_path.hpp"

#include <algorithm>
#include <cmath>

namespace thunder {

TaskPath::TaskPath(const Eigen::Vector3d& p, const Eigen::Matrix3d& R, std::vector<Portion> portions,
                   std::vector<Turn> turns)
    : p_(p), R_(R), portions_(std::move(portions)), turns_(std::move(turns)) {
  for (const Portion& portion : portions_) end_ = std::max(end_, portion.law.end());
  for (const Turn& turn : turns_) end_ = std::max(end_, turn.law.end());
}

void TaskPath::progress(const PiecewisePolynomial& law, double t, double (&s)[3]) const noexcept {
  law.at(t, &s[0], &s[1], &s[2]);
  if (t == law.end() && t < end_) s[1] = s[2] = 0.0;
}

void TaskPath::move(const Portion& portion, double t, TaskReference& reference) const noexcept {
  double s[3];
  progress(portion.law, t, s);
  const double angle = portion.angle * s[0], c = std::cos(angle), sine = std::sin(angle);
  const Eigen::Vector3d radial = portion.angle * (c * portion.w - sine * portion.u);
  const Eigen::Vector3d tangent = portion.chord + radial;
  const Eigen::Vector3d bend = -portion.angle * portion.angle * (c * portion.u + sine * portion.w);
  reference.p += s[0] * portion.chord + (c - 1.0) * portion.u + sine * portion.w;
  reference.xi.head<3>() += s[1] * tangent;
  reference.xi_dot.head<3>() += s[2] * tangent + s[1] * s[1] * bend;
}

void TaskPath::turn(const Turn& turn, double t, TaskReference& reference) const noexcept {
  double s[3];
  progress(turn.law, t, s);
  const Eigen::Matrix3d E = Eigen::AngleAxisd(turn.angle * s[0], turn.axis).toRotationMatrix();
  const Eigen::Vector3d w = turn.angle * s[1] * turn.axis;
  const Eigen::Vector3d before = E * reference.xi.tail<3>();
  const Eigen::Vector3d before_dot = E * reference.xi_dot.tail<3>();
  reference.R = E * Eigen::Matrix3d(reference.R);
  reference.xi.tail<3>() = w + before;
  reference.xi_dot.tail<3>() = turn.angle * s[2] * turn.axis + before_dot + w.cross(before);
}

void TaskPath::at(double t, TaskReference& reference) const noexcept {
  reference.p = p_;
  reference.R = R_;
  reference.xi.setZero();
  reference.xi_dot.setZero();
  for (const Portion& portion : portions_) move(portion, t, reference);
  for (const Turn& each : turns_) turn(each, t, reference);
}

}  // namespace thunder
