// Steps of every control law, of kinematic control and of observers, on an arm near its reference, time going on by 1 ms a step.
#include "controllers.hpp"
#include "harness.hpp"
#include "thunder_model.hpp"

#include <thunder/control/composite_control.hpp>
#include <thunder/control/computed_torque.hpp>
#include <thunder/control/elastic_feedback_linearization.hpp>
#include <thunder/control/elastic_slotine_li.hpp>
#include <thunder/control/independent_joint.hpp>
#include <thunder/control/motor_pd.hpp>
#include <thunder/control/passivity_based.hpp>
#include <thunder/control/pd_gravity.hpp>
#include <thunder/control/robust_unit_vector.hpp>
#include <thunder/estimation/external_observer.hpp>

#include <stdexcept>

using bench::ControlState;
using bench::SharedModel;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

const thunder::JointReference& reference_of(const thunder::JointController&, const ControlState& s) { return s.joint; }
const thunder::TaskReference& reference_of(const thunder::TaskController&, const ControlState& s) { return s.task; }

class Steps {
 public:
  Steps(bench::Bench& measure, const SharedModel& model)
      : measure_(measure), states_(bench::control_states(model)), tau_(VectorXd::Zero(model->n())) {}

  /// A law that gives up is quick: only status ok counts.
  template <class Controller>
  void operator()(const char* name, Controller&& controller) {
    double t = 0.0;
    measure_(name, "", states_, tau_, [&](const ControlState& s) {
      require(name, controller.step(t, s.q.data(), s.dq.data(), reference_of(controller, s), tau_.data(),
                                    {s.q.data(), s.dq.data()}));
      t += bench::kPeriod;
    });
  }

  void operator()(const char* name, thunder::Clik clik) {
    measure_(name, "", states_, tau_, [&](const ControlState& s) {
      require(name, clik.step(s.q.data(), s.dq.data(), s.task, nullptr, tau_.data()));
    });
  }

  void observer(const char* name, thunder::ExternalObserver&& observer) {
    double t = 0.0;
    measure_(name, "", states_, tau_, [&](const ControlState& s) {
      require(name, observer.step(t, s.q.data(), s.dq.data(), s.joint.ddq.data()));  // some torque
      tau_.head(observer.size()) = observer.estimate();
      t += bench::kPeriod;
    });
  }

  /// The same with an estimate that must have moved, as it does wherever adaptation is really measured.
  template <class Controller>
  void adaptive(const char* name, Controller&& controller) {
    const VectorXd start = controller.adaptive_model().estimate();
    const bool measured = measure_.measures(name);
    (*this)(name, controller);
    const VectorXd moved = controller.adaptive_model().estimate() - start;
    if (measured && !(moved.norm() > 0.0 && moved.norm() < start.norm()))
      throw std::runtime_error(std::string(name) + ": the estimate stayed, or left the arm");
  }

 private:
  static void require(const char* name, thunder::Status status) {
    if (status != thunder::Status::ok)
      throw std::runtime_error(std::string(name) + ": status " + std::to_string(int(status)));
  }

  bench::Bench& measure_;
  std::vector<ControlState> states_;
  VectorXd tau_;
};

void fixed_joint_laws(Steps& steps, const SharedModel& model) {
  const int n = model->n();
  const MatrixXd K_p = bench::gain(n, 100.0), K_v = bench::gain(n, 20.0), D = bench::damping(n);
  const VectorXd ones = VectorXd::Ones(n);
  const thunder::IntegralAction integral(K_p, ones, n);
  using Feedforward = thunder::IndependentJoint::Feedforward;
  const thunder::IndependentJoint::Gains gains{100.0 * ones, D.diagonal()};
  steps("IndependentJoint", thunder::IndependentJoint(model, gains, {ones, ones}, integral, Feedforward::motor));
  steps("IndependentJoint (model feedforward)",
        thunder::IndependentJoint(model, gains, {ones, ones}, integral, Feedforward::model));
  steps("PDGravity", thunder::PDGravity(model, K_p, D, integral, thunder::PDGravity::Gravity::actual));
  using Form = thunder::ComputedTorque::Form;
  steps("ComputedTorque (Craig)", thunder::ComputedTorque(model, K_p, K_v, Form::craig));
  steps("ComputedTorque (impedance)", thunder::ComputedTorque(model, K_p, D, Form::impedance));
  steps("PassivityBased", thunder::PassivityBased(model, bench::gain(n, 5.0), D));
  steps("RobustUnitVector", thunder::RobustUnitVector(model, {K_p, K_v, bench::gain(2 * n, 1.0), 5.0, 0.1}));
}

