"""Worlds with contacts: an arm with a hand among objects, tables and conveyor belts."""
