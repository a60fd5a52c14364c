// @ts-check
/** What the marks mean, and the switch that shows the noise in place of the draft. */

import { h } from "../parts/element.js";

const MARKS = /** @type {const} */ ([
  ["noise", "noise", "a random token, fed to the next step; nothing says that it will stay"],
  ["draft", "draft", "not accepted: the most probable token; a random one is fed on"],
  ["new", "new", "accepted in this step"],
  ["kept", "kept", "accepted before and now, the same token"],
  ["revised", "revised", "accepted before and now, another token"],
  ["released", "released", "accepted before and not now"],
  ["pinned", "pinned", "held to a given token, in every step"],
]);

export class Legend extends EventTarget {
  constructor() {
    super();
    this.noise = false;
    this.button = h("button.chip.small", { type: "button", "aria-pressed": "false", title: "Show the random tokens that are fed to the next step where nothing is accepted", onclick: () => this.#toggle() }, "Show noise");
    const marks = MARKS.map(([state, word, meaning]) => h("li", { title: meaning }, h(`span.t.s-${state}`, {}, word)));
    this.element = h("div.legend", {}, h("ul", { "aria-label": "Marks" }, ...marks, h("li", {}, h("span.legend-bar"), "entropy")), this.button);
  }

  /** @param {boolean} noise */
  choose(noise) {
    if (noise !== this.noise) this.#toggle();
  }

  #toggle() {
    this.noise = !this.noise;
    this.button.setAttribute("aria-pressed", String(this.noise));
    this.dispatchEvent(new CustomEvent("noise"));
  }
}
