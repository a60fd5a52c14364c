// @ts-check
/** "Your runs": what this browser has run, as the server stores it; to open, to keep, to delete. */

import { copied } from "../parts/copy.js";
import { factsOf } from "../parts/entry.js";
import { h } from "../parts/element.js";
import { Menu } from "../parts/menu.js";
import { owner } from "../live/owner.js";
import { address } from "../run/wire.js";

/** @typedef {{id: string, created: string, mode: string, model: string, prompt: string, stop_reason: string, steps: number | null, tokens: number, kept: boolean}} Entry */

const PAGE = 20;
const COPIED_MS = 2000;

export class Runs extends EventTarget {
  constructor() {
    super();
    this.menu = new Menu("Your runs", "Your runs: what this browser has run");
    this.list = h("ol.runs");
    this.note = h("p.hint", { "aria-live": "polite" });
    this.more = h("button.chip.small", { type: "button", onclick: () => this.#load(this.next) }, "Earlier runs");
    this.more.hidden = true;
    /** @type {number | null} */
    this.next = null;
    this.menu.panel.append(this.note, this.list, this.more);
    this.menu.addEventListener("open", () => this.#load(null));
  }

  /**
   * @param {string} path
   * @param {string} [method]
   */
  async #ask(path, method = "GET") {
    const response = await fetch(address(path), { method, headers: { "X-Playground-Owner": owner() } });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.message ?? `The server answers with status ${response.status}.`);
    return answer;
  }

  /** @param {number | null} before */
  async #load(before) {
    try {
      const { stored, runs, next } = await this.#ask(`api/runs?limit=${PAGE}${before === null ? "" : `&before=${before}`}`);
      const rows = runs.map((/** @type {Entry} */ entry) => this.#row(entry));
      if (before === null) this.list.replaceChildren(...rows);
      else this.list.append(...rows);
      this.next = next;
      this.more.hidden = next === null;
      if (!stored) this.note.textContent = "This server keeps no runs.";
      else this.note.textContent = this.list.childElementCount === 0 ? "Nothing yet. What you run is listed here, in this browser only." : "Seen by this browser only. Runs are dropped after some time, unless you keep them.";
    } catch (error) {
      this.note.textContent = `The list cannot be had: ${/** @type {Error} */ (error).message}`;
    }
  }

  /** @param {Entry} entry */
  #row(entry) {
    const open = h("button.run-open", { type: "button", onclick: () => this.#open(entry.id) }, h("span.run-prompt", {}, entry.prompt), h("span.hint", {}, factsOf(entry).join(" · ")));
    const keep = h("button.chip.small", { type: "button", "aria-pressed": String(entry.kept), title: "Kept runs are not dropped" }, entry.kept ? "Kept" : "Keep");
    const link = h("button.chip.small", { type: "button", title: "Copy the short link to this run", "aria-label": `Copy the link: ${entry.prompt}`, onclick: () => this.#link(entry.id, link) }, "Link");
    const row = h("li", { "data-run": entry.id }, open, link, keep, h("button.chip.small", { type: "button", "aria-label": `Delete: ${entry.prompt}`, onclick: () => this.#delete(entry.id, row) }, "Delete"));
    keep.setAttribute("aria-label", `Keep: ${entry.prompt}`);
    keep.addEventListener("click", () => this.#keep(entry, keep));
    return row;
  }

  /**
   * @param {string} id
   * @param {HTMLElement} button
   */
  async #link(id, button) {
    const link = address(`r/${id}`).href;
    if (!(await copied(link))) {
      this.note.textContent = `The clipboard cannot be used here. The link: ${link}`;
      return;
    }
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Link"), COPIED_MS);
    this.note.textContent = "The short link is copied. It leads to the run as long as the run is stored.";
  }

  /** @param {string} id */
  #open(id) {
    this.menu.close();
    this.dispatchEvent(new CustomEvent("open", { detail: id }));
  }

  /**
   * @param {Entry} entry
   * @param {HTMLElement} button
   */
  async #keep(entry, button) {
    try {
      const { kept } = await this.#ask(`api/runs/${entry.id}/keep`, entry.kept ? "DELETE" : "PUT");
      entry.kept = kept;
      button.setAttribute("aria-pressed", String(kept));
      button.textContent = kept ? "Kept" : "Keep";
    } catch (error) {
      this.note.textContent = /** @type {Error} */ (error).message;
    }
  }

  /**
   * @param {string} id
   * @param {HTMLElement} row
   */
  async #delete(id, row) {
    try {
      await this.#ask(`api/runs/${id}`, "DELETE");
      const beside = /** @type {HTMLElement | null} */ ((row.nextElementSibling ?? row.previousElementSibling)?.querySelector("button") ?? this.menu.button);
      beside?.focus();
      row.remove();
      this.note.textContent = "Deleted.";
    } catch (error) {
      this.note.textContent = /** @type {Error} */ (error).message;
    }
  }
}
