"""The models that ship: their files, the manifest that vouches for them, and the tokenizer and runtime they share."""
