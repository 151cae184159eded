"""Reads title, description and h1-h3 off HTML files with html5lib: the second opinion on what the node stores.

Takes file paths on standard input, one a line, and prints one JSON object a line, in the same order. Shares no code with the node and
no library either: where both agree, the page says so. Reads whole files into memory; meant for documentation, not for hostile pages.
"""

import json
import sys

import html5lib

HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"

# What a heading's text leaves out.
SKIPPED = {HTML + name for name in (
    "script", "style", "template", "noscript", "head", "title", "textarea", "iframe", "object", "select")}
SKIPPED |= {SVG + name for name in ("title", "desc", "metadata", "style", "script")}

# What stands apart from the text beside it: one space before and after.
APART = {HTML + name for name in (
    "address", "article", "aside", "blockquote", "br", "caption", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "legend",
    "li", "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre", "search", "section", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul")}

SPACES = "\t\n\f\r "


def collapse(text):
    """Runs of the five HTML spaces become one; a text of nothing but Unicode white space is none."""
    words = []
    word = []
    for char in text:
        if char in SPACES:
            if word:
                words.append("".join(word))
                word = []
        else:
            word.append(char)
    if word:
        words.append("".join(word))
    collapsed = " ".join(words)
    return collapsed if collapsed.strip() else None


def is_element(node):
    """Comments and processing instructions have a function for a tag."""
    return isinstance(node.tag, str)


def text_below(node, pieces):
    """All text below a node in document order, without what is skipped."""
    if is_element(node) and node.tag not in SKIPPED:
        apart = node.tag in APART
        if apart:
            pieces.append(" ")
        pieces.append(node.text or "")
        for child in node:
            text_below(child, pieces)
            pieces.append(child.tail or "")
        if apart:
            pieces.append(" ")


def heading_text(node):
    pieces = []
    text_below(node, pieces)
    text = collapse("".join(pieces))
    if text is None:
        images = (image.get("alt", "") for image in node.iter(HTML + "img"))
        text = collapse(" ".join(images))
    return text


def elements(root):
    """Elements in document order, those inside a template left out."""
    stack = [root]
    while stack:
        node = stack.pop()
        if not is_element(node) or node.tag == HTML + "template":
            continue
        yield node
        stack.extend(reversed(list(node)))


def child_text(node):
    return (node.text or "") + "".join(child.tail or "" for child in node)


def read(data):
    """What one page says."""
    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("etree"), namespaceHTMLElements=True)
    root = parser.parse(data, scripting=True, default_encoding="utf-8", useChardet=False)
    title = None
    descriptions = {}
    headings = []
    for node in elements(root):
        if node.tag == HTML + "title" and title is None:
            title = collapse(child_text(node))
        elif node.tag == HTML + "meta":
            content = collapse(node.get("content", ""))
            for name in {node.get("name", ""), node.get("property", "")}:
                if content is not None:
                    descriptions.setdefault(name.strip(SPACES).lower(), content)
        elif node.tag in (HTML + "h1", HTML + "h2", HTML + "h3"):
            text = heading_text(node)
            if text is not None:
                headings.append({"level": int(node.tag[-1]), "text": text})
    order = ("description", "og:description", "twitter:description")
    description = next((descriptions[name] for name in order if name in descriptions), None)
    return {"title": title, "description": description, "headings": headings}


def main():
    sys.setrecursionlimit(10_000)
    for line in sys.stdin:
        path = line.rstrip("\n")
        with open(path, "rb") as file:
            page = read(file.read())
        page["file"] = path
        print(json.dumps(page, ensure_ascii=True), flush=True)


if __name__ == "__main__":
    main()
