"""How the built-in judge is trained. Needs the extra `clew[train]`; nothing here is imported at run time."""
