"""Modified adaptive computed torque (D4.2, section 3)."""
