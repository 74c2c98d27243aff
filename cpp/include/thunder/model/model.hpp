// A robot as run-time data: owns the chain that the kernels read, names its frames and parameters. Immutable.
#pragma once

#include <string>
#include <vector>

#include "../math/matrices.hpp"
#include "chain.hpp"

namespace thunder {

/// Data of a model; the pose of link i in link i-1 is placement * motion about axis * offset.
struct ModelData {
  std::string name;
  std::vector<Eigen::Matrix4d> placements, offsets;
  std::vector<Eigen::Vector3d> axes;
  std::vector<bool> prismatic;
  Eigen::Matrix<double, Eigen::Dynamic, kLinkParameters, Eigen::RowMajor> inertial;  // REG, in link frames
  Eigen::Vector3d gravity;
  Eigen::Matrix4d base, tool;
  std::vector<FrictionTerm> friction_terms;
  RowMajor friction;  // n x terms
  double friction_delta = 1e-2;
  std::vector<double> armature;  // empty or n
  std::vector<double> lower, upper;  // limits of the positions, infinite where unknown; empty or n
  struct RotorData {
    int joint;                  // 1..n
    int carrier;                // 0..n
    bool has_axis;              // else the joint's axis at q = 0
    Eigen::Vector3d axis;       // in the carrier's link frame
    double ratio, inertia;
  };
  std::vector<RotorData> rotors;
  struct ElasticData {
    std::vector<int> joints;  // 1..n, ascending
    RowMajor K, D, Dm;  // one row for each
    std::vector<double> Mm;
  } elastic;
  std::vector<std::string> joint_names, link_names;
  struct FrameData {
    std::string name;
    int link;  // 0..n
    Eigen::Matrix4d pose;
  };
  std::vector<FrameData> frames;
};

class Model {
 public:
  /// Throws std::invalid_argument where sizes do not agree.
  explicit Model(ModelData data);
  Model(const Model&) = delete;  // views point into it
  Model& operator=(const Model&) = delete;

  int n() const { return static_cast<int>(links_.size()); }
  int parameter_count() const { return view().parameters(); }
  /// Elastic joints, from 0, ascending.
  const std::vector<int>& elastic_joints() const { return elastic_joints_; }
  int elastic_count() const { return static_cast<int>(elastic_joints_.size()); }
  const std::string& name() const { return data_.name; }
  const ModelData& data() const { return data_; }

  ChainView<double> view() const;

  /// Inertial (REG, link after link), friction (joint after joint), rotor and armature parameters.
  const Eigen::VectorXd& parameters() const { return parameters_; }
  const std::vector<std::string>& parameter_names() const { return parameter_names_; }

  /// Frames: 0 "base", 1..n the links, n+1 the end effector "tool", then the named ones ("robot:base" next to "base").
  const std::vector<std::string>& frame_names() const { return frame_names_; }
  const Frame<double>& frame(int index) const { return frames_[index]; }
  int end_effector() const { return n() + 1; }
  /// Index of a named frame, -1 if there is none.
  int find_frame(const std::string& name) const;

 private:
  void build_links();
  void turn_frame_about_z(std::size_t joint, double angle);
  void place_bodies();
  void build_rotors();
  void build_elastic();
  void build_frames();
  void build_parameters();
  Frame<double> frame_on_link(int link, const Eigen::Matrix4d& pose) const;

  ModelData data_;
  std::vector<Link<double>> links_;
  OwnedJoints<BodyInertia, double> bodies_;
  std::vector<double> theta_, revolute_;  // padded to whole packs
  bool all_revolute_ = true;
  Pose<double> root_;
  std::vector<Rotor<double>> rotors_;
  std::vector<int> elastic_joints_;  // 0-based
  std::vector<Frame<double>> frames_;
  std::vector<std::string> frame_names_, parameter_names_;
  Eigen::VectorXd parameters_;
};

Pose<double> to_pose(const Eigen::Matrix4d& T);

}  // namespace thunder
