// @ts-check
/** Which room of the page is open: the player, or the lab. */

import { h } from "../parts/element.js";

/** @typedef {"play" | "lab"} View */

export class Views extends EventTarget {
  /** @param {HTMLElement} root */
  constructor(root) {
    super();
    this.root = root;
    /** @type {View} */
    this.view = "play";
    this.buttons = { play: this.#button("play", "Play"), lab: this.#button("lab", "Lab") };
    this.element = h("div.tools.views", { role: "group", "aria-label": "View" }, ...Object.values(this.buttons));
    this.choose("play");
  }

  /**
   * @param {View} view
   * @param {string} words
   */
  #button(view, words) {
    return h("button.chip.small", { type: "button", onclick: () => this.choose(view) }, words);
  }

  /** @param {View} view */
  choose(view) {
    const changed = view !== this.view;
    this.view = view;
    this.root.dataset.view = view;
    for (const [name, button] of Object.entries(this.buttons)) button.setAttribute("aria-pressed", String(name === view));
    if (!changed) return;
    scrollTo(0, 0);
    this.dispatchEvent(new CustomEvent("change", { detail: view }));
  }
}
