"""Where Clew plugs in."""
