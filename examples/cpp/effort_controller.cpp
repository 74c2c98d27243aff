// Adaptive control as an effort controller of ros_control, and a simulated arm in the place of its controller manager. Compiled
// and run with the stubs beside it, never with ROS or a robot. In a package of ROS the class is exported by pluginlib.
#include <controller_interface/controller.h>
#include <hardware_interface/joint_command_interface.h>

#include <atomic>
#include <cstdio>

#include "panda_control.hpp"
#include <thunder/realtime/simulated_robot.hpp>

namespace example {

class AdaptiveEffortController final : public controller_interface::Controller<hardware_interface::EffortJointInterface> {
 public:
  bool init(hardware_interface::EffortJointInterface* effort, ros::NodeHandle&) override {
    const auto model = robots::panda();
    for (const std::string& name : model->data().joint_names) joints_.push_back(effort->getHandle(name));
    q_ = dq_ = VectorXd::Zero(static_cast<Eigen::Index>(joints_.size()));
    return true;
  }

  /// Allocates; `update` does not.
  void starting(const ros::Time&) override {
    read();
    auto rest = std::make_shared<thunder::SetPoint>(q_ + VectorXd::Constant(q_.size(), 0.1));
    control_ = make_panda_control(facts_, std::move(rest), std::numeric_limits<double>::infinity());
    brake_ = false;
  }

  void update(const ros::Time& time, const ros::Duration&) override {
    read();
    if (brake_) control_->request(thunder::realtime::Reason::requested);
    const auto stamp = static_cast<std::int64_t>(time.toNSec());
    const thunder::realtime::Command* command = control_->state({stamp, stamp, q_.data(), dq_.data()});
    if (command == nullptr && !control_->ended()) return;  // a state that is no new one: the last command stays
    for (std::size_t i = 0; i < joints_.size(); ++i) joints_[i].setCommand(command != nullptr ? command->tau[static_cast<Eigen::Index>(i)] : 0.0);
  }

  /// Brakes the arm in the next updates; any thread may call it. The controller is to be stopped once they have `ended`.
  void brake() noexcept { brake_ = true; }

  /// No `update` comes after it that could brake: of this controller's efforts none may remain.
  void stopping(const ros::Time&) override {
    for (hardware_interface::JointHandle& joint : joints_) joint.setCommand(0.0);
  }

  const thunder::realtime::ControlLoop& control() const { return *control_; }

 private:
  void read() {
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      q_[static_cast<Eigen::Index>(i)] = joints_[i].getPosition();
      dq_[static_cast<Eigen::Index>(i)] = joints_[i].getVelocity();
    }
  }

  std::vector<hardware_interface::JointHandle> joints_;
  VectorXd q_, dq_;
  std::atomic<bool> brake_{false};
  thunder::realtime::DriveFacts facts_{1e-3, 1e-3, 0.1, kTorques, VectorXd::Constant(7, 1e5)};
  std::unique_ptr<thunder::realtime::ControlLoop> control_;
};

}  // namespace example

int main() {
  using namespace thunder::realtime;
  const auto model = robots::panda();
  const Eigen::VectorXd start = example::vector({0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7});
  Eigen::VectorXd at_rest = Eigen::VectorXd::Zero(14);
  at_rest.head(7) = start;
  SimulatedRobot arm(std::make_unique<thunder::RigidPlant>(model),
                   {{1e-3, 1e-3, 0.1, example::kTorques, Eigen::VectorXd::Constant(7, 1e5)}, at_rest, model, false, false});

  Eigen::VectorXd q = start, dq = Eigen::VectorXd::Zero(7), effort = dq;
  hardware_interface::EffortJointInterface interface;
  for (int i = 0; i < 7; ++i)
    interface.registerHandle({model->data().joint_names[static_cast<std::size_t>(i)], &q[i], &dq[i], &effort[i]});

  example::AdaptiveEffortController controller;
  ros::NodeHandle node;
  if (!controller.init(&interface, node) || !arm.start()) return 1;
  controller.starting(ros::Time(1'000'000'000));
  const auto cycle = [&] {
    DriveState state;
    if (arm.read(state) != DriveResult::ok) return false;
    std::copy_n(state.q, 7, q.data());
    std::copy_n(state.dq, 7, dq.data());
    controller.update(ros::Time(static_cast<std::uint64_t>(state.stamp)), ros::Duration(1e-3));
    return controller.control().ended() || arm.write(effort.data());
  };
  for (int k = 0; k < 3000; ++k)
    if (!cycle()) return 2;
  const double error = (q - start - Eigen::VectorXd::Constant(7, 0.1)).cwiseAbs().maxCoeff();
  const bool followed = controller.control().report().reason == Reason::none;

  controller.brake();
  while (!controller.control().ended())
    if (!cycle()) return 3;
  const RunReport& report = controller.control().report();
  controller.stopping(ros::Time(0));
  std::printf("largest error %.5f rad, at rest: %d, largest effort left: %g\n", error, report.at_rest,
              effort.cwiseAbs().maxCoeff());
  const bool stopped = report.reason == Reason::requested && report.at_rest && effort.isZero(0.0);

  controller.starting(ros::Time(0));  // again, and stopped in the middle
  if (!cycle()) return 4;
  const bool moved = !effort.isZero(0.0);
  controller.stopping(ros::Time(0));
  return followed && stopped && moved && effort.isZero(0.0) && error < 5e-3 ? 0 : 5;
}
