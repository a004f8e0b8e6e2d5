"""Processes that run models ask for large pages."""

import os

import pytest

from taoxr import huge_pages

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, "glibc.malloc.hugetlb=1"),
        ({"GLIBC_TUNABLES": ""}, "glibc.malloc.hugetlb=1"),
        ({"GLIBC_TUNABLES": "glibc.malloc.check=1"}, "glibc.malloc.check=1:glibc.malloc.hugetlb=1"),
        ({"GLIBC_TUNABLES": "glibc.malloc.hugetlb=0"}, "glibc.malloc.hugetlb=0"),
    ],
)
def test_the_tunable_is_added_and_a_choice_stays(before: dict[str, str], after: str) -> None:
    assert huge_pages.environment({"PATH": "/bin"} | before) == {"PATH": "/bin", "GLIBC_TUNABLES": after}


def test_a_function_runs_with_it_and_this_process_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    assert huge_pages.run(os.getenv, "GLIBC_TUNABLES") == "glibc.malloc.hugetlb=1"
    assert "GLIBC_TUNABLES" not in os.environ
    with pytest.raises(ValueError, match="wrong"):
        huge_pages.run(int, "wrong")
    assert "GLIBC_TUNABLES" not in os.environ
