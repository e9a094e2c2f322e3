"""Checks what a reader of the documents would trip over: broken links, and examples that are not even well-formed.

Prints one line for each fault, as `file:line: what is wrong`, and exits with status 1 if there was any.
"""

import ast
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCRIPT_IN_SHELL = re.compile(r"<<'PY'\n(.*?)^PY$", re.MULTILINE | re.DOTALL)


def anchors(text):
    """Returns the names that the headings of a page can be linked by."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def link_fault(page, target):
    """Returns what is wrong with a link, or None; links to other sites are not followed."""
    if re.match(r"[a-z]+:", target):
        return None
    path, _, anchor = target.partition("#")
    linked = (page.parent / path).resolve() if path else page
    if not linked.exists():
        return f"the link to {target} leads nowhere"
    if anchor and anchor not in anchors(linked.read_text(encoding="utf-8")):
        return f"{linked.name} has no heading #{anchor}"
    return None


def example_fault(language, body):
    """Returns what is wrong with a fenced example, or None; Python is compiled and never run."""
    try:
        if language == "json":
            json.loads(body)
        elif language == "python":
            ast.parse(body)
        elif language == "sh":
            for script in SCRIPT_IN_SHELL.findall(body):
                ast.parse(script)
    except (ValueError, SyntaxError) as fault:
        return f"the {language} example is not well-formed: {fault}"
    return None


def faults(page):
    """Yields the place and the text of everything wrong in one page."""
    text = page.read_text(encoding="utf-8")
    found = [(m.start(), link_fault(page, m[1])) for m in LINK.finditer(FENCE.sub(lambda m: " " * len(m[0]), text))]
    found += [(m.start(), example_fault(m[1], m[2])) for m in FENCE.finditer(text)]
    for position, fault in sorted(found, key=lambda entry: entry[0]):
        if fault:
            yield f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, position) + 1}: {fault}"


if __name__ == "__main__":
    pages = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    all_faults = [fault for page in pages for fault in faults(page)]
    print("\n".join(all_faults) or f"{len(pages)} documents are sound")
    sys.exit(bool(all_faults))
