"""Tables 6 and 7, Figures 5 to 10 of the Thunder article."""