void adaptive_joint_laws(Steps& steps, const SharedModel& model) {
  using bench::Route;
  steps.adaptive("SlotineLi", bench::slotine_li(model));
  steps.adaptive("SlotineLi (natural law)", bench::slotine_li(model, bench::natural_law(model)));
  steps.adaptive("ACT (regressor)", bench::act(model, Route::regressor));
  steps.adaptive("ACT (acceleration)", bench::act(model, Route::acceleration));
  steps.adaptive("MACT (gamma = 0)", bench::mact(model, Route::none));
  steps.adaptive("MACT (regressor)", bench::mact(model, Route::regressor));
  steps.adaptive("MACT (acceleration)", bench::mact(model, Route::acceleration));
}

/// Every joint elastic, the springs at rest.
SharedModel with_springs(const SharedModel& rigid) {
  thunder::ModelData data = rigid->data();
  const int n = rigid->n();
  for (int j = 1; j <= n; ++j) data.elastic.joints.push_back(j);
  data.elastic.K = thunder::RowMajor::Constant(n, 1, 2000.0);
  data.elastic.D = data.elastic.Dm = thunder::RowMajor(n, 0);
  data.elastic.Mm.assign(static_cast<std::size_t>(n), 0.1);
  return std::make_shared<const thunder::Model>(std::move(data));
}

void elastic_joint_laws(Steps& steps, const SharedModel& rigid) {
  const SharedModel model = with_springs(rigid);
  const int n = model->n();
  const MatrixXd K_v = bench::gain(n, 20.0), D = bench::damping(n);
  using Gravity = thunder::MotorPD::Gravity;
  steps("MotorPD (constant)", thunder::MotorPD(model, bench::gain(n, 100.0), D, Gravity::desired));
  steps("MotorPD (on-line)", thunder::MotorPD(model, bench::gain(n, 100.0), D, Gravity::online));
  steps("ElasticFeedbackLinearization",
        thunder::ElasticFeedbackLinearization(
            model, {bench::gain(n, 1e4), bench::gain(n, 4e3), bench::gain(n, 600.0), bench::gain(n, 40.0)}, D));
  steps.adaptive("ElasticSlotineLi",
                 thunder::ElasticSlotineLi(bench::adaptive(model), {VectorXd::Constant(n, 5.0), D, K_v, 500.0, 0.0}));
  auto slow = std::make_shared<thunder::ComputedTorque>(rigid, bench::gain(n, 100.0), K_v, thunder::ComputedTorque::Form::craig);
  steps("CompositeControl (ComputedTorque)", thunder::CompositeControl(model, std::move(slow), K_v, D));
}

void task_laws(Steps& steps, const SharedModel& model) {
  using bench::Route;
  steps.adaptive("Backstepping", bench::backstepping(model));
  steps.adaptive("CartesianMACT (gamma = 0)", bench::cartesian_mact(model, Route::none));
  steps.adaptive("CartesianMACT (regressor)", bench::cartesian_mact(model, Route::regressor));
  steps("OperationalSpace", bench::operational_space(model));
  steps("CartesianComputedTorque", bench::cartesian_computed_torque(model));
  steps("Impedance", bench::impedance(model, false));
  steps("Impedance (shaped inertia)", bench::impedance(model, true));
}

void kinematic_control(Steps& steps, const SharedModel& model) {
  using Method = thunder::Clik::Method;
  thunder::Clik::Settings plain, damped, second;
  damped.method = Method::damped;
  damped.damping = 0.05;
  second.order = 2;
  thunder::Clik::Settings objective = plain;
  objective.objective = std::make_shared<const thunder::ManipulabilityObjective>(
      model, model->frame(model->end_effector()), thunder::TaskRows{}, 1.0);
  steps("CLIK (pseudo-inverse)", bench::clik(model, plain));
  steps("CLIK (damped)", bench::clik(model, damped));
  steps("CLIK (manipulability)", bench::clik(model, objective));
  steps("CLIK (second order)", bench::clik(model, second));
}

void observers(Steps& steps, const SharedModel& model) {
  const auto filter = [](int size, int order) { return thunder::LowPass(VectorXd::Constant(size, 50.0), order, 1.0); };
  const auto detector = [](int size) { return std::make_unique<thunder::ContactDetector>(VectorXd::Ones(size), 3, 0.5); };
  const int n = model->n();
  steps.observer("MomentumObserver", thunder::MomentumObserver(model, filter(n, 1), detector(n)));
  steps.observer("MomentumObserver (second order)", thunder::MomentumObserver(model, filter(n, 2), detector(n)));
  steps.observer("EnergyObserver", thunder::EnergyObserver(model, filter(1, 1), detector(1)));
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  const auto model = std::make_shared<const thunder::Model>(bench::model_data(bench::read_arm(options.arm)));
  bench::Bench measure("thunder_py", std::size_t(model->n()), options);
  Steps steps(measure, model);
  fixed_joint_laws(steps, model);
  adaptive_joint_laws(steps, model);
  elastic_joint_laws(steps, model);
  task_laws(steps, model);
  kinematic_control(steps, model);
  observers(steps, model);
}
