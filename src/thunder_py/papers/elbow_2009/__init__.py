"""The 2009 regressor paper's elbow arm."""
