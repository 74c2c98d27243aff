"""What counts as a request to another host, in pages of the built site; `.ci/run` checks the site itself."""

from __future__ import annotations

import pytest

from tools.check_site import check_site, main, requests_of_page

HOST = "https://elsewhere.example/x"


@pytest.mark.parametrize(
    "html",
    [
        f'<script src="{HOST}"></script>',
        f'<link rel="stylesheet" href="{HOST}">',
        f'<link rel="preconnect" href="{HOST}">',
        f'<img alt="" src="{HOST}">',
        f'<img srcset="a.png 1x, {HOST} 2x">',
        f'<iframe src="{HOST}"></iframe>',
        f'<object data="{HOST}"></object>',
        f"<style>@import '{HOST}';</style>",
        f'<p style="background: url({HOST})">',
        f"<script>import('{HOST}')</script>",
        f'<svg><image xlink:href="{HOST}"/></svg>',
    ],
)
def test_what_a_browser_loads_is_found(html):
    assert requests_of_page(html) == [HOST]
    assert requests_of_page(html.replace("https:", "")) == [HOST.removeprefix("https:")]


def test_what_it_does_not_load_is_not():
    for html in (
        f'<a href="{HOST}">a link</a>',
        f'<link rel="canonical" href="{HOST}">',
        '<script src="_static/doctools.js"></script><img src="data:image/png;base64,aGk=">',
        f"<p>{HOST} in a text, <code>fetch('{HOST}')</code></p>",
        f"<script>const home = '{HOST}'; // a name, not a request</script>",
        '<svg xmlns="http://www.w3.org/2000/svg"><use xlink:href="#a"/></svg>',
    ):
        assert requests_of_page(html) == [], html


def test_files_of_a_site_are_named(tmp_path, capsys):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.html").write_text(f'<script src="{HOST}"></script>')
    (tmp_path / "a.css").write_text("@font-face { src: url(//elsewhere.example/f.woff) }")
    assert check_site(tmp_path) == ["a.css: //elsewhere.example/f.woff", f"sub/a.html: {HOST}"]
    assert main(tmp_path) == 1
    (tmp_path / "a.css").unlink()
    (tmp_path / "sub" / "a.html").write_text('<a href="https://elsewhere.example">')
    assert main(tmp_path) == 0
    assert capsys.readouterr().out.endswith("1 pages load nothing from another host\n")
