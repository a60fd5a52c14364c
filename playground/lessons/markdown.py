"""Markdown to a tree that a page builds elements from. No markup passes: what is not in the tree cannot be on the page.

A tree is a list of nodes: a text, or `[tag, children]`, or `["a", children, address]`.
"""

from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from playground.lessons.lesson import Mistake

Tree = list[Any]

TAGS = {
    "paragraph": "p",
    "em": "em",
    "strong": "strong",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "blockquote": "blockquote",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
}
DEEPEST = 20
"""Marks within marks; more are no text for a person."""
SCHEMES = ("https://", "http://")


class _Reader(MarkdownIt):
    """Takes any link: `_add_inline` judges them, with a sentence."""

    def validateLink(self, url: str) -> bool:
        return True


_reader = _Reader("commonmark").enable("table")


def tree(text: str, line: int) -> Tree:
    """The tree of a text that begins at this line of its file. Raises `Mistake`."""
    root: Tree = []
    _add(root, _reader.parse(text), line)
    return root


def _add(root: Tree, tokens: list[Token], line: int) -> None:
    """Append nodes; `line` is that of the text's first line."""
    open_nodes = [root]
    at = line
    for token in tokens:
        at = line + token.map[0] if token.map else at
        name = token.type.removesuffix("_open").removesuffix("_close")
        if token.type in ("html_block", "html_inline"):
            shown = token.content.strip().splitlines()[0][:40]
            raise Mistake(
                at, f"{shown!r} is markup, which a lesson cannot have; write it in Markdown, or in backticks."
            )
        if token.type == "inline":
            _add_inline(open_nodes[-1], token.children or [], at)
        elif token.type in ("fence", "code_block"):
            if token.info.strip():
                raise Mistake(
                    at,
                    f"a block of the kind {token.info.strip()!r} is not known; there are recipe, recording and seen.",
                )
            open_nodes[-1].append(["pre", [token.content.rstrip("\n")]])
        elif name in TAGS and token.nesting:
            if token.nesting > 0:
                node: Tree = [TAGS[name], []]
                if not token.hidden:
                    open_nodes[-1].append(node)
                    open_nodes.append(node[1])
            elif not token.hidden:
                open_nodes.pop()
        else:
            raise Mistake(at, f"a lesson's text cannot have this ({token.type.replace('_', ' ')}).")


def _add_inline(root: Tree, tokens: list[Token], line: int) -> None:
    open_nodes = [root]
    for token in tokens:
        if len(open_nodes) > DEEPEST:
            raise Mistake(line, f"more than {DEEPEST} marks stand within each other here.")
        name = token.type.removesuffix("_open").removesuffix("_close")
        match token.type:
            case "text":
                open_nodes[-1].append(token.content)
            case "softbreak":
                open_nodes[-1].append(" ")
                line += 1
            case "hardbreak":
                open_nodes[-1].append(["br", []])
                line += 1
            case "code_inline":
                open_nodes[-1].append(["code", [token.content]])
            case "html_inline":
                shown = token.content[:40]
                raise Mistake(line, f"{shown!r} is markup, which a lesson cannot have; write it in backticks.")
            case "image":
                raise Mistake(line, "a lesson cannot have images; describe it, or have the page show it with a recipe.")
            case "link_open":
                address = str(token.attrs["href"])
                if not address.startswith(SCHEMES):
                    raise Mistake(line, f"a link leads to an address with https://, not to {address[:60]!r}.")
                children: Tree = []
                open_nodes[-1].append(["a", children, address])
                open_nodes.append(children)
            case "em_open" | "strong_open":
                node: Tree = [TAGS[name], []]
                open_nodes[-1].append(node)
                open_nodes.append(node[1])
            case "em_close" | "strong_close" | "link_close":
                open_nodes.pop()
            case _:
                raise Mistake(line, f"a lesson's text cannot have this ({token.type.replace('_', ' ')}).")
