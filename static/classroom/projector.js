// @ts-check
/** The projector view: the canvas and the timeline in large type, and nothing else. Escape leads back. */

import { h } from "../parts/element.js";

export class Projector extends EventTarget {
  /** @param {HTMLElement} root */
  constructor(root) {
    super();
    this.root = root;
    this.button = h("button.chip.small", { type: "button", title: "The canvas and the timeline in large type, and nothing else", "data-leaves": "", onclick: () => this.turn(true) }, "Projector");
    this.leave = h("button.chip.projector-leave", { type: "button", onclick: () => this.turn(false) }, "Back (Esc)");
    root.append(this.leave);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.on && !event.defaultPrevented) this.turn(false);
    });
  }

  get on() {
    return this.root.dataset.projector === "on";
  }

  /** @param {boolean} on */
  turn(on) {
    if (on === this.on) return;
    this.root.dataset.projector = on ? "on" : "";
    (on ? this.leave : this.button).focus({ preventScroll: true });
    scrollTo({ top: 0 });
    this.dispatchEvent(new CustomEvent("change"));
  }
}
