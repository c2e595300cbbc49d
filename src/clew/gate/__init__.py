"""From a conversation to judged states: states, vetoes and selection, end-of-turn evaluation."""
