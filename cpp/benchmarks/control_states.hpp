// What controllers are called with: an arm that follows a curve, with random errors of position and velocity.
#pragma once

#include <thunder/kinematics/frame_motion.hpp>
#include <thunder/kinematics/reference.hpp>

#include <cmath>
#include <random>
#include <vector>

namespace bench {

inline constexpr double kPeriod = 1e-3;  // [s] between two steps

struct ControlState {
  Eigen::VectorXd q, dq;
  thunder::JointReference joint;
  thunder::TaskReference task;
};

/// Where the curve is centered: away from singularities, every joint bent.
inline Eigen::VectorXd posture(int n) {
  constexpr double panda[] = {0.1, -0.3, 0.2, -2.0, 0.1, 1.8, 0.7};
  Eigen::VectorXd q(n);
  for (int i = 0; i < n; ++i) q[i] = panda[i % 7];
  return q;
}

/// The pose of a frame that belongs to a motion of the joints, its twist and acceleration.
inline thunder::TaskReference task_motion(const thunder::Evaluator& dynamics, const thunder::Frame<double>& frame,
                                          const thunder::JointReference& joint) {
  thunder::FrameMotion motion(dynamics.n());
  motion.update(dynamics, frame, joint.q.data(), joint.dq.data());
  thunder::TaskReference task;
  task.p = motion.p;
  task.R = motion.R;
  task.xi = motion.xi;
  task.xi_dot = motion.bias + motion.J * joint.ddq;
  return task;
}

/// One turn of a closed curve, a state for each period: run through again and again it is a motion without jumps, as
/// estimators and integrals see it in a loop.
inline std::vector<ControlState> control_states(std::shared_ptr<const thunder::Model> shared, int count = 256) {
  const thunder::Evaluator dynamics(std::move(shared));
  const thunder::Model& model = dynamics.model();
  constexpr double kTurn = 6.283185307179586, kAmplitude = 0.05, kPosition = 0.01, kVelocity = 0.05;
  const double w = kTurn / (count * kPeriod);
  const int n = model.n();
  const thunder::Frame<double> tip = model.frame(model.end_effector());
  std::mt19937_64 generator(20240607);
  const auto random = [&] { return 2.0 * double(generator() >> 11) * 0x1p-53 - 1.0; };
  std::vector<ControlState> states;
  for (int k = 0; k < count; ++k) {
    ControlState s{posture(n), Eigen::VectorXd(n), thunder::JointReference(n), {}};
    for (int i = 0; i < n; ++i) {
      const double phase = kTurn * (double(k) / count + double(i) / n);
      s.joint.q[i] = s.q[i] + kAmplitude * std::sin(phase);
      s.joint.dq[i] = kAmplitude * w * std::cos(phase);
      s.joint.ddq[i] = -kAmplitude * w * w * std::sin(phase);
      s.joint.d3q[i] = -w * w * s.joint.dq[i];
      s.joint.d4q[i] = -w * w * s.joint.ddq[i];
      s.q[i] = s.joint.q[i] + kPosition * random();
      s.dq[i] = s.joint.dq[i] + kVelocity * random();
    }
    s.task = task_motion(dynamics, tip, s.joint);
    states.push_back(std::move(s));
  }
  return states;
}

}  // namespace bench
