"""The built-in judge's encoder tier: MiniLM fine-tuned for the judge's questions, beside the lexical heads."""
