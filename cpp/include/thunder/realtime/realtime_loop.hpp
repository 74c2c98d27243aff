// A thread that runs a control loop on a drive, with limits and defined stops: no lock, no allocation, no exception in it.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "control_loop.hpp"
#include "drive.hpp"
#include "requests.hpp"
#include "ring.hpp"
#include "thread_settings.hpp"

namespace thunder::realtime {

/// What a loop has measured of itself.
struct LoopStatistics {
  RunReport report;
  std::int64_t overruns = 0;  // periods that began while the cycle before was not over
  Quantiles period;           // time between states on the drive's clock [s]
  Quantiles latency;          // from the instant for which the thread had set its timer to its running [s]
  Quantiles computing;        // from a state to its command [s]
  ThreadOutcome outcome;
  ThreadUsage usage;  // from the first cycle on
  int thread = 0;     // its number
  Mode mode = Mode::starting;
  Reason why = Reason::no_state;
  std::int64_t refused = 0;  // references that could not be joined within limits, and laws in use by another thread
  bool drive_stopped = false;
};

/// Runs once. All methods but the destructor may be called by any thread, at any time; they wait for no cycle but `wait`.
class RealtimeLoop {
 public:
  struct Settings {
    ThreadSettings thread;
    std::vector<std::string> signals;  // of the law, to be logged
    std::size_t log_rows = 0;          // that fit between two calls of `drain`
    int log_every = 1;                 // cycles
  };

  /// The drive and the loop are this thread's alone. Throws std::invalid_argument for a signal that the law does not have.
  RealtimeLoop(std::shared_ptr<Drive> drive, std::shared_ptr<ControlLoop> loop, Settings settings);
  RealtimeLoop(const RealtimeLoop&) = delete;
  RealtimeLoop& operator=(const RealtimeLoop&) = delete;
  /// Brakes the arm, and waits for the thread.
  ~RealtimeLoop();

  /// Throws std::logic_error for a second start, `ConcurrentUse` where another thread uses a part, std::system_error where
  /// there is no thread.
  void start();
  void request(Reason reason) noexcept { loop_->request(reason); }
  /// Waits for the end, at most for a time [s]; true once it has come.
  bool wait(double seconds);
  bool running() const noexcept { return started_ && !finished_; }
  /// False in a process that was forked from the one that has the thread: nothing but the destructor is allowed there.
  bool is_here() const noexcept;

  // --- exchange

  /// From the next state on; not null, and the loop's alone. References are evaluated at the loop's time.
  void follow(std::shared_ptr<JointReferenceSource> reference);
  void follow(std::shared_ptr<TaskReferenceSource> reference);
  /// Another law of the same kind, class and unknown parameters, which goes on with the estimate and the mask of those that
  /// adapt. Throws std::invalid_argument, and `ConcurrentUse` for the present law.
  void exchange(std::shared_ptr<Controller> law);
  /// Parameters that adapt, of all; see `AdaptiveModel::set_adapting`. Throws std::invalid_argument.
  void adapt(const std::vector<bool>& moving);

  // --- results

  /// Time of the last state [s] in each row of the log, then q, dq, demanded torque, command (n each), status of the law,
  /// mode, reason of a stop, and the signals.
  std::size_t row_width() const noexcept { return log_.width(); }
  const std::vector<Signal>& logged() const noexcept { return logged_; }
  /// Appends the rows that came since the last call.
  void drain(std::vector<double>& rows);
  long dropped_rows() const noexcept { return log_.dropped(); }
  LoopStatistics statistics();
  int n() const noexcept { return loop_->n(); }
  bool task() const noexcept { return task_; }

 private:
  struct Change {
    LoopLaw law;
    std::vector<Signal> signals;
  };

  void run(std::promise<void>& taken) noexcept;
  bool take_in_use(std::promise<void>& taken) noexcept;
  void control() noexcept;
  void cycle() noexcept;
  void pace() noexcept;
  void write_log(const DriveState& state, const Command& command) noexcept;
  void publish() noexcept;
  void finish() noexcept;
  Change prepare(const std::shared_ptr<Controller>& law) const;

  std::shared_ptr<Drive> drive_;
  std::shared_ptr<ControlLoop> loop_;
  Settings settings_;
  bool task_;
  std::vector<Signal> logged_;

  // of the loop's thread
  std::vector<Signal> signals_;  // the present law's
  std::optional<Exclusive::Use> law_use_;
  std::vector<Exclusive::Use> uses_;  // of the other parts
  std::int64_t next_ = 0, period_ = 0, refused_ = 0;
  LoopStatistics statistics_;
  ThreadUsage usage_;

  // between threads
  Requests requests_;
  Latest<LoopStatistics> published_;
  Ring log_;
  std::atomic<bool> started_{false}, finished_{false};

  // of the other threads
  std::mutex callers_;  // one at a time for changes and results
  std::shared_ptr<Controller> newest_law_;
  std::vector<bool> adapting_;  // the last mask, empty before any
  /// A forked process cannot destroy it: threads of the other one run it and wait for its end.
  struct Thread {
    std::thread thread;
    std::mutex ending;
    std::condition_variable ended;
  };
  std::unique_ptr<Thread> thread_ = std::make_unique<Thread>();
  std::atomic<pid_t> process_{0};  // of the thread, from before its start
};

}  // namespace thunder::realtime
