"""How good a decision model is: labelled rows in, metrics and a reliability diagram out."""
