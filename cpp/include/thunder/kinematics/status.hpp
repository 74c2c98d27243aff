// What a control step reports. A step never throws: where the law has no answer, the torque is a safe one.
#pragma once

namespace thunder {

enum class Status : int {
  ok,
  saturated,      // torque clipped to its limits
  singular,       // the law is not defined at this state
  diverged,       // estimate, torque or state beyond bounds
  invalid_input,  // a NaN or infinity came in, or a reference orientation that is no rotation
};

}  // namespace thunder
