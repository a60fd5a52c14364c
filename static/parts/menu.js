// @ts-check
/** A button that opens a panel below it, on a phone a sheet from below. Escape, a click elsewhere and the button itself close it. */

import { h, icon } from "./element.js";

export class Menu extends EventTarget {
  /**
   * @param {string} label
   * @param {string} title
   */
  constructor(label, title) {
    super();
    const id = `menu-${label.toLowerCase().replace(/\W+/g, "-")}`;
    this.button = h("button.chip.small", { type: "button", title, "aria-expanded": "false", "aria-controls": id, onclick: () => (this.isOpen ? this.close() : this.open()) }, label);
    this.panel = h("div.menu-body");
    const close = h("button.ghost", { type: "button", "aria-label": "Close", onclick: () => this.#leave() }, icon("close"));
    this.sheet = h("div.menu-panel.card", { id, role: "group", "aria-label": title, "data-own-keys": "", tabindex: "-1" }, h("header.sheet-head", {}, h("h2", {}, label), close), this.panel);
    this.sheet.hidden = true;
    this.element = h("div.menu", {}, this.button, this.sheet);
    document.addEventListener("keydown", (event) => {
      const inside = event.composedPath().includes(this.element) || document.activeElement === document.body; // what had the focus may have gone
      if (event.key !== "Escape" || !this.isOpen || !inside) return;
      event.stopImmediatePropagation();
      this.#leave();
    }, true);
    document.addEventListener("pointerdown", (event) => this.isOpen && !event.composedPath().includes(this.element) && this.close());
    this.element.addEventListener("focusout", (/** @type {FocusEvent} */ event) => event.relatedTarget && !this.element.contains(event.relatedTarget) && this.close());
  }

  get isOpen() {
    return !this.sheet.hidden;
  }

  open() {
    this.sheet.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.element.dispatchEvent(new CustomEvent("menu-open", { bubbles: true }));
    if (!this.button.offsetParent) this.sheet.focus({ preventScroll: true }); // its button went with the sheet of tools
    this.dispatchEvent(new CustomEvent("open"));
  }

  close() {
    this.sheet.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  /** Closes it, and gives the focus back: where its own button is out of sight, to the one of the sheet it came from. */
  #leave() {
    this.close();
    const back = this.button.offsetParent ? this.button : /** @type {HTMLElement | null} */ (this.element.closest(".toolbox")?.querySelector(".tools-button"));
    back?.focus();
  }
}
