"""The cache of built extensions: crashes, many users at once, full and read-only disks, and broken files."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from building import LOAD, Bench, end_group, library_operator, mounted, mounts, operator, wait_for
from lamella.extensions import include_paths

needs_mounts = pytest.mark.skipif(not mounts(), reason="unshare(1) may not mount for this user: run as root")


def test_what_one_process_built_is_loaded_by_the_next(bench):
    compiler, count = bench.counting()
    for _ in range(3):
        assert bench.run(LOAD, operator(1), CXX=compiler).strip() == "[2, 4]"
    assert count() == 1
    assert bench.run(LOAD, operator(2), CXX=compiler).strip() == "[3, 6]"
    assert count() == 2
    assert bench.run(LOAD, operator(1), CXX=compiler).strip() == "[2, 4]"
    assert count() == 2 and bench.is_tidy()


def test_eight_processes_run_the_compiler_once(bench):
    compiler, count = bench.counting()
    processes = [bench.start(LOAD, operator(1), CXX=compiler) for _ in range(8)]
    results = [(p.communicate(timeout=100), p.returncode) for p in processes]
    assert [(out.strip(), status) for (out, _), status in results] == [("[2, 4]", 0)] * 8, results
    assert count() == 1 and bench.is_tidy()


def test_eight_threads_run_the_compiler_once(bench):
    compiler, count = bench.counting()
    program = """
    import sys, threading, lamella
    from lamella.utils.cpp_extension import load_inline
    got = []
    load = lambda: got.append(load_inline("built", sys.argv[1], no_implicit_headers=True))
    threads = [threading.Thread(target=load) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print(len(got), len(set(map(id, got))), got[0].scaled(lamella.tensor([1])).tolist())
    """
    assert bench.run(program, operator(1), CXX=compiler).strip() == "8 1 [2]"
    assert count() == 1


@pytest.mark.parametrize("ninja", ["ninja", "threads"])
def test_a_killed_build_leaves_no_lock(bench, ninja):
    """The building process is killed while its compiler runs; the compiler goes on."""
    started = bench.folder / "started"
    slow = bench.compiler("slow", f"[ -e {started} ] || {{ touch {started}; exec sleep 20; }}")
    env = {"CXX": slow} | ({} if ninja == "ninja" else {"PATH": path_without(bench, "ninja")})
    victim = bench.start(LOAD, operator(1), **env)
    try:
        wait_for(started.exists, "the compiler")
        victim.kill()
        assert victim.wait(10) == -9
        assert len(bench.files("builds/*.lock")) == 1 and len(bench.files("locks/*")) == 1
        assert bench.run(LOAD, operator(1), timeout=15, **env).strip() == "[2, 4]"
        assert bench.is_tidy()
    finally:
        end_group(victim)


def path_without(bench, *names):
    """Makes a folder for PATH with links to all programs of the present one, except some."""
    folder = bench.folder / "bin"
    folder.mkdir(exist_ok=True)
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in os.scandir(place) if os.path.isdir(place) else ():
            link = folder / program.name
            if program.name not in names and os.access(program.path, os.X_OK):
                link.unlink(missing_ok=True)
                link.symlink_to(program.path)
    return str(folder)


def test_who_waits_for_a_build_that_dies_builds_it(bench):
    started = bench.folder / "started"
    slow = bench.compiler("slow", f"[ -e {started} ] || {{ touch {started}; exec sleep 20; }}")
    victim = bench.start(LOAD, operator(1), CXX=slow)
    try:
        wait_for(started.exists, "the compiler")
        waiting = [bench.start(LOAD, operator(1), CXX=slow) for _ in range(2)]
        with pytest.raises(subprocess.TimeoutExpired):
            waiting[0].wait(1)
        victim.kill()
        assert [p.communicate(timeout=30)[0].strip() for p in waiting] == ["[2, 4]"] * 2
        assert bench.is_tidy()
    finally:
        end_group(victim)


def test_a_lock_file_without_a_holder_stops_nobody(bench):
    bench.run(LOAD, operator(1))
    names = {p.name for p in bench.files("libraries/*")}
    for name in [*names, "anything"]:
        (bench.cache / "locks" / name).touch()
    (bench.cache / "builds" / "lamella-dead").mkdir()
    (bench.cache / "builds" / "lamella-dead.lock").touch()
    assert bench.run(LOAD, operator(2)).strip() == "[3, 6]"
    assert not bench.files("builds/*")


def spoil(file, how):
    if how == "cut":
        file.write_bytes(file.read_bytes()[:-100])
    elif how == "one bit":
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    elif how == "empty":
        file.write_bytes(b"")
    else:
        file.unlink()


@pytest.mark.parametrize("how", ["cut", "one bit", "empty", "removed"])
def test_a_library_that_is_not_what_was_built_is_built_again(bench, how):
    compiler, count = bench.counting()
    bench.run(LOAD, operator(1), CXX=compiler)
    [library] = bench.files("libraries/*/built.so")
    sound = library.read_bytes()
    spoil(library, how)
    assert bench.run(LOAD, operator(1), CXX=compiler).strip() == "[2, 4]"
    assert library.read_bytes() == sound and count() == 1  # the library is linked again from the kept object
    spoil(library, how)
    [kept] = bench.files("objects/*.o")
    spoil(kept, how)
    assert bench.run(LOAD, operator(1), CXX=compiler).strip() == "[2, 4]"
    assert library.read_bytes() == sound and count() == 2


@pytest.mark.sweep
@pytest.mark.parametrize("file", ["manifests/*", "libraries/*/entry.json", "precompiled/*/entry.json"])
@pytest.mark.parametrize("text", ["", "{", "[1]", '{"file": 3}', '[{"headers": 1, "object": 2}]'])
def test_a_broken_record_is_no_record(cached, file, text):
    for record in cached.files(file):
        record.write_text(text)
    assert cached.run(LOAD, library_operator(1)).strip() == "[2, 4]"


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    """Returns a bench whose cache has one extension and a precompiled header."""
    bench = Bench(tmp_path_factory.mktemp("cached"))
    bench.env["MAX_JOBS"] = "2"
    bench.run(LOAD, library_operator(1))
    wait_for(lambda: bench.files("precompiled/*/entry.json") and bench.is_tidy(), "the precompiled header")
    return bench


def test_a_broken_precompiled_header_is_dropped(cached):
    [made] = cached.files("precompiled/*/lamella/library.h.gch")
    content = bytearray(made.read_bytes())
    content[len(content) // 4 :] = bytes(len(content) - len(content) // 4)
    made.write_bytes(content)
    assert cached.run(LOAD, library_operator(5)).strip() == "[6, 12]"


@pytest.mark.parametrize("header", ["extension.h", "library.h"])
@pytest.mark.long
def test_the_precompiled_header_is_used(header, bench):
    """With -H the compiler prints the headers that it opens, and marks a precompiled one."""
    program = LOAD.replace("True)", f"{header == 'library.h'}, verbose=True, extra_cflags='-H')")
    bench.env["MAX_JOBS"] = "2"
    taken = []
    for n in (1, 2):
        output, errors = bench.start(program, library_operator(n)).communicate(timeout=60)
        assert output.splitlines()[-1] == f"[{1 + n}, {2 + 2 * n}]"
        taken.append([line[2:] for line in errors.splitlines() if line.startswith("! ")])
        wait_for(lambda: bench.files("precompiled/*/entry.json") and bench.is_tidy(), "the precompiled header")
    assert taken == [[], [str(made) for made in bench.files(f"precompiled/*/lamella/{header}.gch")]] and taken[1]


@pytest.mark.long
def test_the_precompiled_header_of_modules_is_used(module_bench):
    """The test runs the printed command again with -H, to see which headers the compiler opens."""
    program = """
    from lamella.utils.cpp_extension import load_inline
    print(load_inline("counted", "int one() { return 1; }", functions="one", verbose=True).one())
    """
    output, errors = module_bench.start(program).communicate(timeout=60)
    [command] = [shlex.split(line) for line in (output + errors).splitlines() if " -c " in line]
    del command[command.index("-MD") : command.index("-c")]
    command[command.index("-o") :] = ["-fsyntax-only", "-H"]
    errors = subprocess.run(command, capture_output=True, text=True, cwd=module_bench.folder).stderr
    assert output.splitlines()[-1] == "1"
    assert any(line.startswith("! ") and "/lamella/pybind.h.gch" in line for line in errors.splitlines())


def test_an_error_in_a_header_that_is_precompiled(bench):
    """If the source compiles without the precompiled header, that header is dropped; else the error is the source's."""
    fails = bench.folder / "fails"  # the commands that fail, as a shell pattern
    said = f"{include_paths()[0]}/lamella/library.h:5:1: error: nonsense"
    env = {"MAX_JOBS": "2"}
    env["CXX"] = bench.compiler("odd", f'case " $* " in $(cat {fails})) echo "{said}" >&2; exit 1;; esac')
    fails.write_text("none")
    bench.run(LOAD, library_operator(1), **env)
    wait_for(lambda: bench.files("precompiled/*/entry.json") and bench.is_tidy(), "the precompiled header")
    fails.write_text("*")
    text = bench.start(LOAD, library_operator(2), **env).communicate(timeout=60)[1]
    assert "library.h:5:1: error: nonsense" in text and text.count("Traceback") == 1
    assert bench.files("precompiled/*/entry.json")
    fails.write_text("*/precompiled/*")
    assert bench.run(LOAD, library_operator(2), **env | {"MAX_JOBS": "1"}).strip() == "[3, 6]"
    assert not bench.files("precompiled/*/entry.json")


def test_a_cache_that_vanishes_is_made_anew(bench):
    program = """
    import os, shutil, sys, lamella
    from lamella.utils.cpp_extension import load_inline
    print(load_inline("built", sys.argv[1], no_implicit_headers=True).scaled(lamella.tensor([1, 2])).tolist())
    shutil.rmtree(os.environ["LAMELLA_EXTENSIONS_DIR"])
    print(lamella.ops.built.scaled(lamella.tensor([1, 2])).tolist())
    other = sys.argv[1].replace("built", "other")
    print(load_inline("other", other, no_implicit_headers=True).scaled(lamella.tensor([3])).tolist())
    """
    assert bench.run(program, operator(1)).split("\n") == ["[2, 4]", "[2, 4]", "[6]", ""]


@needs_mounts
def test_a_read_only_cache_serves_what_it_has(bench):
    bench.run(LOAD, operator(1))
    prefix = mounted(bench.cache, "read-only")
    process = bench.start(LOAD, operator(1), prefix=prefix)
    assert process.communicate(timeout=60)[0].strip() == "[2, 4]"
    text = bench.fails(LOAD, operator(2), prefix=prefix)
    assert f"CacheError: the cache of extensions {bench.cache} cannot be written: it is read-only" in text
    assert "LAMELLA_EXTENSIONS_DIR" in text


LARGE = "namespace lamella { int table[90000] = {1}; int* use() { return table; } }"


@needs_mounts
@pytest.mark.parametrize("where", ["the source", "the object"])
def test_a_full_disk_is_named(bench, where):
    bench.cache.mkdir(mode=0o700)
    program = LOAD if where == "the object" else LOAD.replace("sys.argv[1]", "sys.argv[1] + '//' + 'x' * 300000")
    text = bench.fails(program, operator(1) + LARGE, prefix=mounted(bench.cache, "small"))
    assert "CacheError" in text and "the disk is full" in text and "LAMELLA_EXTENSIONS_DIR" in text


def test_a_limit_of_file_sizes_is_named(bench):
    limited = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (90000, 90000))\n" + LOAD
    text = bench.fails(limited, operator(1) + LARGE)
    assert "CacheError" in text and "larger than this process may write" in text
    assert bench.run(LOAD, operator(1)).strip() == "[2, 4]" and bench.is_tidy()


