// Random numbers that are the same on every platform: the standard library leaves its distributions to the vendor.
#pragma once

#include <cmath>
#include <cstdint>

namespace thunder {

/// xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), seeded by splitmix64;
/// normal numbers by the polar method of Marsaglia.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) word = splitmix(seed);
  }

  std::uint64_t bits() noexcept {
    const std::uint64_t result = rotated(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotated(state_[3], 45);
    return result;
  }

  /// In [0, 1), with 53 bits.
  double uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

  /// Mean 0, variance 1.
  double normal() noexcept {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x, y, square;
    do {
      x = 2.0 * uniform() - 1.0;
      y = 2.0 * uniform() - 1.0;
      square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    const double factor = std::sqrt(-2.0 * std::log(square) / square);
    spare_ = y * factor;
    has_spare_ = true;
    return x * factor;
  }

 private:
  static std::uint64_t rotated(std::uint64_t x, int k) noexcept { return (x << k) | (x >> (64 - k)); }

  static std::uint64_t splitmix(std::uint64_t& seed) noexcept {
    std::uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_[4];
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace thunder
