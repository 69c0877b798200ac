"""Elements of a page, escaped where they are made: text from a spec can never become markup."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence

_VOID = {"meta", "br", "link"}


class Html(str):
    """Text that is markup already; any other string is escaped when it enters an element."""

    __slots__ = ()


Child = str | None


def escaped(text: str) -> Html:
    """The text as it should be read, or itself where it is markup already."""
    return text if isinstance(text, Html) else Html(html.escape(text))


def element(name: str, *children: Child, **attributes: str | None) -> Html:
    """One element; attributes are spelled `class_` or `aria_label`, and None leaves them out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{together(children)}</{name}>")


def together(children: Iterable[Child]) -> Html:
    """Several elements in a row."""
    return Html("".join(escaped(child) for child in children if child is not None))


def script_json(value: object, id_: str) -> Html:
    """Data for the page's script, which no text in it can close or open."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    opening = f'<script type="application/json" id="{html.escape(id_)}">'
    return Html(f"{opening}{text}</script>")


def section(id_: str, heading: str, *children: Child) -> Html:
    """A part of the page with its heading, which names it to a screen reader."""
    title = element("h2", heading, id=f"{id_}-heading")
    return element("section", title, *children, id=id_, aria_labelledby=f"{id_}-heading")


def bullets(items: Sequence[str], class_: str | None = None) -> Html | None:
    """A list, or nothing where there is nothing to list."""
    if not items:
        return None
    return element("ul", *(element("li", item) for item in items), class_=class_)


def notice(kind: str, heading: str, items: Sequence[str]) -> Html | None:
    """A box that says what a reader must not miss."""
    if not items:
        return None
    return element("div", element("h3", heading), bullets(items), class_=f"notice {kind}")


def table(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: Iterable[int] = (0,),
    sentences: Iterable[int] = (),
) -> Html:
    """A table that scrolls on its own where the page is narrow.

    Columns of numbers align right; `words` align left, and `sentences` are wide as well.
    """
    kinds = {**dict.fromkeys(words, "words"), **dict.fromkeys(sentences, "sentence")}
    kinds |= {at: "workload" for at, name in enumerate(columns) if name == "Workload"}

    def cell(kind: str, at: int, text: str, **more: str) -> Html:
        return element(kind, text, class_=kinds.get(at, "number"), **more)

    head = element("tr", *(cell("th", at, c, scope="col") for at, c in enumerate(columns)))
    body = (
        element(
            "tr",
            *(
                cell("th", at, text, scope="row") if at == 0 else cell("td", at, text)
                for at, text in enumerate(row)
            ),
        )
        for row in rows
    )
    whole = element(
        "table", element("caption", caption), element("thead", head), element("tbody", *body)
    )
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label=caption)
