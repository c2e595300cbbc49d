"""The decision server: the built-in judge over HTTP, in the shape of System One."""
