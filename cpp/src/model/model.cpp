#include "thunder/model/model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

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
  // Eigen's FromTwoVectors, whose case of nearly opposite vectors takes seconds to compile
  const Vector3d to = axis.normalized().normalized(), turn = z.cross(to);
  const double c = to.dot(z), s = std::sqrt((1.0 + c) * 2.0);
  if (c < -1.0 + 1e-12) {
    A.topLeftCorner<3, 3>() = Eigen::AngleAxisd(std::atan2(turn.norm(), c), turn.normalized()).toRotationMatrix();
    return A;
  }
  Eigen::Quaterniond rotation;
  rotation.vec() = turn * (1.0 / s);
  rotation.w() = s * 0.5;
  A.topLeftCorner<3, 3>() = rotation.toRotationMatrix();
  return A;
}

Matrix4d inverse_rotation(const Matrix4d& A) {
  Matrix4d B = Matrix4d::Identity();
  B.topLeftCorner<3, 3>() = A.topLeftCorner<3, 3>().transpose();
  return B;
}

Matrix4d to_matrix(const Pose<double>& pose) {
  const Mat3<double>& R = pose.R;
  Matrix4d T;
  T << R.xx, R.xy, R.xz, pose.p.x, R.yx, R.yy, R.yz, pose.p.y, R.zx, R.zy, R.zz, pose.p.z, 0.0, 0.0, 0.0, 1.0;
  return T;
}

Matrix4d rotation_z(double angle) {
  Matrix4d R = Matrix4d::Identity();
  R(0, 0) = R(1, 1) = std::cos(angle);
  R(1, 0) = std::sin(angle);
  R(0, 1) = -R(1, 0);
  return R;
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
  require(n >= 1, "a robot must have at least one joint");
  require(n <= kMaxJoints, "a robot has at most 64 joints");
  require(data_.offsets.size() == n && data_.axes.size() == n && data_.prismatic.size() == n, "one entry per joint");
  require(static_cast<std::size_t>(data_.inertial.rows()) == n, "inertial must have one row per link");
  require(data_.joint_names.size() == n && data_.link_names.size() == n, "joint_names and link_names must have one name per joint and link");
  require(data_.armature.empty() || data_.armature.size() == n, "armature must be empty or have one entry per joint");
  require(data_.friction_terms.empty() || static_cast<std::size_t>(data_.friction.rows()) == n, "friction must have one row per joint");
  require(data_.friction_terms.size() <= static_cast<std::size_t>(kMaxFrictionTerms), "too many friction terms");
  build_elastic();
  build_links();
  build_frames();
  build_rotors();
  build_parameters();
}

ChainView<double> Model::view() const {
  return {n(),
          links_.data(),
          bodies_.view(),
          theta_.data(),
          revolute_.data(),
          all_revolute_,
          root_,
          {data_.gravity.x(), data_.gravity.y(), data_.gravity.z()},
          static_cast<int>(rotors_.size()),
          rotors_.data(),
          static_cast<int>(data_.friction_terms.size()),
          data_.friction_terms.data(),
          data_.friction.data(),
          data_.friction_delta,
          !data_.armature.empty(),
          {elastic_count(), elastic_joints_.data(), static_cast<int>(data_.elastic.K.cols()),
           static_cast<int>(data_.elastic.D.cols()), static_cast<int>(data_.elastic.Dm.cols()),
           data_.elastic.K.data(), data_.elastic.D.data(), data_.elastic.Dm.data(), data_.elastic.Mm.data()}};
}

void Model::build_elastic() {
  const auto& elastic = data_.elastic;
  const auto e = static_cast<Eigen::Index>(elastic.joints.size());
  require(elastic.K.rows() == e && elastic.D.rows() == e && elastic.Dm.rows() == e &&
              static_cast<Eigen::Index>(elastic.Mm.size()) == e,
          "elastic must have one row of coefficients per joint");
  int last = 0;
  for (const int joint : elastic.joints) {
    require(joint > last && joint <= static_cast<int>(data_.placements.size()),
            "elastic joints must be from 1 to n in ascending order");
    last = joint;
    elastic_joints_.push_back(joint - 1);
  }
}

/// Rotates the axes of a joint about its own axis; its zero and the pose of its link absorb the rotation.
void Model::turn_frame_about_z(std::size_t joint, double angle) {
  Link<double>& link = links_[joint];
  link.theta += angle;
  link.cos_theta = std::cos(link.theta);
  link.sin_theta = std::sin(link.theta);
  link.offset = to_pose(rotation_z(-angle) * to_matrix(link.offset));
  link.has_offset = true;
}

