"""How two datasets differ: records compared, as text, JSON and schema."""
