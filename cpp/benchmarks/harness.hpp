// How long does one call take? Two answers, because a control loop sees the second one:
//
//   warm   the call repeated over random states, everything in cache: the algorithm's own speed;
//   loop   one call per tick of a 1 kHz loop, after the rest of the program has had the caches and
//          the branch predictors for a millisecond.
//
// The loop is emulated (other memory and other code are run through between two calls), which keeps a
// run short; `--real-loop` sleeps until each tick instead. Results are JSON, one object per line.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <time.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown"
#endif

namespace bench {

#if defined(__clang__)
inline constexpr const char* compiler_name = "clang++";
#else
inline constexpr const char* compiler_name = "g++";
#endif

// ---- random states -------------------------------------------------------------------------------

// `Vector` is whatever the measured library likes to be called with; it must have data().
template <class Vector>
struct State {
  Vector q, dq, ddq, dq_r, ddq_r, tau;
};

// The same states for every library: std::mt19937_64 is specified to the bit, the standard
// distributions are not, so the mapping to [-2, 2) is written out.
template <class Vector, class Make>
std::vector<State<Vector>> random_states(std::size_t n, Make make, std::size_t count = 256) {
  std::mt19937_64 generator(20240607);
  const auto vector = [&] {
    Vector v = make(n);
    for (std::size_t i = 0; i < n; ++i) {
      v.data()[i] = 4.0 * double(generator() >> 11) * 0x1p-53 - 2.0;
    }
    return v;
  };
  std::vector<State<Vector>> states;
  for (std::size_t k = 0; k < count; ++k) {
    State<Vector> s;
    for (Vector* v : {&s.q, &s.dq, &s.ddq, &s.dq_r, &s.ddq_r, &s.tau}) *v = vector();
    states.push_back(std::move(s));
  }
  return states;
}

// ---- clock ---------------------------------------------------------------------------------------

// Makes the optimizer believe that all memory is read and written here, so that results are really computed.
inline void fence() { asm volatile("" ::: "memory"); }

// The same for the processor: nothing is in flight when the clock is read.
inline void drain() {
#if defined(__x86_64__)
  asm volatile("lfence" ::: "memory");
#else
  fence();
#endif
}

inline double now_ns() {
  drain();
  const auto t = std::chrono::steady_clock::now().time_since_epoch();
  drain();
  return double(std::chrono::duration_cast<std::chrono::nanoseconds>(t).count());
}

inline double quantile(std::vector<double>& samples, double p) {
  const auto k = std::size_t(p * double(samples.size() - 1) + 0.5);
  std::nth_element(samples.begin(), samples.begin() + std::ptrdiff_t(k), samples.end());
  return samples[k];
}

// What two clock readings cost with nothing between them.
inline double clock_cost() {
  std::vector<double> samples(4096);
  for (double& s : samples) {
    const double start = now_ns();
    s = now_ns() - start;
  }
  return quantile(samples, 0.5);
}

// ---- the rest of the program ---------------------------------------------------------------------

// 512 small functions with code and branches of their own, together larger than a first-level
// instruction cache.
template <std::size_t I>
__attribute__((noinline)) std::uint64_t other_function(std::uint64_t x) {
  for (std::size_t k = 0; k < 4; ++k) {
    x = (x ^ (x >> (I % 31 + 1))) * (0x9e3779b97f4a7c15u + 2 * I);
    if (x & (std::uint64_t(1) << (I % 61))) x += I * 0x100000001b3u;
    if (x % (I + 3) == 0) x ^= ~std::uint64_t(I);
  }
  return x;
}

class OtherWork {
 public:
  OtherWork() : memory_(megabytes * 1024 * 1024 / sizeof(std::uint64_t), 1) {}

  void run() {
    for (int k = 0; k < 1024; ++k) x_ = table()[(x_ >> 20) % size](x_);
    for (std::size_t i = 0; i < memory_.size(); i += 64 / sizeof(std::uint64_t)) memory_[i] += x_;
    fence();
  }

 private:
  static constexpr std::size_t size = 512, megabytes = 16;  // calibrated: medians as in the real loop
  using Function = std::uint64_t (*)(std::uint64_t);

  template <std::size_t... I>
  static const std::array<Function, size>& make_table(std::index_sequence<I...>) {
    static const std::array<Function, size> functions{other_function<I>...};
    return functions;
  }
  static const std::array<Function, size>& table() { return make_table(std::make_index_sequence<size>{}); }

