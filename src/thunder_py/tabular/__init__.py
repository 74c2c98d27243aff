"""Files of numbers as tables: named columns of text, arrays, Parquet and bags of ROS, read in parts."""
