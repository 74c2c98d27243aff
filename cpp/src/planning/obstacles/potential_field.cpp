#include "thunder/planning/obstacles/potential_field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thunder/math/rotations.hpp"

namespace thunder {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

Frame<double> moved(const Frame<double>& frame, const Eigen::Vector3d& offset) {
  Frame<double> result = frame;
  result.pose.p += frame.pose.R * Vec3<double>{offset.x(), offset.y(), offset.z()};
  return result;
}

}  // namespace

PotentialField::PotentialField(std::shared_ptr<const Model> model,
                               std::vector<std::shared_ptr<const Obstacle>> obstacles, const Settings& settings,
                               const std::vector<LinkPoint>& points, const Eigen::VectorXd& goal)
    : dynamics_(std::move(model)), obstacles_(std::move(obstacles)), settings_(settings), goal_(goal) {
  const Pose<double> identity{{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}};
  frames_.push_back({1, identity});  // the first joint
  for (int link = 1; link <= n(); ++link) frames_.push_back(dynamics_.model().frame(link));
  frames_.push_back(dynamics_.model().frame(dynamics_.model().end_effector()));
  polyline_ = static_cast<int>(frames_.size());
  for (const LinkPoint& point : points) frames_.push_back(moved(dynamics_.model().frame(point.link), point.offset));
  joints_.resize(static_cast<std::size_t>(n()));
  positions_.resize(frames_.size());
  locate(goal_.data());
  goals_ = positions_;
  place_points(settings_.interior);
}

void PotentialField::place_points(int interior) {
  const int tool = polyline_ - 1;
  const bool same = (positions_[static_cast<std::size_t>(tool)] - positions_[static_cast<std::size_t>(tool - 1)]).norm() == 0.0;
  for (int k = 1; k < static_cast<int>(frames_.size()); ++k)
    if (k != tool || !same) places_.push_back({k, k, 0.0, true});  // the end effector counts once
  for (int k = 0; k + 1 < polyline_; ++k)
    for (int i = 1; i <= interior; ++i) places_.push_back({k, k + 1, double(i) / (interior + 1), false});
}

void PotentialField::locate(const double* q) {
  dynamics_.joint_poses(q, joints_.data());
  for (std::size_t k = 0; k < frames_.size(); ++k) {
    const Frame<double>& frame = frames_[k];
    if (frame.joint == 0) {
      positions_[k] = to_eigen(frame.pose.p);
      continue;
    }
    const Pose<double>& joint = joints_[static_cast<std::size_t>(frame.joint - 1)];
    positions_[k] = to_eigen(joint.p + joint.R * frame.pose.p);
  }
}

/// Adds J_v' force for the Jacobian of this very frame's origin.
void PotentialField::pull(int frame, const Eigen::Vector3d& force, double* gradient) const {
  const Eigen::Vector3d& p = positions_[static_cast<std::size_t>(frame)];
  for (int j = 0; j < frames_[static_cast<std::size_t>(frame)].joint; ++j) {
    const Pose<double>& joint = joints_[static_cast<std::size_t>(j)];
    const Eigen::Vector3d z = to_eigen(z_axis(joint.R));
    const bool slides = dynamics_.chain().links[j].type == JointType::prismatic;
    gradient[j] += force.dot(slides ? z : z.cross(p - to_eigen(joint.p)));
  }
}

double PotentialField::attract(const Eigen::Vector3d& p, const Eigen::Vector3d& goal, Eigen::Vector3d& slope) const {
  const Eigen::Vector3d difference = p - goal;
  const double d = difference.norm(), c = settings_.attraction, d0 = settings_.conic_distance;
  if (d <= d0) {
    slope += c * difference;
    return 0.5 * c * d * d;
  }
  slope += c * d0 / d * difference;
  return c * d0 * (d - 0.5 * d0);
}

double PotentialField::repel(const Eigen::Vector3d& p, Eigen::Vector3d& slope) const {
  double sum = 0.0;
  for (const auto& obstacle : obstacles_) {
    const Proximity near = obstacle->nearest(p);
    const double rho = near.distance - settings_.radius;
    if (!(rho > 0.0)) return kUnbounded;
    if (rho >= settings_.influence) continue;
    const double excess = 1.0 / rho - 1.0 / settings_.influence;
    sum += 0.5 * settings_.repulsion * excess * excess;
    slope -= settings_.repulsion * excess / (rho * rho) * near.normal;
  }
  return sum;
}