/// Brings every joint to Rot_x(alpha) Rot_z(theta + q). The relative rotation of two joint frames is
/// Rot_z(phi) Rot_x(alpha) Rot_z(theta); phi goes to the frame before, theta to the joint's zero.
void Model::build_links() {
  const std::size_t n = data_.placements.size();
  root_ = to_pose(data_.base * data_.placements[0] * align_z(data_.axes[0]));
  for (std::size_t i = 0; i < n; ++i) {
    const Matrix4d A = align_z(data_.axes[i]);
    Link<double> link{};
    link.type = data_.prismatic[i] ? JointType::prismatic : JointType::revolute;
    link.cos_alpha = link.cos_theta = 1.0;
    if (i > 0) {
      Matrix4d T = to_matrix(links_[i - 1].offset) * data_.placements[i] * A;
      double phi = std::hypot(T(0, 2), T(1, 2)) < 1e-15 ? 0.0 : std::atan2(T(0, 2), -T(1, 2));
      // half a turn less where that keeps the frame before: alpha then has the other sign
      if (std::abs(phi) > M_PI / 2) phi -= std::copysign(M_PI, phi);
      if (std::abs(phi) > 1e-15) {
        turn_frame_about_z(i - 1, phi);
        T = rotation_z(-phi) * T;
      }
      const double scale = std::hypot(T(1, 2), T(2, 2));
      link.cos_alpha = T(2, 2) / scale;
      link.sin_alpha = -T(1, 2) / scale;
      link.theta = std::atan2(-T(0, 1), T(0, 0));
      link.cos_theta = std::cos(link.theta);
      link.sin_theta = std::sin(link.theta);
      link.p = {T(0, 3), T(1, 3), T(2, 3)};
    }
    const Matrix4d offset = inverse_rotation(A) * data_.offsets[i];
    link.offset = to_pose(offset);
    link.has_offset = offset != Matrix4d::Identity();
    link.armature = data_.armature.empty() ? 0.0 : data_.armature[i];
    links_.push_back(link);
  }
  place_bodies();
}

void Model::place_bodies() {
  bodies_ = OwnedJoints<BodyInertia, double>(n());
  theta_.resize(padded_joints(n()));
  revolute_.resize(padded_joints(n()));
  for (int i = 0; i < n(); ++i) {
    const Link<double>& link = links_[i];
    const double* reg = data_.inertial.row(i).data();
    const BodyInertia<double> body{
        reg[0], {reg[1], reg[2], reg[3]}, {reg[4], reg[5], reg[6], reg[7], reg[8], reg[9]}};
    bodies_.view().set(i, moved(body, link.offset));
    theta_[i] = link.theta;
    revolute_[i] = link.type == JointType::revolute ? 1.0 : 0.0;
    all_revolute_ = all_revolute_ && link.type == JointType::revolute;
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
  const auto own = [this](std::string name) {  // links and named frames keep their names
    const auto has_name = [&name](const auto& frame) { return frame.name == name; };
    while (std::count(data_.link_names.begin(), data_.link_names.end(), name) ||
           std::any_of(data_.frames.begin(), data_.frames.end(), has_name))
      name = "robot:" + name;
    return name;
  };
  add(own("base"), 0, Matrix4d::Identity());
  for (int i = 1; i <= n(); ++i) add(data_.link_names[i - 1], i, Matrix4d::Identity());
  add(own("tool"), n(), data_.tool);
  for (const auto& frame : data_.frames) {
    require(frame.link >= 0 && frame.link <= n(), "a frame's link is 0 (base) to n");
    add(frame.name, frame.link, frame.pose);
  }
}

void Model::build_rotors() {
  std::vector<Mat3<double>> axes;  // of the joint frames at q = 0
  Mat3<double> R = root_.R;
  for (const Link<double>& link : links_) {
    const double c = link.cos_theta, s = link.sin_theta, ca = link.cos_alpha, sa = link.sin_alpha;
    R = R * Mat3<double>{c, -s, 0.0, ca * s, ca * c, -sa, sa * s, sa * c, ca};
    axes.push_back(R);
  }
  for (const auto& rotor : data_.rotors) {
    require(rotor.joint >= 1 && rotor.joint <= n() && rotor.carrier >= 0 && rotor.carrier <= n(),
            "rotors must name a driven joint from 1 to n and a carrying link from 0 to n");
    Vec3<double> axis;  // in the joint frame of the carrier
    if (rotor.has_axis) {
      const Frame<double> carrier = frame_on_link(rotor.carrier, Matrix4d::Identity());
      axis = carrier.pose.R * Vec3<double>{rotor.axis.x(), rotor.axis.y(), rotor.axis.z()};
    } else {
      axis = z_axis(axes[rotor.joint - 1]);
      if (rotor.carrier > 0) axis = transposed_times(axes[rotor.carrier - 1], axis);
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
  // a link named like the base or the tool takes precedence
  const auto found = std::find(frame_names_.begin() + 1, frame_names_.end(), name);
  if (found != frame_names_.end()) return static_cast<int>(found - frame_names_.begin());
  return name == frame_names_[0] ? 0 : -1;
}

}  // namespace thunder
