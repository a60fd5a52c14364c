"""The pieces of the page that JavaScript owns, as Gradio components."""

from typing import Any

import gradio as gr

HEAD = """<link rel="icon" href="page/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="page/styles/theme.css">
<link rel="stylesheet" href="page/styles/gradio.css">
<link rel="stylesheet" href="page/styles/lane.css">
<link rel="stylesheet" href="page/styles/panels.css">
<link rel="stylesheet" href="page/styles/gallery.css">
<link rel="stylesheet" href="page/styles/edits.css">
<link rel="stylesheet" href="page/styles/tools.css">
<link rel="stylesheet" href="page/styles/lab.css">
<link rel="stylesheet" href="page/styles/classroom.css">
<link rel="stylesheet" href="page/styles/guide.css">"""
"""Styles, relative to the page's own address, so that they are found behind a proxy's prefix too."""

MOUNT = """(async () => {
  const module = await import(new URL(props.module, document.baseURI));
  module.mount({ element: element.querySelector('.piece'), props, trigger, watch });
})();
// what it tells Python: 'finished', 'borrow'"""


def piece(name: str, **props: Any) -> Any:
    """An empty element with this id, which the page's own module fills and keeps. `props` are what it is told.

    Its value is a JSON summary of the last runs. It never stands in the template: an update must not wipe what the
    module made, and no text of the model may travel as markup. (A function and not a subclass of `gr.HTML`: for
    subclasses Gradio writes a stub file into the sources.)
    """
    return gr.HTML(
        html_template="<div class='piece'></div>",
        js_on_load=MOUNT,
        elem_id=name,
        piece=name,
        module="page/main.js",
        apply_default_css=False,
        **props,
    )
