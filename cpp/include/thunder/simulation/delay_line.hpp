// Vectors that come out as many samples later as the line is long.
#pragma once

#include <Eigen/Dense>

namespace thunder {

class DelayLine {
 public:
  /// `samples` may be 0: then what goes in comes out.
  DelayLine(int width, long samples) : kept_(width, samples) {}

  /// Puts a vector in and replaces it by the one that went in `samples` calls before; until then by the first one.
  void exchange(double* values) noexcept {
    if (kept_.cols() == 0) return;
    Eigen::Map<Eigen::VectorXd> now(values, kept_.rows());
    if (!started_) kept_.colwise() = now;
    started_ = true;
    kept_.col(next_).swap(now);
    next_ = next_ + 1 == kept_.cols() ? 0 : next_ + 1;
  }

 private:
  Eigen::MatrixXd kept_;  // a column for each sample
  Eigen::Index next_ = 0;
  bool started_ = false;
};

}  // namespace thunder
