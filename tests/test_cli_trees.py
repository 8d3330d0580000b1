"""`gaitway tree` from end to end, and all that can be wrong with what it is given."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from gaitway.cli import _run
from gaitway.scene.characters import LibraryRef
from gaitway.tree.building.recipe import METHODS, TreeRecipe, open_tree
from gaitway.tree.storage import describe_tree, save_tree
from test_cli import gaitway

Call = Callable[..., tuple[int, str, str]]
SMALL = ("--nodes", "400", "--radius", "40")


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """Run a command in this process, in an empty folder: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["gaitway", *map(str, arguments)])
        capsys.readouterr()
        code = _run()
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture(scope="module")
def horse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tree of a small library."""
    path = tmp_path_factory.mktemp("trees") / "horse.gwtree"
    recipe = TreeRecipe(library=LibraryRef("horse"), nodes=300, radius=40.0)
    recipe.save(recipe.grow(), path)
    return path


@pytest.mark.slow
def test_built_and_shown(call: Call, tmp_path: Path) -> None:
    tree, picture = tmp_path / "person.gwtree", tmp_path / "person.png"
    told = json.loads(
        gaitway("tree", "build", "person", "-o", tree, "--nodes", 3000, "--kinds", "duck", "--speed", "slow",
                "--radius", 7, "--json").stdout
    )  # fmt: skip
    assert (told["nodes"], told["root"], told["bytes_a_node"], told["method"]) == (3000, "stand", 16.0, "diverse")
    assert told["ends_at_rest"] > 1000
    assert told["covered_percent"] > 90.0
    code, out, _ = call("tree", "show", tree, "-o", picture, "--width", 800)
    assert code == 0
    assert f"wrote {picture}" in out
    with Image.open(picture) as image:
        assert image.width == 800
    recipe = open_tree(tree)[1]
    assert (recipe.kinds, recipe.speed, recipe.nodes) == (("duck",), "slow", 3000)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method(call: Call, method: str) -> None:
    few = ("--levels", 3) if method not in ("diverse", "pruned") else ()
    code, out, err = call(
        "tree", "build", "horse", "-o", "a.gwtree", "--method", method, "--nodes", 200, *few, "--json"
    )
    assert code == 0, err
    assert 1 < json.loads(out)["nodes"] <= 200
    code, out, _ = call("tree", "show", "a.gwtree", "--json")
    assert code == 0
    assert json.loads(out)["method"] == method


def test_memory_and_half_discs(call: Call) -> None:
    code, out, _ = call(
        "tree", "build", "horse", "-o", "a.gwtree", "--megabytes", 0.016, "--region", "half-disc", "--json"
    )
    assert code == 0
    told = json.loads(out)
    assert (told["nodes"], told["megabytes"]) == (1000, 0.016)
    tree, _ = open_tree("a.gwtree")
    assert tree.points[:, 0].min() > -2.0 * tree.region.spec.cell


def test_the_same_call_writes_the_same_bytes(call: Call) -> None:
    for name in ("a.gwtree", "b.gwtree"):
        assert call("tree", "build", "horse", "-o", name, *SMALL, "--seed", 5)[0] == 0
    assert Path("a.gwtree").read_bytes() == Path("b.gwtree").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["dragon"], "no library 'dragon'"),
        (["horse", "--style", "wild"], "style 'wild'"),
        (["horse", "--root", "fly"], "no state 'fly'; there are stand, gallop"),
        (["horse", "--kinds", "jump,swim"], "no behaviour passes 'jump'"),
        (["skateboarder", "--kinds", "jump,swim"], "no behaviour passes 'swim'; there are kinds jump, duck"),
        (["horse", "--method", "magic"], "method 'magic' of a tree is not known; write diverse, pruned"),
        (["horse", "--region", "square"], "region 'square' of a tree is not known; write disc, half-disc"),
        (["horse", "--nodes", "0"], "budget of 0 nodes"),
        (["horse", "--nodes", "-7"], "budget of -7 nodes"),
        (["horse", "--nodes", "99000000"], "budget of 99000000 nodes"),
        (["horse", "--megabytes", "0"], "budget of 0.0 MB"),
        (["horse", "--megabytes", "nan"], "budget of nan MB"),
        (["horse", "--megabytes", "1", "--nodes", "9"], "write one of them"),
        (["horse", "--radius", "0"], "radius 0 m of a region; write a length above 0"),
        (["horse", "--radius", "1e308"], "radius 1e+308 m of a region; write a length above 0 and up to 100000"),
        (["horse", "--cell", "1e-320"], "cells from side to side; at most 5,000: write larger cells"),
        (["horse", "--radius", "9000", "--cell", "0.01"], "a region of 1.8e+06 cells"),
        (["horse", "--radius", "nan"], "radius nan"),
        (["horse", "--radius", "3"], "no room for a single move"),
        (["horse", "--radius", "3", "--method", "pruned"], "no room for a single move"),
        (["horse", "--radius", "3", "--method", "exhaustive"], "no room for a single move"),
        (["horse", "--radius", "50000", "--cell", "0.1"], "cells"),
        (["horse", "--cell", "0"], "cell 0 m of a region; write a length above 0"),
        (["horse", "--levels", "0"], "tree of 0 levels"),
        (["horse", "--levels", "999"], "tree of 999 levels"),
        (["horse", "--levels", "30", "--method", "exhaustive"], "ask for fewer levels"),
        (["horse", "--nodes", "10", "--method", "exhaustive"], "beyond 10; ask for fewer levels"),
        (["horse", "--stretch", "0.5"], "stretch 0.5 of a tree must be 1 or more"),
        (["horse", "--per-cell", "0", "--method", "pruned"], "0 nodes in a cell"),
        (["horse", "--speed", "quick"], "speed 'quick' of a tree is not known; write slow, normal, hurry, fast"),
        (["horse", "--speed", "-2"], "speed -2.0 m/s of a tree must be above 0"),
        (["horse", "--seed", "-1"], "--seed"),
        (["horse", "--nodes", "many"], "--nodes"),
        ([], "LIBRARY"),
    ],
)
def test_what_cannot_be_built(call: Call, arguments: list[str], problem: str) -> None:
    code, out, err = call("tree", "build", *arguments, "-o", "a.gwtree")
    assert code == 2
    assert problem in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("output", "problem"),
    [("a.txt", "must end in .gwtree"), ("missing/a.gwtree", "missing"), ("a.gwtree/", "it is a folder; name a file")],
)
def test_where_nothing_can_be_written(call: Call, output: str, problem: str) -> None:
    if output.endswith("/"):
        Path(output).mkdir()
    before = sorted(Path().rglob("*"))
    code, _, err = call("tree", "build", "horse", "-o", output, *SMALL)
    assert code == 2
    assert problem in err
    assert len(err.strip().splitlines()) == 1
    assert sorted(Path().rglob("*")) == before


def test_an_old_tree_stays_where_a_new_one_cannot_be_grown(call: Call) -> None:
    Path("a.gwtree").write_bytes(b"precious")
    assert call("tree", "build", "horse", "-o", "a.gwtree", "--radius", 3)[0] == 2
    assert Path("a.gwtree").read_bytes() == b"precious"


def damaged(horse: Path, change: Callable[[bytearray], object]) -> None:
    content = bytearray(horse.read_bytes())
    change(content)
    Path("bad.gwtree").write_bytes(content)


def refused(call: Call, problem: str, *arguments: str) -> None:
    code, out, err = call("tree", "show", *(arguments or ("bad.gwtree",)), "-o", "a.png")
    assert code == 2
    assert problem in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""
    assert not Path("a.png").exists()


def test_every_member_is_checked(call: Call, horse: Path) -> None:
    """A byte of each array of the file, of the header, and of the length."""
    content = horse.read_bytes()
    header = 32 + int.from_bytes(content[24:32], "little")
    first, nodes = header + -header % 64, describe_tree(horse)["nodes"]
    places = {"magic": 3, "header": 60}
    for name, size in (("links", 4), ("ends", 4), ("places", 4), ("headings", 2), ("prices", 2), ("cells", 1)):
        places[name] = first + 2
        first += nodes * size + -(nodes * size) % 64 if name != "cells" else 0
    assert first < len(content)
    for name, place in places.items():
        damaged(horse, lambda content, place=place: content.__setitem__(place, content[place] ^ 8))
        refused(call, "no tree of gaitway" if name == "magic" else "damaged tree")


def test_files_that_are_no_trees(call: Call, horse: Path) -> None:
    damaged(horse, lambda content: content.__delitem__(slice(500, None)))
    refused(call, "damaged tree")
    damaged(horse, lambda content: content.extend(bytes(64)))
    refused(call, "damaged tree")
    damaged(horse, lambda content: content.__setitem__(16, 7))
    refused(call, "tree of version 7, this gaitway reads 1")
    Path("bad.gwtree").write_bytes(b"")
    refused(call, "no tree")
    Path("bad.gwtree").write_text("not a tree at all, but long enough to look at")
    refused(call, "no tree of gaitway")
    refused(call, "cannot be read", "none.gwtree")


def test_trees_of_other_libraries(call: Call, horse: Path) -> None:
    refused(call, "tree of another library", str(horse), "--library", "skateboarder")
    refused(call, "no library 'cow'", str(horse), "--library", "cow")
    refused(call, "--style goes with --library", str(horse), "--style", "neutral")
    tree, recipe = open_tree(horse)
    save_tree(tree, "bad.gwtree")
    refused(call, "does not tell how the tree was grown")
    for wrong in ({"colour": "red"}, {"library": {"cast": "horse", "age": 7}}, {"method": "magic"}, {"speed": []}):
        facts = json.loads(json.dumps(describe_tree(horse)["recipe"])) | wrong
        save_tree(tree, "bad.gwtree", facts)
        refused(call, "does not tell how the tree was grown")
    assert recipe.library.cast == "horse"


def test_pictures_are_png(call: Call, horse: Path) -> None:
    shutil.copy(horse, "horse.gwtree")
    code, _, err = call("tree", "show", "horse.gwtree", "-o", "a.svg")
    assert code == 2
    assert "must end in .png" in err
    code, out, _ = call("tree", "show", "horse.gwtree", "-o", "a.png", "--json")
    assert code == 0
    assert json.loads(out)["nodes"] == 300


def test_a_file_is_all_that_is_needed(horse: Path) -> None:
    tree, recipe = open_tree(horse)
    again = recipe.grow()
    assert again.links.tobytes() == tree.links.tobytes()
