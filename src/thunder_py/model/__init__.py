"""Data of an arm, validated, and what is computed from them alone: below the files of robots and the class `Robot`."""
