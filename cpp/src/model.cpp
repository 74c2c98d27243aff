#include "thunder/model/model.hpp"

#include <algorithm>
#include <stdexcept>

#include "thunder/dynamics/kinematics.hpp"
#include "thunder/model/inertia.hpp"

namespace thunder {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Vector3d;

namespace {

/// Rotation that takes z to the unit vector `axis`, exactly the identity if it is z already.
Matrix4d align_z(const Vector3d& axis) {
  Matrix4d A = Matrix4d::Identity();
  const Vector3d z = Vector3d::UnitZ();
  if (axis == z) return A;
  if (axis == -z) {
    A(1, 1) = A(2, 2) = -1.0;  // half a turn about x
    return A;
  }
  A.topLeftCorner<3, 3>() = Eigen::Quaterniond::FromTwoVectors(z, axis.normalized()).toRotationMatrix();
  return A;
}

Matrix4d inverse_rotation(const Matrix4d& A) {
  Matrix4d B = Matrix4d::Identity();
  B.topLeftCorner<3, 3>() = A.topLeftCorner<3, 3>().transpose();
  return B;
}

Matrix4d to_matrix(const Pose<double>& pose) {
  Matrix4d T;
  double rows[16];
  write_transform(pose, rows);
  T = Eigen::Map<Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(rows);
  return T;
}

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

const char* kTermNames[] = {"viscous", "coulomb", "quadratic", "cubic", "quartic", "quintic", "sextic"};
const char* kLinkParameterNames[] = {"m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"};

}  // namespace

Pose<double> to_pose(const Matrix4d& T) {
  return {{T(0, 0), T(0, 1), T(0, 2), T(1, 0), T(1, 1), T(1, 2), T(2, 0), T(2, 1), T(2, 2)},
          {T(0, 3), T(1, 3), T(2, 3)}};
}

Model::Model(ModelData data) : data_(std::move(data)) {
  const std::size_t n = data_.placements.size();
  require(n >= 1, "a robot needs at least one joint");
  require(n <= kMaxJoints, "a robot has at most 64 joints");
  require(data_.offsets.size() == n && data_.axes.size() == n && data_.prismatic.size() == n, "one entry per joint");
  require(static_cast<std::size_t>(data_.inertial.rows()) == n, "one row of inertial parameters per link");
  require(data_.joint_names.size() == n && data_.link_names.size() == n, "one name per joint and link");
  require(data_.armature.empty() || data_.armature.size() == n, "armature: none or one per joint");
  require(data_.friction_terms.empty() || static_cast<std::size_t>(data_.friction.rows()) == n, "friction: one row per joint");
  require(data_.friction_terms.size() <= static_cast<std::size_t>(kMaxFrictionTerms), "too many friction terms");
  build_links();
  build_frames();
  build_rotors();
  build_parameters();
}

void Model::build_links() {
  const std::size_t n = data_.placements.size();
  Matrix4d link_in_joint = data_.base;  // frame of the previous link in the previous joint frame
  for (std::size_t i = 0; i < n; ++i) {
    const Matrix4d A = align_z(data_.axes[i]);
    const Matrix4d offset = inverse_rotation(A) * data_.offsets[i];
    Link<double> link{};
    link.type = data_.prismatic[i] ? JointType::prismatic : JointType::revolute;
    link.placement = to_pose(link_in_joint * data_.placements[i] * A);
    link.offset = to_pose(offset);
    link.has_offset = offset != Matrix4d::Identity();
    link.armature = data_.armature.empty() ? 0.0 : data_.armature[i];
    moved_parameters(link.offset, data_.inertial.row(i).data(), link.m, link.h, link.I);
    links_.push_back(link);
    link_in_joint = offset;
  }
}

Frame<double> Model::frame_on_link(int link, const Matrix4d& pose) const {
  const Matrix4d in_joint = link == 0 ? data_.base : to_matrix(links_[link - 1].offset);
  return {link, to_pose(in_joint * pose)};
}

void Model::build_frames() {
  const auto add = [this](const std::string& name, int link, const Matrix4d& pose) {
    frame_names_.push_back(name);
    frames_.push_back(frame_on_link(link, pose));
  };
  add("base", 0, Matrix4d::Identity());
  for (int i = 1; i <= n(); ++i) add(data_.link_names[i - 1], i, Matrix4d::Identity());
  add("ee", n(), data_.tool);
  for (const auto& frame : data_.frames) {
    require(frame.link >= 0 && frame.link <= n(), "a frame's link is 0 (base) to n");
    add(frame.name, frame.link, frame.pose);
  }
}

void Model::build_rotors() {
  const std::vector<double> rest(n(), 0.0);
  std::vector<Pose<double>> pose(n());
  joint_frames(view(), rest.data(), n(), pose.data());
  for (const auto& rotor : data_.rotors) {
    require(rotor.joint >= 1 && rotor.joint <= n() && rotor.carrier >= 0 && rotor.carrier <= n(),
            "a rotor drives joint 1..n and sits on link 0..n");
    Vec3<double> axis;  // in the joint frame of the carrier
    if (rotor.has_axis) {
      const Frame<double> carrier = frame_on_link(rotor.carrier, Matrix4d::Identity());
      axis = carrier.pose.R * Vec3<double>{rotor.axis.x(), rotor.axis.y(), rotor.axis.z()};
    } else {
      axis = z_axis(pose[rotor.joint - 1].R);
      if (rotor.carrier > 0) axis = transposed_times(pose[rotor.carrier - 1].R, axis);
    }
    rotors_.push_back({rotor.joint - 1, rotor.carrier, axis, rotor.ratio, rotor.inertia});
  }
}

void Model::build_parameters() {
  const ChainView<double> chain = view();
  parameters_.resize(chain.parameters());
  for (int i = 0; i < n(); ++i)
    for (int k = 0; k < kLinkParameters; ++k) {
      parameters_[kLinkParameters * i + k] = data_.inertial(i, k);
      parameter_names_.push_back(data_.link_names[i] + "." + kLinkParameterNames[k]);
    }
  for (int i = 0; i < n(); ++i)
    for (int k = 0; k < chain.friction_count; ++k) {
      parameters_[chain.friction_column(i, k)] = data_.friction(i, k);
      parameter_names_.push_back(data_.joint_names[i] + "." + kTermNames[static_cast<int>(data_.friction_terms[k])]);
    }
  for (int k = 0; k < chain.rotor_count; ++k) {
    parameters_[chain.rotor_column(k)] = data_.rotors[k].inertia;
    parameter_names_.push_back(data_.joint_names[data_.rotors[k].joint - 1] + ".rotor_inertia");
  }
  for (std::size_t i = 0; i < data_.armature.size(); ++i) {
    parameters_[chain.armature_column(static_cast<int>(i))] = data_.armature[i];
    parameter_names_.push_back(data_.joint_names[i] + ".armature");
  }
}

int Model::find_frame(const std::string& name) const {
  const auto found = std::find(frame_names_.begin(), frame_names_.end(), name);
  return found == frame_names_.end() ? -1 : static_cast<int>(found - frame_names_.begin());
}

}  // namespace thunder
