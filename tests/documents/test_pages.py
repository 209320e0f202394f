"""Every block of code in the README and on the pages of the site runs, and shows what it says."""

import re

import pytest

from tests.documents.pages import DOCS, PAGES, ROOT, assert_shows, run_page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_runs_from_top_to_bottom(page, place, server):
    """A reader who copies the blocks of a page, one after the other, sees what the page shows."""
    run_page(page, {"server": server})


def test_the_site_has_every_page():
    """No page is written that the site does not lead to, and it leads to none that is not there."""
    nav = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert set(re.findall(r'"([^"]+\.md)"', nav)) == pages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_documents_lead_somewhere(page):
    """A link from one document to another file of the clone finds it."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize(
    ("shown", "actual"),
    [
        ("a\nb", "a\nb\n"),
        ("session …", "session 20261118-1-ab\n"),
        ("a\n…\nz", "a\nb\nc\nz\n"),
        ("a\n…\nz", "a\nz\n"),
    ],
)
def test_what_a_page_shows_may_leave_things_open(shown, actual):
    """Three dots stand for what differs from run to run."""
    assert_shows(actual, shown)


@pytest.mark.parametrize(
    ("shown", "actual"), [("a", "b"), ("a…", "b"), ("a", "a\nb"), ("a.c", "abc")]
)
def test_what_a_page_shows_wrongly_is_found(shown, actual):
    """A page that shows something else fails."""
    with pytest.raises(AssertionError, match="the document shows"):
        assert_shows(actual, shown)