  std::vector<std::uint64_t> memory_;
  std::uint64_t x_ = 1;
};

// ---- answers -------------------------------------------------------------------------------------

// Whatever the storage order, the squares add up to the same number: two libraries can be compared.
template <class Result>
double squares(const Result& result) {
  double sum = 0.0;
  for (std::size_t i = 0; i < std::size_t(result.size()); ++i) sum += result.data()[i] * result.data()[i];
  return sum;
}

template <class... Results>  // several arrays, by std::tie
double squares(const std::tuple<Results...>& results) {
  return std::apply([](const auto&... result) { return (squares(result) + ...); }, results);
}

// ---- measuring -----------------------------------------------------------------------------------

struct Options {
  std::string arm, only;  // `only`: quantities to measure, separated by commas; empty for all
  std::size_t passes = 60, ticks = 400;  // through the states when warm, of the 1 kHz loop
  bool real_loop = false;
};

inline Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--real-loop") o.real_loop = true;
    else if (a == "--passes" && i + 1 < argc) o.passes = std::stoul(argv[++i]);
    else if (a == "--ticks" && i + 1 < argc) o.ticks = std::stoul(argv[++i]);
    else if (a == "--only" && i + 1 < argc) o.only = argv[++i];
    else o.arm = a;
  }
  return o;
}

class Bench {
 public:
  Bench(std::string library, std::size_t joints, Options options)
      : library_(std::move(library)), joints_(joints), options_(std::move(options)), clock_cost_(clock_cost()) {}

  bool measures(const std::string& quantity) const {
    return options_.only.empty() || ("," + options_.only + ",").find("," + quantity + ",") != std::string::npos;
  }

  // Through the states when warm.
  std::size_t passes() const { return options_.passes; }

  // Measures call(state), which leaves its answer in `result`, and prints what it found. `variant` names
  // one of several ways a library offers to the same quantity; who reads the table keeps the fastest.
  template <class S, class Result, class Call>
  void operator()(const char* quantity, const char* variant, const std::vector<S>& states, const Result& result,
                  Call&& call) {
    if (!measures(quantity)) return;
    call(states.front());
    square_ = squares(result);
    warm(quantity, variant, states, call);
    if (options_.ticks > 0) loop(quantity, variant, states, call);
  }

 private:
  // The median comes from blocks of calls, so that reading the clock does not count; a block would
  // hide a slow call, so p99 and worst come from calls timed one by one.
  template <class S, class Call>
  void warm(const char* quantity, const char* variant, const std::vector<S>& states, Call& call) {
    constexpr std::size_t block = 32;
    std::vector<double> blocks, singles;
    for (const S& s : states) call(s), fence();
    for (std::size_t pass = 0; pass < options_.passes; ++pass) {
      for (std::size_t k = 0; k + block <= states.size(); k += block) {
        const double start = now_ns();
        for (std::size_t i = k; i < k + block; ++i) call(states[i]), fence();
        blocks.push_back((now_ns() - start) / double(block));
      }
    }
    for (std::size_t pass = 0; pass < options_.passes / 4 + 1; ++pass) {
      for (const S& s : states) singles.push_back(single(s, call));
    }
    report(quantity, variant, "warm", quantile(blocks, 0.5), singles);
  }

  template <class S, class Call>
  void loop(const char* quantity, const char* variant, const std::vector<S>& states, Call& call) {
    std::vector<double> singles;
    S measured = states.front();  // the measurement arrives in cache, everything else does not
    timespec tick{};
    clock_gettime(CLOCK_MONOTONIC, &tick);
    for (std::size_t k = 0; k < options_.ticks; ++k) {
      other_.run();
      if (options_.real_loop) sleep_until_next(tick);
      measured = states[k % states.size()];
      singles.push_back(single(measured, call));
    }
    const double median = quantile(singles, 0.5);
    report(quantity, variant, options_.real_loop ? "real-loop" : "loop", median, singles);
  }

  template <class S, class Call>
  double single(const S& s, Call& call) const {
    const double start = now_ns();
    call(s);
    return std::max(0.0, now_ns() - start - clock_cost_);
  }

  static void sleep_until_next(timespec& tick) {
    tick.tv_nsec += 1000000;
    if (tick.tv_nsec >= 1000000000) tick.tv_nsec -= 1000000000, ++tick.tv_sec;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &tick, nullptr);
  }

  void report(const char* quantity, const char* variant, const char* mode, double median,
              std::vector<double>& singles) const {
    std::printf(
        "{\"library\": \"%s\", \"compiler\": \"%s\", \"flags\": \"%s\", \"quantity\": \"%s\", "
        "\"variant\": \"%s\", \"mode\": \"%s\", \"joints\": %zu, \"median_ns\": %.1f, \"p99_ns\": %.1f, "
        "\"p999_ns\": %.1f, \"worst_ns\": %.1f, \"samples\": %zu, \"square\": %.17g}\n",
        library_.c_str(), compiler_name, BENCH_FLAGS, quantity, variant, mode, joints_, median,
        quantile(singles, 0.99), quantile(singles, 0.999), *std::max_element(singles.begin(), singles.end()),
        singles.size(), square_);
    std::fflush(stdout);
  }

  std::string library_;
  std::size_t joints_;
  Options options_;
  double clock_cost_, square_ = 0.0;
  OtherWork other_;
};

}  // namespace bench
