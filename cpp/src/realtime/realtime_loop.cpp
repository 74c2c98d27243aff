#include "thunder/realtime/realtime_loop.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "thunder/realtime/clock.hpp"

namespace thunder::realtime {

namespace {

/// Cycles between two copies of the statistics.
constexpr std::int64_t kPublished = 25;

std::vector<Signal> choose(const Controller& law, const std::vector<std::string>& names) {
  std::vector<Signal> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(law.signals().begin(), law.signals().end(),
                                    [&](const Signal& signal) { return signal.name == name; });
    if (found == law.signals().end()) throw std::invalid_argument("log: the controller has no signal '" + name + "'");
    chosen.push_back(*found);
  }
  return chosen;
}

std::size_t width(int n, const std::vector<Signal>& signals) {
  std::size_t numbers = 4 + 4 * static_cast<std::size_t>(n);
  for (const Signal& signal : signals) numbers += static_cast<std::size_t>(signal.size());
  return numbers;
}

/// Signals, such as Ctrl-C, are the business of the threads that were there before.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

RealtimeLoop::RealtimeLoop(std::shared_ptr<Drive> drive, std::shared_ptr<ControlLoop> loop, Settings settings)
    : drive_(std::move(drive)),
      loop_(std::move(loop)),
      settings_(std::move(settings)),
      task_(loop_->task()),
      logged_(choose(loop_->law().controller(), settings_.signals)),
      signals_(logged_),
      log_(width(loop_->n(), logged_), settings_.log_rows),
      newest_law_(loop_->law().shared()) {
  period_ = std::llround(1e9 * drive_->facts().period);
  if (period_ < 1) throw std::invalid_argument("the drive's period must be 1 ns at least");
}

RealtimeLoop::~RealtimeLoop() {
  if (!is_here()) {
    static_cast<void>(thread_.release());
    return;
  }
  if (!thread_->thread.joinable()) return;
  request(Reason::requested);
  thread_->thread.join();
}

bool RealtimeLoop::is_here() const noexcept {
  const pid_t process = process_;
  return process == 0 || process == getpid();
}

void RealtimeLoop::start() {
  const std::lock_guard lock(callers_);
  if (started_) throw std::logic_error("a RealtimeLoop runs once: make a new one");
  std::promise<void> taken;
  std::future<void> outcome = taken.get_future();
  std::thread& thread = thread_->thread;
  process_ = getpid();
  try {
    {
      const SignalsBlocked blocked;
      thread = std::thread([this, &taken] { run(taken); });
    }
    outcome.get();
  } catch (...) {
    if (thread.joinable()) thread.join();
    finished_ = false;  // it has not begun, and may be started again
    process_ = 0;
    throw;
  }
  started_ = true;
}

bool RealtimeLoop::wait(double seconds) {
  std::unique_lock lock(thread_->ending);
  return thread_->ended.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return finished_.load(); });
}

// --- exchange

void RealtimeLoop::follow(std::shared_ptr<JointReferenceSource> reference) {
  auto motion = std::make_shared<std::unique_ptr<JointMotion>>(std::make_unique<JointMotion>(0.0, std::move(reference)));
  requests_.post([this, motion] { *motion = loop_->follow(std::move(*motion)); });
}

void RealtimeLoop::follow(std::shared_ptr<TaskReferenceSource> reference) {
  requests_.post([this, reference]() mutable { loop_->exchange(reference); });
}

void RealtimeLoop::exchange(std::shared_ptr<Controller> law) {
  const std::lock_guard lock(callers_);
  auto change = std::make_shared<Change>(prepare(law));
  requests_.post([this, change] {
    if (auto use = Exclusive::Use::attempt(change->law.controller())) {
      loop_->exchange(change->law, true);
      std::swap(signals_, change->signals);
      law_use_.emplace(std::move(*use));
    } else {
      ++refused_;
    }
  });
  newest_law_ = std::move(law);
}

/// Marks the law as in use no longer than that, or the loop could not take it.
RealtimeLoop::Change RealtimeLoop::prepare(const std::shared_ptr<Controller>& law) const {
  if (law == nullptr) throw std::invalid_argument("law must be a controller");
  const Exclusive::Use use(*law);  // which the loop's present law is refused by
  Change change{loop_->make_law(law), choose(*law, settings_.signals)};
  for (std::size_t k = 0; k < logged_.size(); ++k)
    if (change.signals[k].size() != logged_[k].size())
      throw std::invalid_argument("log: the signal '" + logged_[k].name + "' must keep its size");
  const LoopLaw before(newest_law_);
  AdaptiveModel* const adaptive = change.law.adaptive();
  if ((adaptive == nullptr) != (before.adaptive() == nullptr) ||
      (adaptive != nullptr && adaptive->unknown().indices() != before.adaptive()->unknown().indices()))
    throw std::invalid_argument("the law must have the unknown parameters of the one that it replaces");
  // without a call of `adapt` the mask is what it was before the loop, which does not change it
  if (adaptive != nullptr) adaptive->set_adapting(adapting_.empty() ? before.adaptive()->adapting() : adapting_);
  return change;
}

