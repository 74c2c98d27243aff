// Contacts from residuals: thresholds with consecutive samples and hysteresis.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../math/state_archive.hpp"

namespace thunder {

/// An entry is in contact after `samples` consecutive residuals beyond its threshold, and no longer after as many below
/// `release` times it. Never throws, never allocates.
class ContactDetector {
 public:
  /// thresholds > 0, samples >= 1, 0 < release <= 1.
  ContactDetector(Eigen::VectorXd thresholds, int samples, double release)
      : thresholds_(std::move(thresholds)),
        samples_(samples),
        release_(release),
        contact_(Eigen::VectorXd::Zero(thresholds_.size())),
        counts_(static_cast<std::size_t>(thresholds_.size()), 0) {}

  /// A residual that is not a number leaves its entry as it is.
  void step(const double* residual) noexcept {
    for (Eigen::Index i = 0; i < contact_.size(); ++i) {
      const double size = std::abs(residual[i]);
      if (std::isnan(size)) continue;
      const bool touching = contact_[i] != 0.0;
      const bool changing = touching ? size < release_ * thresholds_[i] : size > thresholds_[i];
      int& count = counts_[static_cast<std::size_t>(i)];
      count = changing ? count + 1 : 0;
      if (count < samples_) continue;
      contact_[i] = touching ? 0.0 : 1.0;
      count = 0;
    }
  }

  /// 1 where there is a contact, else 0.
  const Eigen::VectorXd& contact() const noexcept { return contact_; }
  void reset() noexcept {
    contact_.setZero();
    std::fill(counts_.begin(), counts_.end(), 0);
  }
  void archive(StateArchive& state) {
    for (double& flag : contact_) state.bounded(flag, 0.0, 1.0);
    for (int& count : counts_) state.bounded(count, 0.0, samples_ - 1.0);
  }

 private:
  Eigen::VectorXd thresholds_;
  int samples_;
  double release_;
  Eigen::VectorXd contact_;
  std::vector<int> counts_;  // consecutive residuals that ask for a change
};

}  // namespace thunder
