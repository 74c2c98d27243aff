"""Check that the pages of a built site load nothing from another host: scripts, styles, pictures, fonts, frames.

Links that a reader may follow can lead anywhere.

Usage: python tools/check_site.py FOLDER
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

#: attributes that a browser loads without a click
LOADED = {"src", "srcset", "poster", "data", "background"}
#: <link> of these kinds is not loaded
NAMED = {"alternate", "author", "bookmark", "canonical", "help", "license", "next", "prev", "search"}
_ELSEWHERE = re.compile(r"(?:https?:)?//[\w.-]+", re.IGNORECASE)
_STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?\s*((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)
_SCRIPT = re.compile(r"(?:\bimport\b|\bfetch\b|importScripts|\.src\s*=)[\s({]*['\"]((?:https?:)?//[^'\"]+)")


class _Page(HTMLParser):
    """Collects the addresses on other hosts that a browser loads with the page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.text = ""  # element whose text is code

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        loaded = [value for name, value in values.items() if name in LOADED]
        if tag == "link" and not NAMED & set(values.get("rel", "").lower().split()):
            loaded.append(values.get("href", ""))
        if tag in ("image", "use"):  # of an SVG on the page
            loaded += [values.get("href", ""), values.get("xlink:href", "")]
        addresses = [address for value in loaded for address in re.split(r",\s+|\s+", value.strip())]
        self.found += [address for address in addresses if _ELSEWHERE.match(address)]
        self.found += _STYLE.findall(values.get("style", ""))
        self.text = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self.text = ""

    def handle_data(self, data: str) -> None:
        if self.text:
            self.found += (_SCRIPT if self.text == "script" else _STYLE).findall(data)


def requests_of_page(html: str) -> list[str]:
    """Return what a browser loads from other hosts with a page."""
    page = _Page()
    page.feed(html)
    return page.found


def check_site(folder: Path) -> list[str]:
    """Return every request to another host, a line each: the file and the address."""
    wrong = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".svg"):
            found = requests_of_page(path.read_text(encoding="utf-8"))
        elif path.suffix == ".css":
            found = _STYLE.findall(path.read_text(encoding="utf-8"))
        else:
            continue
        wrong += [f"{path.relative_to(folder)}: {address}" for address in found]
    return wrong


def main(folder: Path) -> int:
    """Print the requests to other hosts; return 1 if there are any."""
    pages = len(list(folder.rglob("*.html")))
    if not pages:
        print(f"{folder} must hold a site, found no page")
        return 1
    wrong = check_site(folder)
    print("\n".join(wrong) or f"{pages} pages load nothing from another host")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