void RealtimeLoop::adapt(const std::vector<bool>& moving) {
  const std::lock_guard lock(callers_);
  const LoopLaw law(newest_law_);
  if (law.adaptive() == nullptr) throw std::invalid_argument("the controller has no estimate that could adapt");
  requests_.post([this, mask = law.adaptive()->check_adapting(moving)] {
    if (AdaptiveModel* const adaptive = loop_->law().adaptive()) adaptive->set_moving(mask);
  });
  adapting_ = moving;
}

// --- results

void RealtimeLoop::drain(std::vector<double>& rows) {
  const std::lock_guard lock(callers_);
  const std::size_t count = log_.size(), before = rows.size();
  rows.resize(before + count * log_.width());
  log_.drain(count, rows.data() + before);
}

LoopStatistics RealtimeLoop::statistics() {
  const std::lock_guard lock(callers_);
  return published_.read();
}

// --- the thread

void RealtimeLoop::run(std::promise<void>& taken) noexcept {
  if (take_in_use(taken)) {
    statistics_.outcome = apply(settings_.thread);
    statistics_.thread = thread_number();
    usage_ = thread_usage();
    publish();  // the outcome, before the starting thread can ask for it
    taken.set_value();
    control();
    statistics_.drive_stopped = drive_->stop();
    publish();
  }
  law_use_.reset();
  uses_.clear();
  finish();
}

/// Other threads must not touch what the loop uses; false where one already does.
bool RealtimeLoop::take_in_use(std::promise<void>& taken) noexcept {
  try {
    law_use_.emplace(loop_->law().controller());
    uses_ = loop_->use();
    if (const auto* exclusive = dynamic_cast<const Exclusive*>(drive_.get())) uses_.emplace_back(*exclusive);
  } catch (...) {
    taken.set_exception(std::current_exception());
    return false;
  }
  return true;
}

void RealtimeLoop::control() noexcept {
  if (!drive_->start()) return loop_->stop(Reason::drive_fault);
  usage_ = thread_usage();
  next_ = monotonic_now();
  while (!loop_->ended()) cycle();
}

void RealtimeLoop::cycle() noexcept {
  requests_.run();
  if (!drive_->waits()) pace();
  DriveState state;
  const DriveResult result = drive_->read(state);
  if (result == DriveResult::fault) return loop_->stop(Reason::drive_fault);
  if (result == DriveResult::nothing) return loop_->miss();
  const Command* const command = loop_->state({state.stamp, state.stamp, state.q, state.dq, {}, state.gravity});
  if (command == nullptr) return;
  if (!drive_->write(command->tau.data())) loop_->stop(Reason::drive_fault);
  if (loop_->report().cycles % settings_.log_every == 0) write_log(state, *command);
  if (loop_->report().cycles % kPublished == 0) publish();
}

/// Waits for the next instant of the grid; those that passed are left out.
void RealtimeLoop::pace() noexcept {
  next_ += period_;
  const std::int64_t before = monotonic_now();
  if (before > next_) {
    const std::int64_t over = (before - next_) / period_ + 1;
    statistics_.overruns += over;
    next_ += over * period_;
  }
  sleep_until(next_);
  statistics_.latency.add(seconds(monotonic_now() - next_));
}

void RealtimeLoop::write_log(const DriveState& state, const Command& command) noexcept {
  double* row = settings_.log_rows > 0 ? log_.next() : nullptr;
  if (row == nullptr) return;
  const RunReport& report = loop_->report();
  const auto add = [&row](const double* values, int count) { row = std::copy_n(values, count, row); };
  add(&report.t, 1);
  for (const double* values : {state.q, state.dq, loop_->demand().data(), command.tau.data()}) add(values, n());
  for (const int number : {static_cast<int>(command.status), static_cast<int>(command.mode), static_cast<int>(report.reason)})
    *row++ = number;
  for (const Signal& signal : signals_) add(signal.data, signal.size());
  log_.push();
}

void RealtimeLoop::publish() noexcept {
  ThreadUsage usage = thread_usage();
  usage.minor_faults -= usage_.minor_faults;
  usage.major_faults -= usage_.major_faults;
  usage.waits -= usage_.waits;
  usage.preemptions -= usage_.preemptions;
  usage.processor -= usage_.processor;
  statistics_.usage = usage;
  statistics_.report = loop_->report();
  statistics_.period = loop_->period();
  statistics_.computing = loop_->computing();
  statistics_.mode = loop_->mode();
  statistics_.why = loop_->reason();
  statistics_.refused = refused_ + loop_->motions_refused();
  published_.publish(statistics_);
}

/// The last thing that the thread does; nothing is urgent any more.
void RealtimeLoop::finish() noexcept {
  const std::lock_guard lock(thread_->ending);
  finished_ = true;
  thread_->ended.notify_all();
}

}  // namespace thunder::realtime
