"""How honest a decision model's probabilities are, and the temperatures that mend them."""
