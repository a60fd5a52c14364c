// @ts-check
/** The tools in the head of the page: a row where there is room for one, on a phone a sheet from below behind one button. */

import { h, icon } from "../parts/element.js";

export class Toolbox {
  /** @param {HTMLElement[]} tools */
  constructor(tools) {
    this.button = h("button.ghost.tools-button", { type: "button", "aria-label": "Menu", "aria-expanded": "false", "aria-controls": "tools", onclick: () => (this.isOpen ? this.close() : this.open()) }, icon("menu"));
    const close = h("button.ghost", { type: "button", "aria-label": "Close", onclick: () => this.close() }, icon("close"));
    /** What there is no room for beside the name of the page. */
    this.note = h("p.hint.tools-note");
    this.list = h("div.tools", { id: "tools", role: "group", "aria-label": "Runs and files" }, h("header.sheet-head", { tabindex: "-1" }, h("h2", {}, "Menu"), close), ...tools, this.note);
    this.element = h("div.toolbox", {}, this.button, this.list, h("div.sheet-veil"));
    this.list.addEventListener("menu-open", () => this.#shut());
    this.list.addEventListener("click", (/** @type {any} */ event) => event.target.closest("[data-leaves]") && this.#shut());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.isOpen) return;
      event.stopImmediatePropagation();
      this.close();
    }, true);
    document.addEventListener("pointerdown", (event) => this.isOpen && !event.composedPath().includes(this.button) && !event.composedPath().includes(this.list) && this.#shut());
    this.list.addEventListener("focusout", (/** @type {FocusEvent} */ event) => event.relatedTarget && !this.element.contains(/** @type {Node} */ (event.relatedTarget)) && this.#shut());
  }

  get isOpen() {
    return this.list.hasAttribute("data-open");
  }

  open() {
    this.list.setAttribute("data-open", "");
    this.button.setAttribute("aria-expanded", "true");
    /** @type {HTMLElement} */ (this.list.firstElementChild).focus();
  }

  #shut() {
    this.list.removeAttribute("data-open");
    this.button.setAttribute("aria-expanded", "false");
  }

  close() {
    this.#shut();
    this.button.focus();
  }
}
