"""Signal processing that several roles share: sample rates and mel filters."""