def test_the_cache_is_private(bench):
    bench.run(LOAD, operator(1))
    assert bench.cache.stat().st_mode & 0o777 == 0o700
    bench.cache.chmod(0o770)
    text = bench.fails(LOAD, operator(1))
    assert "CacheError: other users can write to the cache" in text and f"chmod 700 {bench.cache}" in text


@pytest.mark.skipif(os.geteuid() != 0, reason="chown(1) is for root: run as root")
def test_the_cache_of_another_user_is_refused(bench):
    bench.run(LOAD, operator(1))
    os.chown(bench.cache, 65534, 65534)
    text = bench.fails(LOAD, operator(1))
    assert "CacheError" in text and "belongs to user 65534, not to 0: code from there will not be loaded" in text


def test_the_cache_is_bounded_and_can_be_emptied(bench):
    from lamella.extensions import Cache

    for factor in (1, 2, 3):
        bench.run(LOAD, operator(factor))
    sizes = [size for _, size, _ in Cache(bench.cache).entries()]
    Cache(bench.cache).prune(sum(sizes) - 1)
    assert sizes == [size for _, size, _ in Cache(bench.cache).entries()]  # a build may use new entries, so they stay
    for _, _, path in Cache(bench.cache).entries():
        for file in (path, *path.rglob("*")):
            os.utime(file, (1, 1))
    Cache(bench.cache).prune(sum(sizes) - 1)
    left = [size for _, size, _ in Cache(bench.cache).entries()]
    assert 0 < sum(left) < sum(sizes)
    assert bench.run(LOAD, operator(3), LAMELLA_EXTENSIONS_MAX_MB="0").strip() == "[4, 8]"
    assert "built.so" in bench.run("from lamella.cli import main; main(['extensions'])")
    emptied = bench.run("from lamella.cli import main; main(['extensions', 'clear'])")
    assert emptied.strip() == f"{bench.cache}: 0.0 MB"


