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
