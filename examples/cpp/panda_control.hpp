// Adaptive control of a Panda with limits and defined stops, for any interface that exchanges states and torques.
#pragma once

#include <limits>
#include <memory>

#include <panda.hpp>
#include <thunder/control/adaptation.hpp>
#include <thunder/control/slotine_li.hpp>
#include <thunder/kinematics/references.hpp>
#include <thunder/realtime/control_loop.hpp>
#include <thunder/realtime/drive.hpp>

namespace example {

using Eigen::VectorXd;

inline VectorXd vector(std::initializer_list<double> values) {
  VectorXd result(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), result.data());
  return result;
}

inline const VectorXd kTorques = vector({87, 87, 87, 87, 12, 12, 12});

/// `reference` is joined from where the arm is; the robot compensates its gravity itself.
inline std::unique_ptr<thunder::realtime::ControlLoop> make_panda_control(
    const thunder::realtime::DriveFacts& facts, std::shared_ptr<thunder::JointReferenceSource> reference, double duration) {
  using namespace thunder::realtime;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto model = robots::panda();
  const int n = model->n();
  const VectorXd none = VectorXd::Constant(n, kInfinity), K_d = vector({4, 50, 5.5, 14, 1.2, 0.9, 0.23});
  const VectorXd lower = Eigen::Map<const VectorXd>(model->data().lower.data(), n),
                 upper = Eigen::Map<const VectorXd>(model->data().upper.data(), n), speed = VectorXd::Constant(n, 2.0);

  // the parameters of the last link adapt
  std::vector<bool> unknown(static_cast<std::size_t>(model->parameter_count()), false);
  std::fill_n(unknown.begin() + 60, 10, true);
  thunder::AdaptiveModel adaptive(model, thunder::ParameterSubset(unknown),
                                  std::make_unique<thunder::GradientLaw>(0.05 * Eigen::MatrixXd::Identity(10, 10)));
  auto law = std::make_shared<thunder::SlotineLi>(std::move(adaptive), 20.0 * Eigen::MatrixXd::Identity(n, n),
                                                  Eigen::MatrixXd(K_d.asDiagonal()));

  SafetyLimits limits{lower, upper, speed, kTorques, none, facts.torque_step()};
  auto brake = std::make_shared<SafeTorque>(model, thunder::braking_rate(facts.period), kTorques,
                                            facts.torque_step() / facts.period);
  ControlLoop::Settings settings;
  settings.motion = {lower, upper, speed};
  settings.joining_speed = VectorXd::Constant(n, 0.5);
  settings.run = true;
  settings.state_lost = kInfinity;  // `most_missed` comes before
  settings.watchdog = facts.watchdog;
  settings.duration = duration;
  auto loop = std::make_unique<ControlLoop>(std::make_shared<Safety>(model, std::move(limits)), std::move(brake),
                                            std::move(law), std::move(settings));
  loop->follow(std::make_unique<JointMotion>(0.0, std::move(reference)));
  return loop;
}

}  // namespace example