def contents(folder):
    """Returns the files in a folder with their sizes and times, without Python's compiled modules."""
    files = [f for f in folder.rglob("*") if "__pycache__" not in f.parts]
    return {str(f): (f.lstat().st_size, f.lstat().st_mtime_ns) for f in files if not f.is_dir()}


@pytest.mark.long
def test_nothing_is_written_elsewhere(bench, tmp_path):
    """The process has its own home, temporary folder and working folder, which all stay empty. Precompiling the headers
    does not change their package either."""
    package = Path(include_paths()[0]).parent
    before = contents(package)
    assert any(name.endswith("/include/lamella/library.h") for name in before)
    places = [tmp_path / name for name in ("home", "tmp", "here")]
    for place in places:
        place.mkdir()
    program = f"import os\nos.chdir({str(places[2])!r})\n{LOAD}"
    env = {"HOME": str(places[0]), "TMPDIR": str(places[1]), "MAX_JOBS": "2"}
    assert bench.run(program, library_operator(1), **env).strip() == "[2, 4]"
    wait_for(lambda: bench.files("precompiled/*/entry.json") and bench.is_tidy(), "the precompiled header")
    assert [list(place.rglob("*")) for place in places] == [[], [], []]
    assert contents(package) == before
    env = env | {"LAMELLA_EXTENSIONS_DIR": ""}
    assert bench.run(program, library_operator(1), **env).strip() == "[2, 4]"
    assert [p.name for p in places[0].iterdir()] == [".cache"] and not list(places[1].iterdir())
    assert (places[0] / ".cache/lamella/extensions/libraries").is_dir()
