// The adaptive controller of the Thunder article's Appendix C on a generated library, with its signs and gain put right:
// the reference velocity is dq_d + Lambda (q_d - q), parameters move along + Gamma^-1 Yr' s, and adaptation acts on REG
// parameters, of which Yr is linear. docs/errata.md tells more. Make and run it in a folder of your own:
//
//   thunder gen elbow
//   g++ -std=c++17 -O2 -I/usr/include/eigen3 -Ielbow_generatedFiles appendix_c.cpp elbow_generatedFiles/*.cpp -o appendix_c
//   ./appendix_c
#include <cmath>
#include <cstdio>

#include "thunder_elbow.h"

namespace {

using Joint = thunder_elbow::Vector<2>;
using Parameters = thunder_elbow::Vector<thunder_elbow::get_numParREG()>;

/// One control cycle: the torque, and the next estimate inside the robot.
Joint control(thunder_elbow& robot, const Joint& q, const Joint& dq, const Joint& q_d, const Joint& dq_d,
              const Joint& ddq_d, double dt) {
  const double Lambda = 5.0, Kd = 20.0, Gamma = 0.5;
  const Joint dq_r = dq_d + Lambda * (q_d - q);
  const Joint ddq_r = ddq_d + Lambda * (dq_d - dq);
  const Joint s = dq_r - dq;
  robot.setArguments(q, dq, dq_r, ddq_r);
  const auto Yr = robot.get_Yr();
  const Parameters pi = robot.get_par_REG();
  const Joint tau = Yr * pi + Kd * s;
  robot.set_par_REG(pi + dt / Gamma * (Yr.transpose() * s));
  return tau;
}

/// The true arm, one step of semi-implicit Euler.
void move(thunder_elbow& plant, Joint& q, Joint& dq, const Joint& tau, double dt) {
  plant.set_q(q), plant.set_dq(dq), plant.set_tau(tau);
  dq += dt * plant.get_forward_dynamics();
  q += dt * dq;
}

}  // namespace

int main() {
  thunder_elbow plant, robot;
  robot.set_par_REG(0.3 * plant.get_par_REG());  // the controller takes its links for much too light
  const double dt = 1e-3, duration = 20.0;
  Joint q(0.0, 0.0), dq(0.0, 0.0);
  double first = 0.0, last = 0.0;  // largest error in the first and in the last two seconds
  for (int k = 0; k < static_cast<int>(duration / dt); ++k) {
    const double t = k * dt;
    const Joint q_d(0.5 * std::sin(t), 0.8 * std::sin(2.0 * t)), dq_d(0.5 * std::cos(t), 1.6 * std::cos(2.0 * t));
    const Joint ddq_d(-0.5 * std::sin(t), -3.2 * std::sin(2.0 * t));
    const double error = (q_d - q).norm();
    if (t < 2.0 && !(error <= first)) first = error;  // written so that an error that is no number stays
    if (t >= duration - 2.0 && !(error <= last)) last = error;
    move(plant, q, dq, control(robot, q, dq, q_d, dq_d, ddq_d, dt), dt);
  }
  std::printf("largest error: %.1f mrad in the first 2 s, %.2f mrad in the last 2 s\n", 1e3 * first, 1e3 * last);
  return last < 0.05 * first ? 0 : 1;
}
