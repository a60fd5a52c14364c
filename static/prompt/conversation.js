// @ts-check
/** What was said before the prompt, turn by turn: to read, to change a turn of one's own and run from there, to go back to an answer. */

/** @import { Controls } from "./controls.js" */
/** @import { Recipe, Upload } from "../run/wire.js" */
import { h } from "../parts/element.js";
import { textOf, uploadsOf } from "../run/prompts.js";

/** @typedef {Recipe["messages"]} Turns */

const WHO = { user: "You", assistant: "Model", system: "System" };
/** Of a turn, in a label. */
const SHORT = 40;

export class Conversation {
  /**
   * @param {Controls} controls
   * @param {{run: () => unknown}} session
   * @param {(sentence: string) => void} announce
   */
  constructor(controls, session, announce) {
    this.controls = controls;
    this.session = session;
    this.announce = announce;
    /** What is shown. @type {Turns} */
    this.turns = [];
    /** What was there before turns were cut. @type {{earlier: Turns, prompt: string, uploads: Upload[], after: Turns, words: string} | null} */
    this.cut = null;
    this.count = h("p.hint");
    this.fresh = h("button.chip.small", { type: "button", title: "Leave these turns out: the next run begins with its prompt", onclick: () => this.startOver() }, "New conversation");
    this.list = h("ol.turns", { tabindex: "0", "aria-label": "What was said before" });
    this.gone = h("span");
    this.back = h("button.chip.small", { type: "button", onclick: () => this.#restore() }, "Bring back");
    this.foot = h("p.turns-gone", {}, this.gone, this.back);
    this.element = h("section.card.conversation", { "aria-label": "Conversation", "data-own-keys": "" }, h("header.card-head", {}, h("h3", {}, "Conversation"), this.count, this.fresh), this.list, this.foot);
    controls.addEventListener("taken", () => this.paint());
    this.paint();
  }

  paint() {
    const { earlier } = this.controls.rest;
    if (this.cut && same(earlier, this.cut.earlier)) this.cut = null; // they are back
    if (this.cut && !same(earlier, this.cut.after)) this.cut = null; // the conversation has gone on another way
    this.element.hidden = earlier.length === 0 && !this.cut;
    this.foot.hidden = !this.cut;
    this.fresh.hidden = this.list.hidden = earlier.length === 0;
    this.count.textContent = earlier.length === 0 ? "" : `${turns(earlier.length)} before the prompt`;
    this.gone.textContent = this.cut?.words ?? "";
    if (same(earlier, this.turns)) return;
    this.turns = earlier;
    this.list.replaceChildren(...earlier.map((_, at) => this.#row(at)));
    this.list.scrollTop = this.list.scrollHeight;
  }

  /** @param {number} at */
  #row(at) {
    const { role, content } = this.turns[at];
    const text = textOf(content);
    const label = text.length > SHORT ? `${text.slice(0, SHORT - 1)}…` : text;
    const names = uploadsOf(content).map((upload) => this.controls.uploadNames.get(upload.sha256) ?? (upload.type === "image" ? "a picture" : "a text file"));
    const said = h("div.turn-said", {}, ...(names.length ? [h("p.hint", {}, names.join(", "))] : []), h("p.turn-text", {}, text));
    const row = h("li.turn", { "data-role": role }, h("span.turn-who", {}, WHO[role]), said);
    if (role === "user") row.append(h("button.chip.small", { type: "button", "aria-label": `Edit: ${label}`, onclick: () => this.#edit(at, row) }, "Edit"));
    else if (role === "assistant" && at < this.turns.length - 1) row.append(h("button.chip.small", { type: "button", "aria-label": `Reply from here: ${label}`, title: "Leave out what comes after this answer, and reply to it", onclick: () => this.#reply(at) }, "Reply"));
    return row;
  }

  /**
   * Puts a field in the place of a turn.
   * @param {number} at
   * @param {HTMLElement} row
   */
  #edit(at, row) {
    const { content } = this.turns[at];
    const uploads = uploadsOf(content);
    const after = this.turns.length - at - 1;
    const field = h("textarea.start-text.turn-field", { "aria-label": "Your turn", rows: 2, spellcheck: "false", oninput: () => allow() });
    field.value = textOf(content);
    const run = h("button.chip.small.go", { type: "submit" }, "Run from here");
    const done = () => {
      const again = this.#row(at);
      row.replaceWith(again);
      again.querySelector("button")?.focus();
    };
    const allow = () => {
      const able = field.value.trim() !== "" || uploads.length > 0;
      run.setAttribute("aria-disabled", String(!able));
      run.classList.toggle("ready", able);
      return able;
    };
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      if (!allow()) return;
      const text = field.value;
      this.#change(this.turns.slice(0, at), text, uploads, "A turn was changed, and what came after it is left out.");
      document.getElementById("run")?.focus({ preventScroll: true });
      void this.session.run();
    };
    const keys = (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") done();
      else if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(event);
      else return;
      event.stopPropagation();
    };
    const goes = `The prompt${after > 0 ? ` and ${after === 1 ? "the turn" : `the ${after} turns`} after it` : ""} will be left out.`;
    const form = h("form.turn-edit", { onsubmit: submit, onkeydown: keys }, field, h("div.edit-row", {}, run, h("button.chip.small", { type: "button", onclick: done }, "Cancel"), h("span.hint", {}, goes)));
    row.replaceChildren(h("span.turn-who", {}, WHO.user), form);
    allow();
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  /** The prompt stays, and what was said before it is left out. */
  startOver() {
    const { rest, settings } = this.controls;
    this.#change([], settings.prompt, rest.uploads, "The earlier turns are left out.");
  }

  /** @param {number} at the answer to reply to */
  #reply(at) {
    this.#change(this.turns.slice(0, at + 1), "", [], "What came after this answer is left out.");
    /** @type {HTMLElement | null} */ (document.querySelector("#prompt textarea"))?.focus();
  }

  /**
   * Has the next run begin with other turns; what they take the place of can be had back.
   * @param {Turns} after
   * @param {string} prompt
   * @param {Upload[]} uploads
   * @param {string} words what was done
   */
  #change(after, prompt, uploads, words) {
    const { rest, settings } = this.controls;
    this.cut = { earlier: rest.earlier, prompt: settings.prompt, uploads: rest.uploads, after, words };
    Object.assign(rest, { earlier: after, uploads, edits: [] }); // edits belong to the canvas of another prompt
    this.controls.write(prompt);
    this.controls.dispatchEvent(new CustomEvent("taken"));
    this.announce(words);
  }

  #restore() {
    if (!this.cut) return;
    const { earlier, prompt, uploads } = this.cut;
    Object.assign(this.controls.rest, { earlier, uploads });
    this.controls.write(prompt);
    this.controls.dispatchEvent(new CustomEvent("taken"));
    this.announce("The turns are back.");
    this.list.focus();
  }
}

/** @param {number} count */
function turns(count) {
  return count === 1 ? "1 turn" : `${count} turns`;
}

/**
 * @param {Turns} some
 * @param {Turns} others
 */
function same(some, others) {
  return some.length === others.length && JSON.stringify(some) === JSON.stringify(others);
}
