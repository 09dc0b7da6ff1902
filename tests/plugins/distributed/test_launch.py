"""``lamella launch``: the environment of its processes, and what becomes of failures."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import lamella
import lamella.multiprocessing as mp
import pytest

LAUNCH = [sys.executable, "-m", "lamella.distributed.launch"]
PROGRAM = """
import json, os, signal, sys, time
import lamella
import lamella.distributed as dist
from pathlib import Path

here = Path(__file__).parent
rank, attempt = int(os.environ["RANK"]), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
"""
NAMES = (
    "RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK ROLE_NAME TORCHELASTIC_RESTART_COUNT MASTER_ADDR".split()
)


def write(folder, body):
    path = folder / "program.py"
    path.write_text(PROGRAM + textwrap.dedent(body))
    return str(path)


def launch(*words, **settings):
    return subprocess.run([*LAUNCH, *map(str, words)], capture_output=True, text=True, timeout=100, **settings)


def started(*words):
    return subprocess.Popen([*LAUNCH, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(path, seconds=40):
    until = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < until, f"{path} did not come"
        time.sleep(0.02)
    return path


def has_ended(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


REPORTS = f"""
dist.init_process_group()
x = lamella.ones(2)
dist.all_reduce(x)
facts = {{n: os.environ[n] for n in {NAMES!r}}} | {{"sum": x.tolist(), "words": sys.argv[1:]}}
(here / f"{{rank}}.{{attempt}}.json").write_text(json.dumps(facts))
dist.destroy_process_group()
"""


def reports(folder, attempt=0):
    return [json.loads((folder / f"{p}").read_text()) for p in sorted(folder.glob(f"*.{attempt}.json"))]


def test_processes_of_one_machine(tmp_path):
    done = launch("--nproc-per-node=3", write(tmp_path, REPORTS), "one", "--two")
    assert done.returncode == 0, done.stderr
    found = reports(tmp_path)
    assert [int(f["RANK"]) for f in found] == [0, 1, 2]
    for rank, facts in enumerate(found):
        assert facts["LOCAL_RANK"] == str(rank) and facts["WORLD_SIZE"] == facts["LOCAL_WORLD_SIZE"] == "3"
        assert facts["sum"] == [3.0, 3.0] and facts["words"] == ["one", "--two"] and facts["ROLE_NAME"] == "default"


def test_agents_of_two_machines(tmp_path):
    program, port = write(tmp_path, REPORTS), free_port()
    agents = [
        started("--nnodes=2", "--nproc_per_node", 1 + i, "--rdzv-backend=c10d", f"--rdzv-endpoint=127.0.0.1:{port}",
                f"--node-rank={i}", "--rdzv-id=job", program)
        for i in range(2)
    ]  # fmt: skip
    for agent in agents:
        out, err = agent.communicate(timeout=100)
        assert agent.returncode == 0, err
    found = reports(tmp_path)
    assert [(f["RANK"], f["LOCAL_RANK"], f["GROUP_RANK"]) for f in found] == [
        ("0", "0", "0"),
        ("1", "0", "1"),
        ("2", "1", "1"),
    ]
    assert all(f["sum"] == [3.0, 3.0] for f in found)


def test_a_failure_on_another_machine_ends_the_job(tmp_path):
    program, port = write(tmp_path, "time.sleep(100 * (1 - rank)); sys.exit(7 * rank)"), free_port()
    agents = [
        started("--nnodes=2", f"--rdzv-endpoint=127.0.0.1:{port}", f"--node-rank={i}", "--rdzv-id=job", program)
        for i in range(2)
    ]
    for agent in agents:
        out, err = agent.communicate(timeout=60)
        assert agent.returncode == 1 and "rank 1 (local rank 0, process" in err and "exit status 7" in err, err


def test_fewer_machines_than_the_most(tmp_path):
    done = launch("--nnodes=1:2", f"--rdzv-endpoint=127.0.0.1:{free_port()}", "--rdzv-conf=last_call_timeout=0.5",
                  write(tmp_path, REPORTS))  # fmt: skip
    assert done.returncode == 0 and [f["WORLD_SIZE"] for f in reports(tmp_path)] == ["1"], done.stderr


def test_a_machine_that_does_not_come(tmp_path):
    done = launch("--nnodes=2", f"--rdzv-endpoint=127.0.0.1:{free_port()}", "--rdzv-conf=join_timeout=1",
                  write(tmp_path, REPORTS))  # fmt: skip
    assert done.returncode == 1 and "1 machines have come after 1 s, and 2 are needed" in done.stderr


def test_a_killed_rank_and_a_restart(tmp_path):
    program = write(
        tmp_path,
        """
        dist.init_process_group()
        dist.barrier()
        if rank == 1 and attempt == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        dist.barrier()
        """
        + textwrap.indent(REPORTS.replace("dist.init_process_group()\n", ""), "        "),
    )
    done = launch("--nproc=2", "--max-restarts=2", program)
    assert done.returncode == 0, done.stderr
    assert "with signal SIGKILL" in done.stderr or "exit status 1" in done.stderr
    assert "starts anew, with 2 restarts left" in done.stderr
    assert [f["sum"] for f in reports(tmp_path, 1)] == [[2.0, 2.0]] * 2 and reports(tmp_path, 0) == []


def test_a_failure_ends_the_other_processes(tmp_path):
    program = write(tmp_path, "(here / f'{rank}.pid').write_text(str(os.getpid()))\n"
                    "while len(list(here.glob('*.pid'))) < 3: time.sleep(0.02)\n"
                    "sys.exit(5) if rank == 1 else time.sleep(100)")  # fmt: skip
    begin = time.monotonic()
    done = launch("--nproc=3", program)
    assert done.returncode == 1 and time.monotonic() - begin < 50
    assert "rank 1 (local rank 1, process" in done.stderr and "has ended with exit status 5" in done.stderr
    assert all(has_ended(int(p.read_text())) for p in tmp_path.glob("*.pid"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda n: n.name)
def test_a_launcher_that_is_ended(number, tmp_path):
    program = write(
        tmp_path,
        """
        part = here / f"{rank}.part"
        part.write_text(str(os.getpid()))
        part.rename(here / f"{rank}.pid")
        time.sleep(100)
        """,
    )
    launcher = started("--nproc=2", program)
    pids = [int(wait_for(tmp_path / f"{rank}.pid").read_text()) for rank in range(2)]
    launcher.send_signal(number)
    out, err = launcher.communicate(timeout=60)
    assert launcher.returncode == (-number if number == signal.SIGKILL else 128 + number), err
    until = time.monotonic() + 30
    while not all(map(has_ended, pids)):
        assert time.monotonic() < until, "a process has outlived its launcher"
        time.sleep(0.02)


def test_output(tmp_path):
    program = write(tmp_path, "print(f'out {rank}', flush=True); print(f'err {rank}', file=sys.stderr, flush=True)")
    done = launch("--nproc=2", "--role=worker", "--tee=0:3,1:1", "--redirects=1:2", f"--log-dir={tmp_path}",
                  "--rdzv-id=run", program)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["[worker0]:out 0", "[worker1]:out 1"]
    assert done.stderr.splitlines() == ["[worker0]:err 0"]
    logs = tmp_path / "run" / "attempt_0"
    files = {p.relative_to(logs).as_posix(): p.read_text() for p in logs.glob("*/*.log")}
    assert files == {f"{r}/{n}.log": f"{n[3:]} {r}\n" for r in (0, 1) for n in ("stdout", "stderr")}
    done = launch("--nproc=2", "--local-ranks-filter=1", program)
    assert done.stdout == "out 1\n" and done.stderr == "err 1\n"


def test_modules_and_programs_of_other_languages(tmp_path):
    write(tmp_path, "print('module', rank)")
    done = launch("-m", "program", cwd=tmp_path)
    assert done.stdout == "module 0\n", done.stderr
    done = launch("--no-python", "sh", "-c", "echo $RANK of $WORLD_SIZE")
    assert done.stdout == "0 of 1\n", done.stderr
    done = launch("--no-python", tmp_path / "absent")
    assert done.returncode == 1 and "absent: No such file" in done.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (["--nproc=0"], "--nproc-per-node: expected a positive number"),
        (["--nnodes=2:1"], "--nnodes: expected 1 <= MIN <= MAX"),
        (["--nnodes=2"], "several machines need --rdzv-endpoint"),
        (["--nnodes=2", "--master-addr=h", "--node-rank=2"], "--node-rank: expected a number from 0 to 1"),
        (["--tee=4"], "--tee: expected 0, 1"),
        (["--redirects=1"], "--redirects: say where by --log-dir"),
        (["--rdzv-backend=etcd"], "--rdzv-backend: expected static or c10d"),
        (["--rdzv-conf=join_timeout=x"], "--rdzv-conf: expected seconds"),
        (["--mpiexec=absent-program"], "--mpiexec: there is no program 'absent-program'"),
    ],
)
def test_flags_that_are_wrong(words, message):
    done = launch(*words, "program.py")
    assert done.returncode == 2 and message in done.stderr, done.stderr


def test_a_port_that_is_taken(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = launch("--nproc=1", f"--master-port={taken.getsockname()[1]}", write(tmp_path, REPORTS))
    assert done.returncode == 1 and "Address already in use" in done.stderr, done.stderr


def test_by_mpiexec(tmp_path):
    mpiexec = Path(sys.executable).with_name("mpiexec")
    done = launch("--nproc=2", f"--mpiexec={mpiexec}", write(tmp_path, REPORTS))
    assert done.returncode == 0, done.stderr
    assert [(f["RANK"], f["LOCAL_RANK"], f["sum"]) for f in reports(tmp_path)] == [
        ("0", "0", [2.0, 2.0]),
        ("1", "1", [2.0, 2.0]),
    ]


def test_a_program_for_torch(tmp_path):
    (tmp_path / "train.py").write_text(
        textwrap.dedent("""
        import os
        import torch
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel as DDP
        from torch.utils.data import DataLoader, TensorDataset
        from torch.utils.data.distributed import DistributedSampler

        dist.init_process_group(backend="gloo")
        rank = int(os.environ["LOCAL_RANK"])
        torch.manual_seed(0)
        model = DDP(torch.nn.Linear(2, 1))
        data = TensorDataset(torch.arange(16.0).view(8, 2), torch.ones(8, 1))
        sampler = DistributedSampler(data)
        loader = DataLoader(data, batch_size=2, sampler=sampler)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
        for epoch in range(2):
            sampler.set_epoch(epoch)
            for x, y in loader:
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(model(x), y).backward()
                optimizer.step()
        weights = [torch.zeros(1, 2) for _ in range(dist.get_world_size())]
        dist.all_gather(weights, model.module.weight.detach())
        assert torch.equal(*weights)
        if rank == 0:
            print("trained", dist.get_world_size())
        dist.destroy_process_group()
        """)
    )
    done = subprocess.run(
        [sys.executable, "-m", "lamella", "run", "--nproc", "2", "train.py"],
        capture_output=True, text=True, cwd=tmp_path, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0 and "trained 2" in done.stdout, done.stderr


def test_the_digits_in_two_processes():
    examples = Path(__file__).parents[3] / "examples"
    done = launch("--nproc=2", "--max-restarts=1", examples / "train_digits_ranks.py", "--kill-at=50")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "with signal SIGKILL" in done.stderr and "resumed after step 44\n440 steps of 2 ranks" in done.stdout


def spawned(index, path, size):
    dist = lamella.distributed
    dist.init_process_group("mpi", init_method=f"file://{path}", rank=index, world_size=size)
    x = lamella.full((2,), index + 1.0)
    dist.all_reduce(x)
    assert x.tolist() == [3.0, 3.0]
    dist.destroy_process_group()


def test_processes_of_mp_spawn(tmp_path):
    mp.spawn(spawned, (str(tmp_path / "store"), 2), nprocs=2)


def test_numbers_of_slurm():
    from lamella.distributed.launch.start import environment

    given = {"SLURM_PROCID": "3", "SLURM_NTASKS": "4", "SLURM_LOCALID": "1", "HOME": os.environ.get("HOME", "")}
    made = environment(given)
    assert {k: made[k] for k in ("RANK", "WORLD_SIZE", "LOCAL_RANK")} == {
        "RANK": "3",
        "WORLD_SIZE": "4",
        "LOCAL_RANK": "1",
    }
