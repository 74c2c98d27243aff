// Position and velocity of an object from measured positions: Kalman filter for motion at constant velocity.
#pragma once

#include <array>
#include <limits>

#include "../math/matrices.hpp"
#include "../math/state_archive.hpp"
#include "../threads/exclusive.hpp"

namespace thunder {

struct ConstantVelocitySettings {
  /// Process noise.
  enum class Process {
    continuous,  // white acceleration with a spectral density, exact for steps of any length
    discrete,    // accelerations that are constant over a step and independent from step to step: D = [dt^2/2; dt]
    paper        // D4.2, eq. (119), as printed: D = [v; v], nothing at rest (errata D-27)
  };
  Process process = Process::continuous;
  double intensity = 0.01;  // density [m^2/s^3], variance of the acceleration [m^2/s^4], or nu
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity() * 1.6e-5;  // covariance of a measured position [m^2]
  double velocity_deviation = 0.5;                           // of the first velocity, zero, per axis [m/s]
  double gate = std::numeric_limits<double>::infinity();     // of the squared Mahalanobis distance of an innovation
  int reinitialize_after = 5;                                // rejected in a row, kMostRejected at most; 0: never
  int frozen_after = 3;                                      // repeats of one position to the last bit; 0: never
};

/// Outcome of a measurement.
enum class FilterUpdate : int { started, accepted, late, rejected, reinitialized, duplicate, too_old, frozen, invalid };

/// Measurements carry the time of the image. They may arrive at irregular times and late: the filter then returns to
/// its earlier state and repeats the later updates, as if all had arrived in order. Joseph's form of
/// the update. Never throws, never allocates.
class ConstantVelocityFilter final : public Exclusive {
 public:
  using State = Vector6d;  // position, velocity
  using Covariance = Matrix6d;
  /// Largest number of measurements newer than a late one.
  static constexpr int kHistory = 32;
  static constexpr int kMostRejected = 16;

  explicit ConstantVelocityFilter(ConstantVelocitySettings settings) noexcept : settings_(settings) {}

  const ConstantVelocitySettings& settings() const noexcept { return settings_; }
  void reset() noexcept;
  void archive(StateArchive& state);
  /// A position that was measured at time t.
  FilterUpdate update(double t, const Eigen::Vector3d& position) noexcept;

  bool started() const noexcept { return count_ > 0; }
  /// Accepted since the last initialization.
  int updates() const noexcept { return updates_; }
  /// Time of the newest accepted measurement; only once started.
  double time() const noexcept { return entry(count_ - 1).time; }
  /// Squared Mahalanobis distance of the last innovation, 3 on average; NaN without one.
  double distance() const noexcept { return distance_; }
  /// State at any time; only once started. The first form gives the mean alone.
  State at(double t) const noexcept;
  void at(double t, State& x, Covariance& P) const noexcept;

 private:
  struct Entry {
    double time;
    Eigen::Vector3d z;
    State x;  // after the measurement
    Covariance P;
  };

  Entry& entry(int k) noexcept { return ring_[static_cast<std::size_t>((first_ + k) % kHistory)]; }
  const Entry& entry(int k) const noexcept { return ring_[static_cast<std::size_t>((first_ + k) % kHistory)]; }
  void start(double t, const Eigen::Vector3d& z) noexcept;
  void predict(double dt, State& x, Covariance& P) const noexcept;
  /// The state after a measurement; false, and nothing written, where the gate is closed.
  bool correct(const Entry& before, double t, const Eigen::Vector3d& z, double gate, Entry& after) noexcept;
  FilterUpdate insert(int place, double t, const Eigen::Vector3d& z) noexcept;
  FilterUpdate reject(double t, const Eigen::Vector3d& z) noexcept;
  bool repeated(const Eigen::Vector3d& z) noexcept;

  ConstantVelocitySettings settings_;
  std::array<Entry, kHistory> ring_;
  std::array<double, kMostRejected> rejected_times_;  // of the last ones in a row
  std::array<Eigen::Vector3d, kMostRejected> rejected_positions_;
  int first_ = 0, count_ = 0, updates_ = 0, rejected_ = 0, repeats_ = 0;
  Eigen::Vector3d last_seen_ = Eigen::Vector3d::Zero();
  double distance_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace thunder
