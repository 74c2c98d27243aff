"""D4.2, section 7.1: accuracy of poses of resting, moving and partly hidden objects."""
