"""The built-in judge's lexical tier: hashed character n-grams and hand-made features under logistic heads."""
