"""Visual servoing and picking: control law, pose filters, estimation of the tool in the hand, pick sequence."""
