// Logs of a run: copies of vectors that keep their place, row by row into storage made before by `reserve`.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../math/matrices.hpp"

namespace thunder {

class Recorder {
 public:

  struct Channel {
    std::string name;
    const double* source;
    int width;
    RowMajor rows{};
  };

  explicit Recorder(Eigen::Index capacity) : capacity_(capacity) {}

  /// `source` must stay where it is while recording.
  void add(std::string name, const double* source, int width) {
    channels_.push_back({std::move(name), source, width});
  }

  Eigen::Index capacity() const noexcept { return capacity_; }
  /// Numbers in a row of all channels.
  Eigen::Index width() const noexcept {
    Eigen::Index sum = 0;
    for (const Channel& channel : channels_) sum += channel.width;
    return sum;
  }
  void reserve() {
    for (Channel& channel : channels_) channel.rows.resize(capacity_, channel.width);
  }

  void record() noexcept {
    if (count_ == capacity_) return;
    for (Channel& channel : channels_)
      std::copy_n(channel.source, channel.rows.cols(), channel.rows.data() + count_ * channel.rows.cols());
    ++count_;
  }

  Eigen::Index count() const noexcept { return count_; }
  /// Only the first `count()` rows mean something.
  std::vector<Channel>& channels() noexcept { return channels_; }

 private:
  Eigen::Index capacity_, count_ = 0;
  std::vector<Channel> channels_;
};

}  // namespace thunder
