"""What a person keeps: explicit asks, the inbox and its review, recall into the prompt."""
