"""Visual servoing and picking: the law, filters of seen poses, the tool in the hand, the sequence of a pick."""
