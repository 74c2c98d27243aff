"""The Thunder article's main experiment: adaptive backstepping along a Lissajous curve."""
