"""Checkpoints of tensors on a device whose memory the host cannot read: their device, and map_location."""


def test_map_location(guest):
    guest.run("""
        import io
        import lamella
        from lamella import serialization

        base = lamella.arange(6.0).to("bank:1")
        state = {"base": base, "view": base[2:], "here": lamella.ones(3), "p": lamella.nn.Parameter(base * 2)}

        def saved():
            file = io.BytesIO()
            lamella.save(state, file)
            return file.getvalue()

        data = saved()
        assert data == saved()

        def load(location=None, **options):
            return lamella.load(io.BytesIO(data), location, **options)

        def devices(got):
            return [str(got[name].device) for name in ("base", "view", "here", "p")]

        def check(got):
            got["base"][3] = -1  # a view goes on sharing
            assert got["view"].cpu().tolist() == [2, -1, 4, 5] and got["here"].cpu().tolist() == [1, 1, 1]
            assert type(got["p"]) is lamella.nn.Parameter and got["p"].requires_grad
            assert got["p"].detach().cpu().tolist() == [0, 2, 4, 6, 8, 10]

        got = load()
        assert devices(got) == ["bank:1", "bank:1", "cpu", "bank:1"]
        check(got)
        for location in ("cpu", lamella.device("cpu")):
            got = load(location)
            assert set(devices(got)) == {"cpu"}
            check(got)
        got = load("bank:0")
        assert set(devices(got)) == {"bank:0"}
        check(got)
        got = load({"bank:1": "bank:0", "cpu": "bank:1"})
        assert devices(got) == ["bank:0", "bank:0", "bank:1", "bank:0"]
        check(got)

        seen = []

        def place(storage, device):  # it gets storages in the host's memory
            seen.append((device, storage.device.type, storage.nbytes()))
            return None if device == "cpu" else storage

        got = load(place)
        assert devices(got) == ["cpu"] * 4 and sorted(seen) == [("bank:1", "cpu", 24)] * 2 + [("cpu", "cpu", 12)], seen
        check(got)
        some = load("cpu", tensors=["view"])
        assert some["view"].tolist() == [2, 3, 4, 5]
        assert set(devices(load("meta"))) == {"meta"}
        with fails(serialization.CheckpointError, "bank:7", "map_location='cpu'"):
            load("bank:7")
    """)


def test_files_and_shards(guest):
    guest.run("""
        import lamella
        from lamella import serialization

        state = {"w": lamella.arange(100_000.0).to("bank"), "b": lamella.ones(10).to("bank:1")}
        lamella.save(state, "bank.lamella", durable=False)
        for mmap in (False, True):
            got = lamella.load("bank.lamella", mmap=mmap)
            assert [str(t.device) for t in got.values()] == ["bank:0", "bank:1"]
            assert got["w"].cpu().tolist() == list(range(100_000))
        serialization.save_sharded(state, "banks", 1000)
        got = serialization.load_sharded("banks", "cpu")
        assert got["w"].tolist() == list(range(100_000)) and got["b"].tolist() == [1] * 10
    """)


def test_a_device_whose_plugin_is_gone(guest):
    guest.run("""
        import lamella
        lamella.save({"w": lamella.ones(2).to("bank"), "x": lamella.zeros(1)}, "gone.lamella")
    """)
    guest.run(
        """
        import lamella
        with fails(lamella.serialization.CheckpointError, "'bank:0'", "map_location='cpu'"):
            lamella.load("gone.lamella")
        assert lamella.load("gone.lamella", "cpu")["w"].tolist() == [1, 1]
        assert lamella.load("gone.lamella", tensors=["x"])["x"].tolist() == [0]
        """,
        LAMELLA_PLUGINS="cpu,autograd",
    )
