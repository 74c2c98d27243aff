// The part of ros_control's hardware interface that the example uses. Not ros_control, and not derived from it.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

namespace hardware_interface {

class JointHandle {
 public:
  JointHandle() = default;
  JointHandle(std::string name, const double* position, const double* velocity, double* command)
      : name_(std::move(name)), position_(position), velocity_(velocity), command_(command) {}
  std::string getName() const { return name_; }
  double getPosition() const noexcept { return *position_; }
  double getVelocity() const noexcept { return *velocity_; }
  void setCommand(double command) noexcept { *command_ = command; }

 private:
  std::string name_;
  const double *position_ = nullptr, *velocity_ = nullptr;
  double* command_ = nullptr;
};

class EffortJointInterface {
 public:
  void registerHandle(const JointHandle& handle) { handles_[handle.getName()] = handle; }
  JointHandle getHandle(const std::string& name) const {
    const auto found = handles_.find(name);
    if (found == handles_.end()) throw std::out_of_range("there is no joint " + name);
    return found->second;
  }

 private:
  std::map<std::string, JointHandle> handles_;
};

}  // namespace hardware_interface
