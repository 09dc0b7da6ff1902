"""The names of torch.hub. Lamella downloads nothing: each function raises an error."""

from __future__ import annotations

from lamella._torch.refusals import refuse

NAMES = "download_url_to_file get_dir help list load load_state_dict_from_url set_dir"
__all__: list[str] = []  # the refusals add their names

refuse("lamella.hub", NAMES, "Lamella downloads neither programs nor weights; fetch the files yourself and load them")
