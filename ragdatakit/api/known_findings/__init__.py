"""What is known of findings before a run: a baseline, the state at a git revision."""
