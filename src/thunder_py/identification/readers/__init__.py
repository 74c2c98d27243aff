"""Readers of log files: CSV, NPZ, Parquet, ROS bags, files of `SimulationResult.save`; all read in parts."""
