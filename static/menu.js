// @ts-check
/** A button that opens a panel below it. Escape, a click elsewhere and the button itself close it. */

import { h } from "./element.js";

export class Menu extends EventTarget {
  /**
   * @param {string} label
   * @param {string} title
   */
  constructor(label, title) {
    super();
    const id = `menu-${label.toLowerCase().replace(/\W+/g, "-")}`;
    this.button = h("button.chip.small", { type: "button", title, "aria-expanded": "false", "aria-controls": id, onclick: () => (this.isOpen ? this.close() : this.open()) }, label);
    this.panel = h("div.menu-panel.card", { id, role: "group", "aria-label": title, "data-own-keys": "" });
    this.panel.hidden = true;
    this.element = h("div.menu", {}, this.button, this.panel);
    document.addEventListener("keydown", (event) => {
      const inside = event.composedPath().includes(this.element) || document.activeElement === document.body; // what had the focus may have gone
      if (event.key !== "Escape" || !this.isOpen || !inside) return;
      event.stopImmediatePropagation();
      this.close();
      this.button.focus();
    }, true);
    document.addEventListener("pointerdown", (event) => this.isOpen && !event.composedPath().includes(this.element) && this.close());
    this.element.addEventListener("focusout", (/** @type {FocusEvent} */ event) => event.relatedTarget && !this.element.contains(event.relatedTarget) && this.close());
  }

  get isOpen() {
    return !this.panel.hidden;
  }

  open() {
    this.panel.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.dispatchEvent(new CustomEvent("open"));
  }

  close() {
    this.panel.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }
}
