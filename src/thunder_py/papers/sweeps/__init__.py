"""Results of a paper over the plausible values of what it does not print."""
