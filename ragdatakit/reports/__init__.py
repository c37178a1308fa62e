"""What is shown: findings, summaries, comparisons, metrics and gates, as text, JSON, Markdown and pages of HTML."""
