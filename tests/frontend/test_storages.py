"""Untyped storages as rows of bytes, and map_location functions that use them."""

import io

import lamella
import pytest


def test_bytes():
    t = lamella.tensor([1, 258], dtype=lamella.int16)
    s = t.untyped_storage()
    assert s.tolist() == [1, 0, 2, 1] == list(s) and s[2] == 2 and s[1:3].tolist() == [0, 2] and len(s) == s.size() == 4
    s[0] = 7
    assert t[0].item() == 7 and s.element_size() == 1 and s.untyped() is s
    c = s.clone()
    s.fill_(0)
    assert t.tolist() == [0, 0] and c[0] == 7
    assert s.copy_(c) is s and t.tolist() == [7, 258]
    with pytest.raises(RuntimeError, match="argument 'source' has 1 bytes, the storage 4"):
        s.copy_(c[:1])
    assert s.cpu() is s and s.to(device="cpu") is s
    assert s.copy_(t.storage()) is s


def test_typed_ones_move():
    s = lamella.ones(2).storage()
    assert s.to(device="cpu").tolist() == [1, 1] and s.to(device="meta").device.type == "meta"


@pytest.mark.parametrize("form", ["lamella", "torch"])
def test_map_location_with_storages(form):
    file = io.BytesIO()
    lamella.save([lamella.ones(2)], file, format=form)
    for f in (lambda s, device: s.cpu(), lambda s, device: s.clone(), lambda s, device: s.to(device=device)):
        file.seek(0)
        assert lamella.load(file, map_location=f)[0].tolist() == [1, 1]


def test_a_file_is_mapped(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(10)))
    own = lamella.UntypedStorage.from_file(str(path), nbytes=4)
    assert own.tolist() == [0, 1, 2, 3] and len(lamella.UntypedStorage.from_file(path)) == 10
    own.fill_(7)
    assert path.read_bytes() == bytes(range(10))
    shared = lamella.UntypedStorage.from_file(path, True, 12)
    shared[0] = 9
    assert path.read_bytes() == bytes([9, *range(1, 10), 0, 0])
    (tmp_path / "empty").touch()
    assert len(lamella.UntypedStorage.from_file(tmp_path / "empty")) == 0
    made = lamella.UntypedStorage.from_file(tmp_path / "new", shared=True, nbytes=3)
    assert made.tolist() == [0, 0, 0] and (tmp_path / "new").stat().st_size == 3
    with pytest.raises(ValueError, match=r"'nbytes' is 13, and '.*bytes' has 12 bytes"):
        lamella.UntypedStorage.from_file(path, nbytes=13)
    with pytest.raises(ValueError, match="at least 0, got -1"):
        lamella.UntypedStorage.from_file(path, nbytes=-1)
    with pytest.raises(FileNotFoundError):
        lamella.UntypedStorage.from_file(tmp_path / "gone", nbytes=1)
