"""Whether another revision of ragdata says the same of the same data: ``make same REV=…``."""
