"""Libraries with variants: joined without a seam, used by plans, and what cannot be varied is said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.cli import app
from gaitway.core.errors import GaitwayError, LibraryError, VariationError
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.library.checks import check_graph, check_joins
from gaitway.library.storage import describe_library, load_library, save_library
from gaitway.motion import Clip, foot_slide, slice_frames
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.editing import with_name
from gaitway.performing.joins import mend_joins
from gaitway.take.tracks import assemble, lay_track
from gaitway.variation.enriching import Enriched, EnrichOptions, enrich
from gaitway.variation.evaluation.gate import GateBars
from gaitway.variation.sampling.end_matching import MOST_AT_ENDS

JOGS = ("jog_forward", "jog_left_30", "jog_right_30", "jog_left_45")


@pytest.fixture(scope="module")
def plain() -> Library:
    return load_cast("person", behaviors=[*JOGS, "start_jog", "stop_jog"])


@pytest.fixture(scope="module")
def upper(plain: Library) -> Enriched:
    return enrich(plain, EnrichOptions(count=3, rounds=1), ["jog_forward", "jog_left_30"])


@pytest.mark.slow
def test_variants_join_without_a_seam(plain: Library, upper: Enriched) -> None:
    assert upper.added == 6
    assert [row.method for row in upper.rows] == ["upper", "upper"]
    assert check_graph(upper.library) == check_graph(plain)
    before, after = check_joins(plain), check_joins(upper.library)
    assert max(join.legs for join in after) < 1e-6
    assert max(join.height for join in after) < 1e-6 + max(join.height for join in before)
    assert np.radians(1.0) < max(join.angle for join in after) < 2.0 * MOST_AT_ENDS, "each has ends of its own"


def test_legs_path_and_timing_are_those_of_the_take(upper: Enriched) -> None:
    library = upper.library
    take, *variants = (library.clips[name] for name in library.graph["jog_forward"].clips)
    arm = take.skeleton.roles["left_shoulder"]
    for variant in variants:
        assert "variant" in variant.labels
        assert np.array_equal(variant.root_positions, take.root_positions)
        assert foot_slide(variant).max() == pytest.approx(foot_slide(take).max(), abs=1e-12)
        assert np.abs(variant.rotations[:, arm] - take.rotations[:, arm]).max() > 5e-3
    assert not np.array_equal(variants[0].rotations, variants[1].rotations)


def test_the_audit_finds_nothing_in_a_take_of_variants(upper: Enriched) -> None:
    library = upper.library
    names = ["start_jog", *library.graph["jog_forward"].clips, *library.graph["jog_left_30"].clips, "stop_jog"]
    track = lay_track("ada", [library.clips[name] for name in names], (0.0, 0.0, 0.0))
    assert audit_take(mend_joins(assemble([track]))).violations == ()


@pytest.mark.slow
def test_variants_of_variants_are_made_anew(upper: Enriched) -> None:
    again = enrich(upper.library, EnrichOptions(count=2, rounds=1, seed=5), ["jog_forward"])
    assert len(again.library.graph["jog_forward"].clips) == 3
    assert len(again.library.graph["jog_left_30"].clips) == 4
    assert again.rows[0].takes == 1


def test_what_cannot_be_varied_is_said(plain: Library) -> None:
    with pytest.raises(VariationError, match=r"no variant for any of 1 behaviours \(start_jog: fewer than 4 takes"):
        enrich(plain, EnrichOptions(count=2), ["start_jog"])
    with pytest.raises(LibraryError, match="no behaviour 'juggle'"):
        enrich(plain, EnrichOptions(count=2), ["juggle"])
    bare = {name: replace(clip, contacts=None) for name, clip in plain.clips.items()}
    with pytest.raises(VariationError, match="clips without contacts"):
        enrich(replace(plain, clips=bare), EnrichOptions(count=2), ["jog_forward"])


@pytest.mark.slow
def test_a_gate_that_nothing_passes(plain: Library) -> None:
    options = EnrichOptions(count=1, tries=1, rounds=1, bars=GateBars(continuity=0.0))
    with pytest.raises(VariationError, match=r"no variant .* too sudden"):
        enrich(plain, options, ["jog_forward"])


@pytest.mark.parametrize("options", [{"count": 0}, {"tries": 0}, {"seed": -1}, {"gain": 0.0}, {"gain": 9.0}])
def test_bad_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(VariationError, match="write"):
        EnrichOptions(**options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_whole_bodies_from_four_takes(tmp_path: Path) -> None:
    library = load_cast("person", seed=1, takes=4, behaviors=["jog_forward"])
    done = enrich(library, EnrichOptions(count=3, rounds=1))
    assert done.rows[0].method == "whole"
    assert done.added >= 2
    takes = [library.clips[name] for name in library.graph["jog_forward"].clips]
    for name in done.library.graph["jog_forward"].clips[4:]:
        variant = done.library.clips[name]
        assert foot_slide(variant).max() < 0.006
        legs = ~upper_joints(variant.skeleton)
        legs[0] = False
        ends = [np.abs(clip.rotations[0] - takes[0].rotations[0]).max(axis=-1) for clip in (variant, takes[1])]
        assert max(end[legs].max() for end in ends) < 1e-6
        assert min(end.max() for end in ends) > 0.005, "upper bodies of their own"
    save_library(done.library, tmp_path / "jog.gwlib")
    assert len(load_library(tmp_path / "jog.gwlib").clips) == len(done.library.clips)


@pytest.mark.slow
def test_from_the_command_line(plain: Library, tmp_path: Path) -> None:
    source, output = tmp_path / "plain.gwlib", tmp_path / "more.gwlib"
    save_library(plain, source)
    arguments = ["vary", str(source), "-o", str(output), "--count", "2", "-b", "jog_forward", "--json"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    (row,) = json.loads(done.stdout)
    assert row["added"] == 2
    assert row["method"] == "upper"
    assert row["why"] == "fewer than 4 takes do not show how legs vary"
    assert describe_library(output)["facts"]["added"] == 2
    assert len(load_library(output).graph["jog_forward"].clips) == 3


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of libraries that cannot be varied, each for one reason."""
    folder = tmp_path_factory.mktemp("broken")
    whole = load_cast("person", takes=4, behaviors=["wave", "cheer"])
    wave, cheer = whole.graph["wave"], whole.graph["cheer"]

    def keep(name: str, clips: dict[str, Clip]) -> None:
        graph = BehaviorGraph((replace(wave, clips=tuple(clips)),) if clips else ())
        save_library(Library(name, whole.skeleton, clips, graph), folder / f"{name}.gwlib")

    takes = {name: whole.clips[name] for name in wave.clips}
    first, *others = wave.clips
    keep("empty", {})
    keep("one", {first: takes[first]})
    keep("short", {name: slice_frames(take, 0, 2) for name, take in takes.items()})
    keep("bare", {name: replace(take, contacts=None) for name, take in takes.items()})
    keep("rates", {first: replace(takes[first], fps=60.0)} | {name: takes[name] for name in others})
    keep("two", {name: whole.clips[name] for name in (*wave.clips[:2], *cheer.clips[:2])})
    keep("odd", {name: whole.clips[name] for name in (*wave.clips[:3], cheer.clips[0])})
    keep("variants", {name: replace(take, labels=("variant",)) for name, take in takes.items()})
    down, pose = np.ones((30, len(whole.skeleton.contact_points)), bool), takes[first].rotations[:1]
    still = Clip(whole.skeleton, np.ones((30, 3)), np.repeat(pose, 30, axis=0), 30.0, "still", down)
    keep("still", {name: with_name(still, name) for name in takes})
    keep("good", takes)
    content = (folder / "good.gwlib").read_bytes()
    (folder / "cut.gwlib").write_bytes(content[: len(content) // 2])
    (folder / "text.gwlib").write_text("no library")
    return folder


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("person -o x.npz", "must end in .gwlib"),
        ("person -o no/x.gwlib", "there is no folder"),
        ("nobody -o x.gwlib", "no library 'nobody'"),
        ("persn -o x.gwlib", "did you mean 'person'"),
        ("nothing.gwlib -o x.gwlib", "cannot be read"),
        ("cut.gwlib -o x.gwlib", "is not a library, or is damaged"),
        ("text.gwlib -o x.gwlib", "is not a library, or is damaged"),
        ("good.gwlib -o x.gwlib -b juggle", "no behaviour 'juggle' in library 'good'; there are wave"),
        ("good.gwlib -o x.gwlib -b wavr", "did you mean 'wave'?"),
        ("good.gwlib -o x.gwlib -b walk_*", "no behaviour 'walk_*'"),
        ("good.gwlib -o x.gwlib --gain -1", "gain -1.0; write a number above 0 and up to 3"),
        ("good.gwlib -o x.gwlib --gain 0", "gain 0.0; write"),
        ("good.gwlib -o x.gwlib --gain nan", "gain nan; write"),
        ("good.gwlib -o x.gwlib --gain 50", "gain 50.0; write"),
        ("good.gwlib -o x.gwlib --style bold", "has no styles"),
        ("empty.gwlib -o x.gwlib", "has no behaviours"),
        ("one.gwlib -o x.gwlib", "fewer than 4 takes of its gait"),
        ("short.gwlib -o x.gwlib", "fewer than 12 frames"),
        ("bare.gwlib -o x.gwlib", "clips without contacts; find them"),
        ("rates.gwlib -o x.gwlib", "resample all to one rate"),
        ("two.gwlib -o x.gwlib", "two motions: 'wave', 'wave.1'; and 'cheer', 'cheer.1'; learn each alone"),
        ("odd.gwlib -o x.gwlib", "take 'cheer' is of another motion than the other 3"),
        ("variants.gwlib -o x.gwlib", "all its clips are variants"),
        ("still.gwlib -o x.gwlib", "all joints are constant"),
    ],
)
def test_wrong_input_is_one_line(
    broken: Path, arguments: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source, *rest = arguments.split()
    done = CliRunner().invoke(app, ["vary", str(broken / source) if "." in source else source, *rest])
    assert isinstance(done.exception, GaitwayError)
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", ["--count 0", "--count many", "--takes 0", "--seed -1"])
def test_numbers_out_of_range_are_refused(arguments: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["vary", "person", "-o", str(tmp_path / "x.gwlib"), *arguments.split()])
    assert done.exit_code == 2
    assert arguments.split(maxsplit=1)[0] in done.output
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_leaves_nothing(broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gaitway.variation.learning.model_cache.learn", stop)
    monkeypatch.setenv("GAITWAY_CACHE", str(tmp_path / "cache"))
    done = CliRunner().invoke(app, ["vary", str(broken / "good.gwlib"), "-o", str(tmp_path / "x.gwlib")])
    assert done.exit_code != 0
    assert list(tmp_path.rglob("*.*")) == []


@pytest.mark.slow
def test_the_same_seed_gives_the_same_variants(plain: Library, upper: Enriched) -> None:
    again = enrich(plain, EnrichOptions(count=3, rounds=1), ["jog_forward"])

    def clips(library: Library) -> list[Clip]:
        return [library.clips[name] for name in library.graph["jog_forward"].clips]

    for one, other in zip(clips(again.library), clips(upper.library), strict=True):
        assert np.array_equal(one.rotations, other.rotations)
