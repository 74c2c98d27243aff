// The part of libfranka's interface that the example uses, with a simulated arm: states every millisecond, gravity
// compensated by the robot, torques that may not jump. Not libfranka, and not derived from it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include <panda.hpp>
#include <thunder/realtime/simulated_robot.hpp>

namespace franka {

class Duration {
 public:
  explicit Duration(std::uint64_t milliseconds) : milliseconds_(milliseconds) {}
  std::uint64_t toMSec() const noexcept { return milliseconds_; }
  double toSec() const noexcept { return 1e-3 * static_cast<double>(milliseconds_); }

 private:
  std::uint64_t milliseconds_;
};

struct RobotState {
  std::array<double, 7> q{}, dq{};
  Duration time{0};
};

struct Torques {
  explicit Torques(const std::array<double, 7>& torques) : tau_J(torques) {}
  std::array<double, 7> tau_J;
  bool motion_finished = false;
};

inline Torques MotionFinished(Torques command) {
  command.motion_finished = true;
  return command;
}

class ControlException : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Model {
 public:
  explicit Model(std::shared_ptr<const thunder::Model> model) : evaluator_(std::move(model)) {}
  std::array<double, 7> gravity(const RobotState& state) const noexcept {
    std::array<double, 7> result;
    evaluator_.gravity_vector(state.q.data(), result.data());
    return result;
  }

 private:
  thunder::Evaluator evaluator_;
};

class Robot {
 public:
  explicit Robot(const std::string& /*address*/) : model_(robots::panda()) {
    Eigen::VectorXd at_rest(14), torques(7);
    at_rest << 0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7, Eigen::VectorXd::Zero(7);
    torques << 87, 87, 87, 87, 12, 12, 12;
    arm_ = std::make_unique<thunder::realtime::SimulatedRobot>(
        std::make_unique<thunder::RigidPlant>(model_),
        thunder::realtime::SimulatedRobot::Settings{
            {1e-3, 1e-3, 0.02, torques, Eigen::VectorXd::Constant(7, 1000.0)}, at_rest, model_, true, false});
  }

  Model loadModel() const { return Model(model_); }

  void control(const std::function<Torques(const RobotState&, Duration)>& callback) {
    RobotState state;
    arm_->start();
    for (std::uint64_t k = 0;; ++k) {
      thunder::realtime::DriveState measured;
      if (arm_->read(measured) != thunder::realtime::DriveResult::ok) throw ControlException("the robot has stopped");
      std::copy_n(measured.q, 7, state.q.begin());
      std::copy_n(measured.dq, 7, state.dq.begin());
      state.time = Duration(k + 1);
      const Torques command = callback(state, Duration(k > 0 ? 1 : 0));
      if (command.motion_finished) break;
      if (!arm_->write(command.tau_J.data())) throw ControlException("the torques are discontinuous");
    }
    arm_->stop();
  }

 private:
  std::shared_ptr<const thunder::Model> model_;
  std::unique_ptr<thunder::realtime::SimulatedRobot> arm_;
};

}  // namespace franka
