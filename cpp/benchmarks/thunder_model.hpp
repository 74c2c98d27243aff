// The arm of a text file as a model of this package.
#pragma once

#include "arm.hpp"

#include <thunder/model/model.hpp>

namespace bench {

inline thunder::ModelData model_data(const Arm& arm) {
  thunder::ModelData data;
  data.name = "arm";
  data.inertial.resize(Eigen::Index(arm.links.size()), thunder::kLinkParameters);
  for (std::size_t i = 0; i < arm.links.size(); ++i) {
    const Link& link = arm.links[i];
    Eigen::Matrix4d placement = Eigen::Matrix4d::Identity();
    placement.topRows<3>() = Eigen::Map<const Eigen::Matrix<double, 3, 4, Eigen::RowMajor>>(link.pose.data());
    data.placements.push_back(placement);
    data.offsets.push_back(Eigen::Matrix4d::Identity());
    data.axes.push_back(Eigen::Vector3d::UnitZ());
    data.prismatic.push_back(link.prismatic);
    data.inertial.row(Eigen::Index(i)) = Eigen::Map<const Eigen::RowVectorXd>(link.inertia.data(), thunder::kLinkParameters);
    data.joint_names.push_back("joint" + std::to_string(i + 1));
    data.link_names.push_back("link" + std::to_string(i + 1));
  }
  data.gravity = Eigen::Vector3d(arm.gravity.data());
  data.base = data.tool = Eigen::Matrix4d::Identity();
  data.friction.resize(Eigen::Index(arm.links.size()), 0);
  return data;
}

}  // namespace bench
