"""What the built-in judge learns from one person's answers: small corrections of its logits, numbers only."""
