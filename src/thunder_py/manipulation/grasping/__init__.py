"""Judgement of grasps by what happens to the object."""
