"""The lecture course."""
