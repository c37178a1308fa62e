"""The rules of no format: shared by all, of an evaluation, of quality, of tables.

Their modules are imported when a rule is asked for: sound data need none.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import late_rules

SHARED = late_rules(__name__, "shared:RULES")
EVALUATION = late_rules(__name__, "evaluation:RULES")
QUALITY = late_rules(__name__, "quality:RULES")
TABLES = late_rules(__name__, "tables:RULES")
