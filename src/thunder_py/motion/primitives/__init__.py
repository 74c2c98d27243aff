"""Movement primitives: DMPs, quaternion DMPs, ProMPs, obstacle potentials."""
