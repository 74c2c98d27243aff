"""The report of an identification: one HTML file with figures, without references to other files."""
