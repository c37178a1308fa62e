"""Every row of the specification's tables as a case: the damage, what upstream does, which rules must be reported."""

from __future__ import annotations

from tests.gfm_rag_example_cases import EXAMPLES
from tests.gfm_rag_legacy_cases import LEGACY
from tests.gfm_rag_question_cases import QUESTIONS
from tests.gfm_rag_table_cases import TABLES

CASES = (*TABLES, *QUESTIONS, *EXAMPLES, *LEGACY)
