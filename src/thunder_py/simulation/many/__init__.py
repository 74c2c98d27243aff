"""Many runs: simulated by workers, written to a store as they come, and shown as tables and datasets."""
