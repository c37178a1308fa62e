"""Rules of the times in SAGE records (SG5…)."""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule

TIME_RULES: tuple[Rule, ...] = (
    Rule(
        "SG501 time-not-seconds error",
        summary="A time that is not a finite number of seconds from 0.",
        message="{field} is {value}; seconds from 0 are expected, as a number",
        upstream="Latency raises TypeError on a string, and adds a negative time to the sum",
        hint="write seconds as a number, such as 0.3; leave the key out where nothing was measured",
        fix="safe: write the number without quotes",
        bad='{"query": "q", "refining_time": "0.3"}',
        good='{"query": "q", "refining_time": 0.3}',
        source="sage_rag/operators/evaluate.py: Latency",
    ),
    Rule(
        "SG502 operators-time-key error",
        summary="A time under the name that today's operators use and the documentation calls old.",
        message="{field} is the older name of {meant}, which alone the documented format reads",
        upstream={"unified": "readers of the documented format find no time of the stage, and its latency counts as 0"},
        hint="for the documented format rename it as the message says; for today's operators, which read this name, "
        "validate with --profile operators",
        fix="unsafe: rename the key",
        bad='{"query": "q", "refine_time": 0.3}',
        good='{"query": "q", "refining_time": 0.3}',
        source="DATA_FORMAT.md of SAGE 3e42ab7",
    ),
    Rule(
        "SG503 missing-operators-time error",
        summary="A time under its documented name only, which today's operators do not read.",
        message="{field} is there and {meant}, which today's operators read, is not",
        upstream={"operators": "Latency reads the other name and counts 0.00 s"},
        hint="for today's operators write the time under the name that they read; the documented format, which is "
        "checked without --profile operators, wants the one that is there",
        bad='{"query": "q", "refining_time": 0.3}',
        good='{"query": "q", "refine_time": 0.3}',
        source="sage_rag/operators/evaluate.py: Latency",
    ),
    Rule(
        "SG504 time-without-stage warning",
        summary="A time without the stage that it was measured of.",
        message="{field} is there and nothing of {stage}",
        upstream="Latency counts a stage that left nothing in the record",
        hint="keep the stage in the record, or leave its time out",
        bad='{"query": "q", "refining_time": 0.3}',
        good='{"query": "q", "refining_results": [{"text": "a"}], "refining_docs": ["a"], "refining_time": 0.3}',
        source="sage_rag/operators/evaluate.py: Latency",
    ),
    Rule(
        "SG505 time-over-an-hour warning",
        summary="A time of more than 3,600 seconds.",
        message="{field} is {value} seconds, more than an hour: perhaps milliseconds",
        upstream="Latency takes it for seconds",
        hint="divide by 1,000 where the clock counted milliseconds",
        bad='{"query": "q", "retrieval_docs": ["a"], "retrieval_time": 5600}',
        good='{"query": "q", "retrieval_docs": ["a"], "retrieval_time": 5.6}',
        source="sage_rag/operators/evaluate.py: Latency",
    ),
)
