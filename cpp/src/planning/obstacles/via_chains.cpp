#include "thunder/planning/obstacles/via_chains.hpp"

#include <algorithm>

namespace thunder {

using Eigen::Vector3d;

bool ViaChains::Chain::operator<(const Chain& other) const noexcept {
  if (length != other.length) return length < other.length;
  return std::lexicographical_compare(nodes, nodes + count, other.nodes, other.nodes + other.count);
}

void ViaChains::Best::offer(const Chain& chain) noexcept {
  if (heap.size() == most) {
    if (!(chain < heap.front())) return;
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
  }
  heap.push_back(chain);
  std::push_heap(heap.begin(), heap.end());
}

ViaChains::ViaChains(int candidates, int tries)
    : tries_(static_cast<std::size_t>(tries)), candidates_(candidates), landmarks_(kNodes), visible_(kNodes * kNodes) {
  beam_.reserve(kBeam);
  longer_.reserve(kBeam);
  complete_.reserve(tries_);
}

void ViaChains::begin(const ViaCandidates& candidates, const Vector3d& start, const Vector3d& goal,
                      const ObstacleSet& obstacles, double margin) noexcept {
  const int stride = std::max(1, candidates_ / kLandmarks);
  count_ = 0;
  for (int k = stride / 2; k < candidates_ && count_ < kLandmarks; k += stride) {
    const Vector3d point = candidates.at(k);
    if (obstacles.line_free(point, point, margin)) landmarks_[static_cast<std::size_t>(count_++)] = point;
  }
  landmarks_[kStart] = start, landmarks_[kGoal] = goal;
  for (int a = 0; a < kNodes; ++a)
    for (int b = 0; b < a; ++b) {
      const bool used = b < count_ && (a < count_ || a >= kLandmarks);
      const bool free = used && obstacles.line_free(landmark(a), landmark(b), margin);
      visible_[static_cast<std::size_t>(a * kNodes + b)] = visible_[static_cast<std::size_t>(b * kNodes + a)] = free;
    }
  beam_.clear();
  for (int node = 0; node < count_; ++node)
    if (sees(kStart, node))
      Best{beam_, kBeam}.offer({(landmark(node) - start).norm() + (goal - landmark(node)).norm(), 1, {node}});
}

void ViaChains::extend() noexcept {
  longer_.clear();
  complete_.clear();
  const Vector3d& goal = landmark(kGoal);
  for (const Chain& chain : beam_) {
    const int last = chain.nodes[chain.count - 1];
    const Vector3d& end = landmark(last);
    for (int node = 0; node < count_; ++node) {
      if (!sees(last, node)) continue;
      Chain next = chain;
      const Vector3d& point = landmark(node);
      next.length += (point - end).norm() + (goal - point).norm() - (goal - end).norm();
      next.nodes[next.count++] = node;
      Best{longer_, kBeam}.offer(next);
      if (sees(node, kGoal)) Best{complete_, tries_}.offer(next);
    }
  }
  std::swap(beam_, longer_);
  std::sort_heap(complete_.begin(), complete_.end());
}

}  // namespace thunder
