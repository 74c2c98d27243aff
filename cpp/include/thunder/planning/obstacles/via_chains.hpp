// Chains of via points around obstacles for which one via point is not enough.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "clearance.hpp"
#include "via_candidates.hpp"

namespace thunder {

constexpr int kMaxVias = 4;

/// Landmarks are an even choice of the candidates; one follows another where the straight line between them is free of
/// standing obstacles. Beam search for the shortest polylines: a heuristic, whose results must still be planned and proved.
class ViaChains {
 public:
  struct Chain {
    double length;  // of the polyline, to the goal
    int count, nodes[kMaxVias];

    bool operator<(const Chain& other) const noexcept;  // the order of length
  };

  /// tries: chains of each number of points that are worth planning.
  ViaChains(int candidates, int tries);

  /// Landmarks from the candidates of the current search, and the chains of one.
  void begin(const ViaCandidates& candidates, const Eigen::Vector3d& start, const Eigen::Vector3d& goal,
             const ObstacleSet& obstacles, double margin) noexcept;
  /// Makes chains one longer and leaves those that reach the goal in `complete()`, the shortest first.
  void extend() noexcept;

  const std::vector<Chain>& complete() const noexcept { return complete_; }
  const Eigen::Vector3d& landmark(int node) const noexcept { return landmarks_[static_cast<std::size_t>(node)]; }

 private:
  /// The least of the offered entries, up to a fixed number.
  struct Best {
    std::vector<Chain>& heap;
    std::size_t most;
    void offer(const Chain& chain) noexcept;
  };

  bool sees(int a, int b) const noexcept { return visible_[static_cast<std::size_t>(a * kNodes + b)] != 0; }

  static constexpr int kLandmarks = 64, kNodes = kLandmarks + 2, kBeam = 256;
  static constexpr int kStart = kLandmarks, kGoal = kLandmarks + 1;
  std::size_t tries_;
  int candidates_, count_ = 0;  // count_: landmarks in use
  std::vector<Eigen::Vector3d> landmarks_;  // then start and goal
  std::vector<char> visible_;
  std::vector<Chain> beam_, longer_, complete_;
};

}  // namespace thunder
