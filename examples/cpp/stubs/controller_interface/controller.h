// The part of ros_control's controller interface that the example uses. Not ros_control, and not derived from it.
#pragma once

#include <ros/ros.h>

namespace controller_interface {

template <class Interface>
class Controller {
 public:
  virtual ~Controller() = default;
  virtual bool init(Interface*, ros::NodeHandle&) { return true; }
  virtual void starting(const ros::Time&) {}
  virtual void update(const ros::Time& time, const ros::Duration& period) = 0;
  virtual void stopping(const ros::Time&) {}
};

}  // namespace controller_interface
