"""A check of datasets: what is known before it, its options in the terms of a run, and the notes after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.api.arguments import given_paths, several_words
from ragdatakit.api.configuration import configurations, settings_below
from ragdatakit.api.in_parts.chosen_engine import chosen_engine
from ragdatakit.api.remote import AtHand, at_hand, refuse_url, renamed
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import PathLike, ValidateOptions
from ragdatakit.schemas.results import Report

if TYPE_CHECKING:
    from ragdatakit.files.configuration.chosen import Configurations
    from ragdatakit.fixes.rounds import Repairs
    from ragdatakit.quality.named_tables import NamedTables
    from ragdatakit.quality.own_rules import OwnRules
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.validators.baselines.new_findings import Findings, KnownBefore
    from ragdatakit.validators.collector import Selection
    from ragdatakit.validators.run_options import RunOptions
    from ragdatakit.validators.stamps import Stamps


def check(
    path: PathLike | Iterable[PathLike],
    options: ValidateOptions,
    refused: Callable[[RagdataError], None] | None = None,
    repairer: Repairs | None = None,
    counted: bool = False,
    forks: bool = False,
) -> tuple[Report, Findings]:
    """As `ragdatakit.validate`, but the findings, which may be more than fit into memory, come beside the report: in
    order, to be read once and closed. Errors about some of the paths go to ``refused``, those about all are raised.
    ``repairer`` repairs what is found. ``counted``: nobody reads the findings, so that none need be made.
    ``forks``: this process does nothing else, and may be copied."""
    from ragdatakit.fixes.foreseen import ForeseenFixes, WithReasons
    from ragdatakit.validators.run import check_paths

    if repairer is not None and options.engine is not None:
        raise RagdataError(f"nothing is repaired with --engine {options.engine}; leave it out")
    for each in given_paths(path) if repairer is not None else ():
        refuse_url(each, "nothing is repaired there; `ragdata fetch` gets a copy of a dataset of the hub")
    with at_hand(options, given_paths(path), options.format) as here:
        options = here.options
        paths, selection, run = _run(here, refused)
        chosen = options.format, several_words(options.profile)
        known, finish = _known(paths, options, (*chosen, selection, run))
        if counted and known is None and repairer is None and options.on_finding is None:
            selection = replace(selection, counted=True)
        stamps = _stamps(paths, options)
        foreseen = ForeseenFixes()
        engine = chosen_engine(options)
        run = replace(run, known=known, stamps=stamps, repairer=repairer, fixer=foreseen, engine=engine, forks=forks)
        with closing(engine) if engine is not None else nullcontext():
            report, findings = check_paths(paths, *chosen, selection, run)
        said = foreseen if repairer is None else repairer
        report.unsure_fixes = not said.sure
        if said.reasons:
            findings = WithReasons(findings, said.reasons)
        finish(report)
        report.notes += _not_loaded(paths, run.configurations)
        report.notes += _not_used(paths, run)
        report.sources = here.origins
        return renamed(report), _Named(findings) if here.origins else findings


class _Named:
    """Kept findings, with the URLs of what was fetched."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self.close = findings.close

    def __iter__(self) -> Iterator[Finding]:
        return map(renamed, self._findings)


def _stamps(paths: list[Path], options: ValidateOptions) -> Stamps | None:
    """Where it is remembered which datasets are valid; None where nobody asks for it."""
    if not options.skip_unchanged:
        return None
    from ragdatakit.api.known_findings.unchanged import stamps_of

    return stamps_of(options, paths)


def _known(
    paths: list[Path], options: ValidateOptions, arguments: tuple[Any, ...]
) -> tuple[KnownBefore | None, Callable[[Report], None]]:
    """What is known of the findings before the run, and what to do after it."""
    writes = options.write_baseline or options.update_baseline
    if not (options.baseline or options.since or writes):
        return None, lambda report: None
    from ragdatakit.api.known_findings.baselines import Baselines

    baselines = Baselines(options, paths) if options.baseline or writes else None
    accepted = baselines if baselines is not None and baselines.matches else None
    if accepted is None and not options.since:
        return None, lambda report: None
    from ragdatakit.api.known_findings.since import SinceRevision
    from ragdatakit.validators.baselines.new_findings import KnownBefore

    since = SinceRevision(options.since, arguments) if options.since else None
    known = KnownBefore(accepted, since, options.max_per_rule, options.show_baselined)

    def finish(report: Report) -> None:
        if accepted is not None:
            accepted.finish(report, known.checked)
        if since is not None:
            report.since = options.since
            report.notes += since.notes

    return known, finish


def _not_loaded(paths: list[Path], chosen: Configurations) -> list[str]:
    """What to say of plug-ins that were not loaded."""
    names = dict.fromkeys(name for path in paths for name in chosen.of(path).unloaded)
    if not names:
        return []
    from ragdatakit.files.configuration.plugins import not_loaded

    return [f"{not_loaded(names)}; their rules were not checked"]


def _not_used(paths: list[Path], run: RunOptions) -> list[str]:
    """What to say of settings and baselines that lie further down than the paths."""
    from ragdatakit.files.configuration.settings_below import not_used

    assert run.below is not None
    return not_used(run.below.unused(paths, run.configurations))


def _tables() -> NamedTables:
    """What checks the tables that settings name; imported where they name some."""
    from ragdatakit.quality.named_tables import NamedTables

    return NamedTables()


def _own_rules() -> OwnRules:
    """What checks the rules of a project; imported where it has some."""
    from ragdatakit.api.query import QueryTables
    from ragdatakit.quality.own_rules import OwnRules

    return OwnRules(QueryTables())


def _run(
    here: AtHand[ValidateOptions], refused: Callable[[RagdataError], None] | None
) -> tuple[list[Path], Selection, RunOptions]:
    """The paths of a run, what of its findings is wanted, and its options."""
    from ragdatakit.api.quality import checked_quality
    from ragdatakit.files.machine import usual_jobs
    from ragdatakit.validators.collector import Selection, known_rules
    from ragdatakit.validators.run_options import RunOptions

    paths, options = [Path(path) for path in here.paths], here.options
    chosen = configurations(options.config)
    own = [names for path in paths for names in chosen.of(path).own_names()]
    selection = Selection(
        select=known_rules(several_words(options.select), own),
        ignore=known_rules(several_words(options.ignore), own),
        severity=options.severity,
        max_per_rule=options.max_per_rule,
        each_record=options.each_record,
        severities={"lfs-pointer": "warning"} if options.skip_unrecognised else {},
    )
    run = RunOptions(
        memory_limit=options.memory_limit,
        jobs=options.jobs or usual_jobs(),
        follow_links=options.follow_links,
        strict_files=options.strict_files,
        whole_datasets=options.whole_datasets,
        skip_unrecognised=options.skip_unrecognised,
        refused=refused,
        max_hops=options.max_hops,
        fail_on=options.fail_on,
        configurations=chosen,
        below=settings_below(options.config, options.baseline),
        tables=_tables() if any(chosen.of(path).of_kind("table") for path in paths) else None,
        own_rules=_own_rules() if own else None,
        on_finding=options.on_finding,
        progress=options.progress,
        quality=checked_quality(selection, options),
    )
    return paths, selection, run
