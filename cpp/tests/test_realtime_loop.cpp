// The loop in a thread of its own: no allocation in its cycles, exchanges from several threads, stops.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "allocations.hpp"
#include "arms.hpp"
#include "check.hpp"
#include "thunder/kinematics/references.hpp"
#include "thunder/realtime/realtime_loop.hpp"
#include "thunder/realtime/simulated_robot.hpp"

using namespace thunder;
using namespace thunder::realtime;
using Eigen::VectorXd;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

VectorXd every(double value) { return VectorXd::Constant(7, value); }

std::shared_ptr<SlotineLi> make_law(const std::shared_ptr<const Model>& model, double Gamma) {
  return std::make_shared<SlotineLi>(arms::adaptive(model, Gamma), arms::identity(7, 5.0), arms::identity(7, 10.0));
}

/// Counts the allocations of the whole process between two of its states; the first is the start for 0.
class CountingDrive final : public Drive {
 public:
  CountingDrive(std::shared_ptr<SimulatedRobot> drive, int first, int last)
      : drive_(std::move(drive)), first_(first), last_(last) {}
  const DriveFacts& facts() const noexcept override { return drive_->facts(); }
  bool waits() const noexcept override { return drive_->waits(); }
  bool start() noexcept override {
    before_ = allocations::count();
    return drive_->start();
  }
  DriveResult read(DriveState& state) noexcept override {
    ++reads_;
    if (reads_ == first_) before_ = allocations::count();
    if (reads_ == last_) made_ = allocations::count() - before_;
    return drive_->read(state);
  }
  bool write(const double* tau) noexcept override { return drive_->write(tau); }
  bool stop() noexcept override { return drive_->stop(); }
  long made() const noexcept { return made_; }

 private:
  std::shared_ptr<SimulatedRobot> drive_;
  int first_, last_, reads_ = 0;
  long before_ = 0, made_ = -1;
};

std::shared_ptr<SimulatedRobot> make_drive(const std::shared_ptr<const Model>& model, bool real_time) {
  VectorXd at_rest = VectorXd::Zero(14);
  at_rest.head(7) = arms::posture();
  return std::make_shared<SimulatedRobot>(
      std::make_unique<RigidPlant>(model),
      SimulatedRobot::Settings{{1e-3, 1e-3, 0.05, every(200.0), every(1000.0)}, at_rest, model, true, real_time});
}

std::shared_ptr<ControlLoop> make_control(const std::shared_ptr<const Model>& model, const DriveFacts& facts, double duration) {
  ControlLoop::Settings settings;
  settings.motion = {every(-4.0), every(4.0), every(3.0)};
  settings.joining_speed = every(0.5);
  settings.run = true;
  settings.state_lost = kInfinity;
  settings.watchdog = facts.watchdog;
  settings.duration = duration;
  std::vector<MovingObstacle> floor{{std::make_shared<HalfSpace>(Eigen::Vector3d(0, 0, -9), Eigen::Vector3d::UnitZ())}};
  SafetyLimits limits{every(-4.0), every(4.0), every(3.0), every(200.0), every(kInfinity), facts.torque_step(), ObstacleSet(floor)};
  auto observer = std::make_shared<MomentumObserver>(model, LowPass(every(20.0), 1, 1.0),
                                                     std::make_unique<ContactDetector>(every(100.0), 5, 0.5));
  auto brake = std::make_shared<SafeTorque>(model, braking_rate(facts.period), every(200.0), every(1000.0));
  return std::make_shared<ControlLoop>(std::make_shared<Safety>(model, limits, observer), std::move(brake), make_law(model, 0.1),
                                       settings);
}

std::shared_ptr<JointReferenceSource> sinusoid(double amplitude) {
  return std::make_shared<Sinusoid>(arms::posture(), every(amplitude), every(0.2), every(0.0));
}

void check_no_allocation() {
  const auto model = arms::panda();
  const auto drive = std::make_shared<CountingDrive>(make_drive(model, false), 100, 1900);
  RealtimeLoop loop(drive, make_control(model, drive->facts(), 2.0), {{}, {"error", "parameters"}, 5000, 1});
  loop.follow(sinusoid(0.2));
  loop.start();
  CHECK(loop.wait(60.0));
  if (allocations::counted()) CHECK(drive->made() == 0);
  const LoopStatistics found = loop.statistics();
  CHECK(found.report.reason == Reason::finished && found.report.at_rest && found.drive_stopped);
  CHECK(found.report.missed == 0 && found.mode == Mode::stopped);
  std::vector<double> rows;
  loop.drain(rows);
  CHECK(rows.size() == static_cast<std::size_t>(found.report.cycles) * loop.row_width());
}

