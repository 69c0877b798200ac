"""Training as a value: `start` a trial, `advance` it, and get the same bits however it is cut."""
