// State of an object, what it keeps from one call to the next, as a sequence of numbers: for pickling and copying.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace thunder {

/// Writes or reads the state of an object; one function `archive(StateArchive&)` of a class does both. Configuration is
/// not part of the state: an object is read into one that was made with the same arguments. Nothing that is read is
/// trusted: sizes, and integers and flags, are checked before they are used, and std::invalid_argument is thrown.
class StateArchive {
 public:
  /// First number of every state; changes with the order or the meaning of the others.
  static constexpr double kSchema = 2.0;

  StateArchive() : values_{kSchema} {}
  explicit StateArchive(std::vector<double> values) : values_(std::move(values)), reading_(true) {
    if (next() != kSchema) throw std::invalid_argument("state must be of schema 2, which this version of thunder_py reads");
  }

  bool reading() const noexcept { return reading_; }
  const std::vector<double>& values() const noexcept { return values_; }
  /// After reading: throws unless all numbers were used.
  void finish() const {
    if (place_ != values_.size()) refuse_size();
  }

  /// One after the other.
  template <class... T>
  void operator()(T&... parts) {
    (part(parts), ...);
  }
  void numbers(double* values, Eigen::Index count) {
    for (Eigen::Index k = 0; k < count; ++k) part(values[k]);
  }
  /// An integer or enumeration from `least` to `most`.
  template <class Integer>
  void bounded(Integer& value, double least, double most) {
    double number = static_cast<double>(value);
    part(number);
    if (!reading_) return;
    if (!(number >= least && number <= most) || number != std::floor(number))
      throw std::invalid_argument("state must hold integers in their ranges");
    value = static_cast<Integer>(number);
  }
  /// Number of parts of at least `width` numbers that follow, at most `most`.
  std::size_t count(std::size_t size, std::size_t width, std::size_t most = kMost) {
    bounded(size, 0.0, static_cast<double>(most));
    if (reading_ && size > (values_.size() - place_) / width) refuse_size();
    return size;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 32;

  void part(double& value) {
    if (reading_)
      value = next();
    else
      values_.push_back(value);
  }
  void part(bool& value) { bounded(value, 0.0, 1.0); }
  /// The size stays.
  template <class Derived>
  void part(Eigen::PlainObjectBase<Derived>& values) {
    numbers(values.data(), values.size());
  }
  void part(std::vector<double>& values) {
    values.resize(count(values.size(), 1));
    numbers(values.data(), static_cast<Eigen::Index>(values.size()));
  }
  template <class T>
  void part(std::unique_ptr<T>& object) {
    if (object) object->archive(*this);
  }
  template <class T>
  auto part(T& object) -> decltype(object.archive(*this)) {
    object.archive(*this);
  }

  double next() {
    if (place_ == values_.size()) refuse_size();
    return values_[place_++];
  }
  [[noreturn]] static void refuse_size() {
    throw std::invalid_argument("state must have the size that belongs to the object's arguments");
  }

  std::vector<double> values_;
  std::size_t place_ = 0;
  bool reading_ = false;
};

}  // namespace thunder
