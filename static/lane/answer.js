// @ts-check
/** The answer as text, decoded by the server from the whole sequence, to read and to copy. */

/** @import { RunLog } from "../run/log.js" */
import { copied } from "../parts/copy.js";
import { h } from "../parts/element.js";

const COPIED_MS = 1600;

export class Answer {
  /** @param {string} title */
  constructor(title) {
    this.text = h("pre.answer-text", { tabindex: "0" });
    this.thought = h("pre.answer-text");
    this.thinking = h("details.thought", {}, h("summary", {}, "Thought"), this.thought);
    this.copy = h("button.chip.small", { type: "button", onclick: () => this.#copy() }, "Copy");
    this.heading = h("h3", {}, title);
    this.element = h("section.card.answer", { "aria-label": title }, h("header.card-head", {}, this.heading, this.copy), this.thinking, this.text);
    this.element.hidden = true;
  }

  /** @param {string} title */
  name(title) {
    this.heading.textContent = title;
    this.element.setAttribute("aria-label", title);
  }

  /** @param {RunLog | null} log */
  paint(log) {
    const finished = log?.finished;
    this.element.hidden = !finished || finished.stop_reason === "error";
    if (!finished) return;
    this.text.textContent = finished.text || (finished.stop_reason === "cancelled" ? "Cancelled before anything was committed." : "The answer is empty.");
    this.element.classList.toggle("empty", !finished.text);
    this.copy.hidden = !finished.text;
    this.thought.textContent = finished.thought;
    this.thinking.hidden = !finished.thought;
  }

  async #copy() {
    const done = await copied(this.text.textContent ?? "");
    if (!done) getSelection()?.selectAllChildren(this.text); // it can still be copied by hand
    this.copy.textContent = done ? "Copied" : "Selected";
    setTimeout(() => (this.copy.textContent = "Copy"), COPIED_MS);
  }
}
