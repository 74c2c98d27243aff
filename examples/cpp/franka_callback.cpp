// Adaptive control in the callback of franka::Robot::control. Compiled and run with the stub of libfranka beside it, never
// with a robot.
#include <franka/robot.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "panda_control.hpp"

int main(int argc, char** argv) {
  franka::Robot robot(argc > 1 ? argv[1] : "172.16.0.2");
  const franka::Model model = robot.loadModel();

  // libfranka checks the rate of torques at 1 kHz: 1000 N m/s
  const thunder::realtime::DriveFacts facts{1e-3, 1e-3, std::numeric_limits<double>::infinity(), example::kTorques,
                                            Eigen::VectorXd::Constant(7, 1000.0)};
  const Eigen::VectorXd start = example::vector({0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.7});
  const auto reference = std::make_shared<thunder::Sinusoid>(start, Eigen::VectorXd::Constant(7, 0.1),
                                                             Eigen::VectorXd::Constant(7, 0.25), Eigen::VectorXd::Zero(7));
  const auto control = example::make_panda_control(facts, reference, 4.0);

  std::array<double, 7> command{};
  double error = 0.0;
  robot.control([&](const franka::RobotState& state, franka::Duration) -> franka::Torques {
    const std::array<double, 7> gravity = model.gravity(state);  // that the robot adds to the command
    const auto stamp = static_cast<std::int64_t>(1'000'000 * (1000 + state.time.toMSec()));
    const thunder::realtime::Command* answer =
        control->state({stamp, stamp, state.q.data(), state.dq.data(), {}, gravity.data()});
    if (answer != nullptr) std::copy_n(answer->tau.data(), 7, command.begin());
    if (control->report().t > 2.0 && control->report().t < 4.0)
      for (int i = 0; i < 7; ++i) error = std::max(error, std::abs(control->law().error().data[i]));
    return control->ended() ? franka::MotionFinished(franka::Torques(command)) : franka::Torques(command);
  });

  const thunder::realtime::RunReport& report = control->report();
  std::printf("%lld cycles, largest error %.5f rad after 2 s, at rest: %d\n", static_cast<long long>(report.cycles), error,
              report.at_rest);
  return report.reason == thunder::realtime::Reason::finished && report.at_rest && error < 5e-3 ? 0 : 1;
}
