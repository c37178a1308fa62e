"""Rules of quality: what loads in every framework and makes retrieval worse anyway."""