double PotentialField::potential(const double* q, double* gradient) {
  locate(q);
  const Eigen::Map<const Eigen::VectorXd> at(q, n());
  Eigen::Map<Eigen::VectorXd> slope_q(gradient, n());
  slope_q = settings_.posture * (at - goal_);
  double sum = 0.5 * settings_.posture * (at - goal_).squaredNorm();
  for (const Place& place : places_) {
    const auto a = static_cast<std::size_t>(place.a), b = static_cast<std::size_t>(place.b);
    const Eigen::Vector3d p = (1.0 - place.fraction) * positions_[a] + place.fraction * positions_[b];
    Eigen::Vector3d slope = Eigen::Vector3d::Zero();
    sum += repel(p, slope);
    if (place.attracts) sum += attract(p, goals_[a], slope);
    pull(place.a, (1.0 - place.fraction) * slope, gradient);
    if (place.fraction > 0.0) pull(place.b, place.fraction * slope, gradient);
  }
  return sum;
}

/// Distance is convex along the segment, so the golden section finds the least.
double PotentialField::segment_distance(const Obstacle& obstacle, const Eigen::Vector3d& a,
                                        const Eigen::Vector3d& b) const {
  constexpr double kGolden = 0.6180339887498949;
  const auto distance = [&](double s) { return obstacle.nearest(a + s * (b - a)).distance; };
  double low = 0.0, high = 1.0, left = 1.0 - kGolden, right = kGolden;
  double at_left = distance(left), at_right = distance(right);
  for (int i = 0; i < 40; ++i) {
    if (at_left < at_right) {
      high = right, right = left, at_right = at_left;
      left = high - kGolden * (high - low), at_left = distance(left);
    } else {
      low = left, left = right, at_left = at_right;
      right = low + kGolden * (high - low), at_right = distance(right);
    }
  }
  return std::min({distance(0.0), distance(1.0), at_left, at_right});
}

double PotentialField::clearance(const double* q) {
  locate(q);
  double least = kUnbounded;
  for (const auto& obstacle : obstacles_) {
    for (int k = 0; k + 1 < polyline_; ++k) {
      const auto a = static_cast<std::size_t>(k);
      least = std::min(least, segment_distance(*obstacle, positions_[a], positions_[a + 1]));
    }
    for (std::size_t k = static_cast<std::size_t>(polyline_); k < positions_.size(); ++k)
      least = std::min(least, obstacle->nearest(positions_[k]).distance);
  }
  return least - settings_.radius;
}

/// At this configuration. Joints have fixed distances; along a prismatic joint the largest is at an end of its range.
PotentialField::Reach PotentialField::reach() const {
  std::vector<double> offset(static_cast<std::size_t>(n()), 0.0);  // of the frames each joint carries
  for (std::size_t k = 0; k < frames_.size(); ++k) {
    const int joint = frames_[k].joint - 1;
    if (joint >= 0)
      offset[joint] = std::max(offset[joint], (positions_[k] - to_eigen(joints_[joint].p)).norm());
  }
  Reach result(offset.size());
  double rest = 0.0;
  for (int j = n() - 1; j >= 0; --j) {
    rest = std::max(rest, offset[j]);
    result[j] = rest;
    if (j > 0) rest += (to_eigen(joints_[j].p) - to_eigen(joints_[j - 1].p)).norm();
  }
  return result;
}

bool PotentialField::free(const double* from, const double* to, double margin) {
  const Eigen::Map<const Eigen::VectorXd> a(from, n()), b(to, n());
  return free_between(a, clearance(from) - margin, b, clearance(to) - margin, margin, 14);
}

/// A point that moves by at most `way` stays clear if its clearances at both ends add up to more.
bool PotentialField::free_between(const Eigen::VectorXd& from, double before, const Eigen::VectorXd& to, double after,
                                  double margin, int depth) {
  if (!(before > 0.0 && after > 0.0)) return false;
  locate(from.data());
  const Reach one = reach();
  locate(to.data());
  const Reach other = reach();
  double way = 0.0;
  for (int j = 0; j < n(); ++j) {
    const bool slides = dynamics_.chain().links[j].type == JointType::prismatic;
    way += std::abs(to[j] - from[j]) * (slides ? 1.0 : std::max(one[j], other[j]));
  }
  if (before + after > way) return true;
  if (depth == 0) return false;
  const Eigen::VectorXd middle = 0.5 * (from + to);
  const double between = clearance(middle.data()) - margin;
  return free_between(from, before, middle, between, margin, depth - 1) &&
         free_between(middle, between, to, after, margin, depth - 1);
}

}  // namespace thunder
