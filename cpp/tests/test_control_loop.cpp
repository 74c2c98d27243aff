// The control loop never allocates after its construction, whatever comes; motions and laws are handed over and given back.
#include <random>

#include "allocations.hpp"
#include "arms.hpp"
#include "check.hpp"
#include "thunder/planning/trajectory/joint_trajectory.hpp"
#include "thunder/kinematics/references.hpp"
#include "thunder/realtime/control_loop.hpp"

using namespace thunder;
using namespace thunder::realtime;
using Eigen::VectorXd;

namespace {

constexpr std::int64_t kNoon = 1'700'000'000'000'000'000, kMillisecond = 1'000'000;

VectorXd all(double value) { return VectorXd::Constant(7, value); }

ControlLoop::Settings settings(const Model& model) {
  ControlLoop::Settings s;
  s.motion = {all(-3.0), all(3.0), all(2.0)};
  s.joining_speed = all(0.5);
  s.frame = model.frame(model.end_effector());
  s.invalid_states = 20;
  return s;
}

std::unique_ptr<ControlLoop> make_loop(const std::shared_ptr<const Model>& model, std::shared_ptr<Controller> law,
                                       const ControlLoop::Settings& s, std::shared_ptr<ExternalObserver> observer = nullptr) {
  SafetyLimits limits{all(-3.0), all(3.0), all(INFINITY), all(87.0), all(1000.0), all(INFINITY)};
  limits.patience = INFINITY;
  return std::make_unique<ControlLoop>(std::make_shared<Safety>(model, limits),
                                       std::make_shared<SafeTorque>(model, 150.0, all(87.0), all(1000.0)), std::move(law), s,
                                       std::move(observer));
}

std::shared_ptr<Controller> joint_law(const std::shared_ptr<const Model>& model) {
  return std::make_shared<SlotineLi>(arms::adaptive(model, 10.0), arms::identity(7, 5.0), arms::identity(7, 10.0));
}

std::shared_ptr<Controller> task_law(const std::shared_ptr<const Model>& model) {
  return std::make_shared<Backstepping>(arms::adaptive(model, 10.0), model->frame(model->end_effector()),
                                        Backstepping::Task::pose, OrientationKind::axis_angle,
                                        Backstepping::Gains{arms::identity(6, 5.0), arms::identity(6, 50.0),
                                                            {arms::identity(7, 10.0), arms::posture(), arms::identity(7, 1.0)}});
}

std::shared_ptr<ExternalObserver> observer(const std::shared_ptr<const Model>& model) {
  return std::make_shared<MomentumObserver>(model, LowPass(all(50.0), 2, 1.0),
                                            std::make_unique<ContactDetector>(all(1.0), 3, 0.5));
}

/// From the posture on by a cubic over `duration`.
std::unique_ptr<JointMotion> motion(double start, double duration, double far) {
  std::vector<double> coefficients;
  for (const double power : {0.0, 0.0, 3.0 * far / (duration * duration), -2.0 * far / (duration * duration * duration)})
    for (int j = 0; j < 7; ++j) coefficients.push_back(power);
  for (int j = 0; j < 7; ++j) coefficients[static_cast<std::size_t>(j)] = arms::posture()[j];
  auto source = std::make_shared<JointTrajectory>(PiecewisePolynomial({start, start + duration}, coefficients, 7));
  JointReference first(7), last(7);
  source->at(start, first);
  source->at(start + duration, last);
  return std::make_unique<JointMotion>(start, start + duration, std::move(source), first, last);
}

int count(const JointMotion* chain) { return chain == nullptr ? 0 : 1 + count(chain->next.get()); }

/// Calls that are answered, dropped, refused, late, lost and out of order.
void play(ControlLoop& loop, const VectorXd& posture, std::mt19937& generator, std::int64_t& now) {
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> choice(0, 99);
  for (int k = 0; k < 400; ++k) {
    now += kMillisecond;
    const int what = choice(generator);
    double q[7], dq[7], x[7] = {}, dx[7] = {};
    for (int j = 0; j < 7; ++j) {
      q[j] = posture[j];
      dq[j] = 0.01 * normal(generator);
    }
    if (what < 3) q[2] = NAN;
    if (what == 3) dq[1] = 1e200;
    if (what == 4) now += 60 * kMillisecond;
    if (what == 5) loop.refuse(now, now, Dropped::names);
    const std::int64_t stamp = what == 6 ? now - 30 * kMillisecond : what == 7 ? 0 : now;
    loop.state({stamp, now, q, dq, what % 2 == 0 ? Motors{x, dx} : Motors{}});
    if (what == 8) loop.watch(now + 30 * kMillisecond);
    if (loop.task() && what > 30) {
      const double p[3] = {0.4, 0.1 * normal(generator), 0.5}, turn[4] = {0.0, 1.0, 0.0, 0.0}, w[3] = {0.1, 0.0, 0.0};
      loop.take_pose(loop.t(), p, turn);
      loop.take_twist(loop.t(), w, w);
    }
  }
}

void check_no_allocation(const std::shared_ptr<const Model>& model, const std::shared_ptr<Controller>& law, bool recover) {
  ControlLoop::Settings s = settings(*model);
  s.recover = recover;
  const auto made = make_loop(model, law, s, observer(model));
  ControlLoop& loop = *made;
  std::mt19937 generator(1);
  std::int64_t now = kNoon;
  const VectorXd posture = arms::posture();
  std::unique_ptr<JointMotion> given;
  for (int k = 0; k < 6; ++k) {
    auto next = motion(0.4 * k + (k % 2 == 0 ? 0.1 : -0.1), 0.2, 0.05 * k);
    const allocations::Scope scope;
    given = loop.follow(std::move(next));
    play(loop, posture, generator, now);
    if (k == 3) now -= 3600 * 1000 * kMillisecond;
    if (k == 4) loop.watch(now + 400 * kMillisecond);
    if (k == 4) loop.reset();
    CHECK(scope.made() == 0);
  }
  CHECK(loop.gate().taken() > 250);
  CHECK(loop.latency().count() == loop.gate().taken());
}

/// The states of an arm that stands still.
const Command* stand(ControlLoop& loop, int steps, std::int64_t& now) {
  const VectorXd q = arms::posture(), still = VectorXd::Zero(7);
  const Command* command = nullptr;
  for (int k = 0; k < steps; ++k) {
    now += kMillisecond;
    command = loop.state({now, now, q.data(), still.data()});
  }
  return command;
}

void check_motions_are_given_back() {
  const auto model = arms::panda();
  const auto made = make_loop(model, joint_law(model), settings(*model));
  ControlLoop& loop = *made;
  std::int64_t now = kNoon;
  stand(loop, 10, now);
  CHECK(count(loop.follow(motion(0.0, 1.0, 0.1)).get()) == 0);
  CHECK(count(loop.follow(motion(0.0, 1.0, 0.1)).get()) == 1);  // has not begun
  CHECK(stand(loop, 10, now)->mode == Mode::tracking);
  CHECK(count(loop.follow(motion(0.0, 1.0, 0.2)).get()) == 0);
  stand(loop, 10, now);
  CHECK(count(loop.follow(nullptr).get()) == 1);
  CHECK(loop.follow(std::make_unique<JointMotion>(0.0, std::make_shared<SetPoint>(VectorXd::Zero(3))))
            ->first.q.size() == 3);  // of another arm
  now += 400 * kMillisecond;
  CHECK(stand(loop, 1, now)->mode == Mode::fault);
  CHECK(count(loop.follow(motion(0.0, 1.0, 0.1)).get()) == 2);  // refused, and the one before
}

void check_sources_are_followed() {
  const auto model = arms::panda();
  const auto made = make_loop(model, joint_law(model), settings(*model));
  ControlLoop& loop = *made;
  std::int64_t now = kNoon;
  stand(loop, 1, now);
  loop.follow(std::make_unique<JointMotion>(0.0, std::make_shared<SetPoint>(arms::posture() + all(0.01))));
  const Command* command = stand(loop, 2000, now);
  CHECK(command->mode == Mode::tracking);
  const Eigen::Map<const VectorXd> error(command->error.data, command->error.size);
  CHECK((error - all(0.01)).norm() < 1e-9);
  StateArchive state;
  bool thrown = false;
  try {
    loop.archive(state);
  } catch (const std::invalid_argument&) {
    thrown = true;
  }
  CHECK(thrown);
}

void check_sources_of_poses() {
  const Eigen::Matrix3d down = Eigen::Vector3d(1.0, -1.0, -1.0).asDiagonal();
  Lissajous source({0.4, 0.0, 0.5}, down, {0.05, 0.08, 0.05}, {0.2, 0.1, 0.4}, 0.0);
  TaskFollower follower({}, 0.2);
  follower.start(0.0, {0.4, 0.1, 0.45}, down, Vector6d::Zero());
  TaskReference wanted;
  double error = 0.0;
  for (int k = 0; k < 4000; ++k) {
    source.at(1e-3 * k, wanted);
    CHECK(follower.take(1e-3 * k, wanted) && follower.present(1e-3 * k));
    const TaskReference& reference = follower.at(1e-3 * k);
    if (k > 2000) error = std::max(error, (reference.p - wanted.p).norm() + (reference.R - wanted.R).norm());
  }
  CHECK(error < 2e-4);  // half a millimeter without the acceleration
  wanted.p[0] = NAN;
  CHECK(!follower.take(5.0, wanted));

  const auto model = arms::panda();
  const auto made = make_loop(model, task_law(model), settings(*model));
  ControlLoop& loop = *made;
  std::int64_t now = kNoon;
  stand(loop, 1, now);
  std::shared_ptr<TaskReferenceSource> next = std::make_shared<Lissajous>(source);
  TaskReferenceSource* const given = next.get();
  loop.exchange(next);
  CHECK(next == nullptr);
  CHECK(stand(loop, 100, now)->mode == Mode::tracking);
  now += 400 * kMillisecond;
  CHECK(stand(loop, 1, now)->mode == Mode::fault);
  loop.reset();
  CHECK(stand(loop, 2, now)->reason == Reason::no_reference);
  loop.exchange(next);
  CHECK(next.get() == given);
}

void check_exchange() {
  const auto model = arms::panda();
  const auto made = make_loop(model, joint_law(model), settings(*model));
  ControlLoop& loop = *made;
  std::int64_t now = kNoon;
  stand(loop, 10, now);
  loop.follow(motion(0.0, 0.5, 0.1));
  stand(loop, 300, now);
  const Eigen::Map<const VectorXd> learned(loop.law().parameters().data, model->parameter_count());
  const VectorXd before = learned;
  CHECK((before - model->parameters()).norm() > 0.0);
  LoopLaw next = loop.make_law(joint_law(model)), fresh = loop.make_law(joint_law(model));
  {
    const allocations::Scope scope;
    loop.exchange(next, true);
    CHECK(Eigen::Map<const VectorXd>(loop.law().parameters().data, before.size()) == before);
    loop.exchange(fresh, false);
    CHECK(Eigen::Map<const VectorXd>(loop.law().parameters().data, before.size()) == model->parameters());
    CHECK(scope.made() == 0);
  }
  bool thrown = false;
  try {
    loop.make_law(task_law(model));
  } catch (const std::invalid_argument&) {
    thrown = true;
  }
  CHECK(thrown);
}

void check_extreme_stamps() {
  const auto model = arms::panda();
  const auto made = make_loop(model, joint_law(model), settings(*model));
  ControlLoop& loop = *made;
  const VectorXd q = arms::posture(), still = VectorXd::Zero(7);
  for (const std::int64_t stamp : {INT64_MAX, INT64_MIN, std::int64_t{1}})
    for (const std::int64_t now : {INT64_MAX, INT64_MIN, std::int64_t{1}}) {
      loop.state({stamp, now, q.data(), still.data()});
      loop.watch(now);
      CHECK(loop.time_of(stamp) == loop.time_of(stamp));
    }
}

}  // namespace

int main() {
  for (const auto& model : {arms::panda(), arms::everything()})
    for (const bool recover : {false, true}) {
      check_no_allocation(model, joint_law(model), recover);
      check_no_allocation(model, task_law(model), recover);
    }
  check_motions_are_given_back();
  check_sources_are_followed();
  check_sources_of_poses();
  check_exchange();
  check_extreme_stamps();
  return check::result();
}