/// Everything that other threads may do at once, and the end by the destructor.
void check_exchange() {
  const auto model = arms::panda();
  const auto drive = make_drive(model, false);
  RealtimeLoop loop(drive, make_control(model, drive->facts(), kInfinity), {{}, {"parameters"}, 100, 1});
  loop.follow(sinusoid(0.1));
  loop.start();
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k)
    threads.emplace_back([&loop, &model, k] {
      std::vector<double> rows;
      for (int i = 0; i < 40; ++i) {
        loop.follow(sinusoid(0.01 * (k + 1)));
        loop.exchange(make_law(model, 0.1 * (k + 1)));
        loop.adapt(std::vector<bool>(static_cast<std::size_t>(model->parameter_count()), i % 2 == 0));
        loop.drain(rows);
        loop.statistics();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(loop.running());
  loop.request(Reason::requested);
  CHECK(loop.wait(60.0) && loop.statistics().report.reason == Reason::requested);
  CHECK(loop.statistics().report.at_rest && !loop.running());
}

/// The destructor brakes and waits; a loop that was never started ends too.
void check_destructor() {
  const auto model = arms::panda();
  const auto drive = make_drive(model, false);
  {
    RealtimeLoop idle(drive, make_control(model, drive->facts(), kInfinity), {});
  }
  {
    RealtimeLoop loop(drive, make_control(model, drive->facts(), kInfinity), {});
    loop.start();
    bool refused = false;
    try {
      loop.start();
    } catch (const std::logic_error&) {
      refused = true;
    }
    CHECK(refused);
  }
  CHECK(!drive->running());
}

/// The loop goes on with its law where another thread uses the next one. That is counted, and nothing throws, which would
/// allocate.
void check_refused_law() {
  const auto model = arms::panda();
  const auto drive = std::make_shared<CountingDrive>(make_drive(model, false), 0, 50);
  RealtimeLoop loop(drive, make_control(model, drive->facts(), 0.1), {});
  const auto law = make_law(model, 0.2);
  const Exclusive::Use use(*law);
  loop.exchange(law);
  loop.start();
  CHECK(loop.wait(60.0));
  CHECK(loop.statistics().refused == 1 && loop.statistics().report.reason == Reason::finished);
  if (allocations::counted()) CHECK(drive->made() == 0);
}

/// A forked process may drop a loop while a thread of the other process waits for its end.
void check_fork() {
  const auto model = arms::panda();
  const auto drive = make_drive(model, false);
  auto loop = std::make_unique<RealtimeLoop>(drive, make_control(model, drive->facts(), kInfinity), RealtimeLoop::Settings{});
  loop->start();
  std::thread waiting([&loop] { loop->wait(60.0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    if (loop->is_here()) _exit(1);
    loop.reset();
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  loop->request(Reason::requested);
  waiting.join();
}

/// Is a page of memory there that nothing has touched? It is where the program locks what comes in future.
bool future_is_locked() {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned char there = 0;
  const bool locked = page != MAP_FAILED && mincore(page, size, &there) == 0 && (there & 1) != 0;
  munmap(page, size);
  return locked;
}

/// What the program has locked stays so, during the loop and after it.
void check_memory_lock() {
  const auto model = arms::panda();
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 || !future_is_locked()) return;  // not allowed here
  const auto drive = make_drive(model, false);
  RealtimeLoop loop(drive, make_control(model, drive->facts(), 0.01), {{0, -1, true}, {}, 0, 1});
  loop.start();
  CHECK(future_is_locked());
  CHECK(loop.wait(60.0) && loop.statistics().outcome.memory == 0);
  CHECK(future_is_locked());
  munlockall();
  CHECK(!future_is_locked());
}

void check_faults() {
  const auto model = arms::panda();
  const std::pair<DriveFault, Reason> faults[] = {{DriveFault::error, Reason::drive_fault},
                                                      {DriveFault::silence, Reason::states_lost},
                                                      {DriveFault::invalid_state, Reason::invalid_states},
                                                      {DriveFault::no_command, Reason::drive_fault},
                                                      {DriveFault::missed_cycles, Reason::missed_cycles}};
  for (const auto& [fault, reason] : faults) {
    const auto drive = make_drive(model, false);
    drive->inject(fault, 0.1);
    RealtimeLoop loop(drive, make_control(model, drive->facts(), 1.0), {});
    loop.follow(sinusoid(0.1));
    loop.start();
    CHECK(loop.wait(60.0) && loop.statistics().report.reason == reason);
    CHECK(loop.statistics().report.at_once == immediate(reason) && !drive->running());
  }
}

}  // namespace

int main() {
  check_no_allocation();
  check_exchange();
  check_destructor();
  check_refused_law();
  check_fork();
  check_faults();
  check_memory_lock();
  return check::result();
}
