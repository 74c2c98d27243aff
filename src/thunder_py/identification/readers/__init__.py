"""Readers of log files. Each is a table of named columns, read in parts; columns become signals by names and units."""
