// @ts-check
/** A sentence above the page's content that concerns the page as a whole: a link or a file that could not be read. */

import { h, icon } from "./element.js";

export class Notice {
  constructor() {
    this.text = h("p");
    this.element = h("div.notice.card", { role: "alert" }, this.text, h("button.ghost", { type: "button", "aria-label": "Close", onclick: () => this.clear() }, icon("close")));
    this.element.hidden = true;
  }

  /**
   * @param {string} sentence
   * @param {"error" | "note"} [kind]
   */
  say(sentence, kind = "error") {
    this.text.textContent = sentence;
    this.element.dataset.kind = kind;
    this.element.hidden = false;
    if (this.element.getBoundingClientRect().top < 0) this.element.scrollIntoView({ block: "nearest" });
  }

  clear() {
    this.element.hidden = true;
  }
}
