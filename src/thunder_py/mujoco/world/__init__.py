"""Worlds with contacts: an arm with a hand, objects, a table, a conveyor belt and places for cameras."""
