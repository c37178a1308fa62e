"""Files judged range by range, wherever: a range is judged by a function of nothing but the range, whose result is a
value; one process replays the results in order, and reports what a run without ranges does, to the byte."""
