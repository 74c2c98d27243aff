// Upper limits on the size of a robot, for memory of fixed size.
#pragma once

namespace thunder {

inline constexpr int kMaxJoints = 64;
inline constexpr int kMaxFrictionTerms = 7;
inline constexpr int kLinkParameters = 10;  // REG: m, m c, I about the link frame origin

}  // namespace thunder
