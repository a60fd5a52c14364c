// @ts-check
/**
 * The text of one canvas: a span for each position, made once and then only changed.
 * The pieces are model text and touch the page through text nodes alone.
 */

/** @import { View, State } from "./states.js" */
import { h } from "./element.js";
import { barOf } from "./states.js";

/**
 * @typedef {object} Cell
 * @property {HTMLElement} element
 * @property {HTMLElement} word  the visible part, which carries tint, line and bar
 * @property {Text} lead  spaces before it
 * @property {Text} text
 * @property {Text} rest  line breaks after it
 * @property {string | null} piece
 * @property {string} look
 * @property {number} bar  in percent
 * @property {boolean} hidden
 */

/**
 * Splits a piece, so that marks stand under words and not under the spaces around them.
 * @param {string} piece
 * @returns {[string, string, string]} spaces, word, line breaks
 */
export function splitPiece(piece) {
  const word = piece.trim();
  if (word) {
    const at = piece.indexOf(word);
    return [piece.slice(0, at), word, piece.slice(at + word.length)];
  }
  return piece.includes("\n") ? ["", "", piece] : ["", piece, ""];
}

export class CanvasText {
  /** @param {number} index of the canvas; −1 for the tokens of an autoregressive run */
  constructor(index) {
    this.index = index;
    this.element = h("span.canvas-text", { "data-canvas": index });
    this.chip = h("button.tail-chip", { type: "button", tabindex: "-1" });
    this.chip.hidden = true;
    this.element.append(this.chip);
    /** @type {Cell[]} */
    this.cells = [];
    this.painted = "";
    /** The span that is inspected; −1 for none. */
    this.selected = -1;
    this.selectedTo = -1;
  }

  /** @param {number} count */
  #grow(count) {
    while (this.cells.length < count) {
      const lead = document.createTextNode("");
      const text = document.createTextNode("");
      const rest = document.createTextNode("");
      const word = h("span.w", {}, text);
      const element = h("span.t", { "data-p": this.cells.length }, lead, word, rest);
      this.cells.push({ element, word, lead, text, rest, piece: null, look: "", bar: -1, hidden: false });
      this.chip.before(element);
    }
  }

  /**
   * Shows a view; positions that stay as they are cost nothing.
   * @param {View} view
   * @param {(id: number) => string} textOf
   */
  paint(view, textOf) {
    this.#grow(view.ids.length);
    for (let position = 0; position < this.cells.length; position += 1) {
      const cell = this.cells[position];
      const hidden = position >= view.tail;
      if (cell.hidden !== hidden) {
        cell.hidden = hidden;
        cell.element.hidden = hidden;
      }
      if (hidden) {
        cell.look = "";
        continue;
      }
      const piece = textOf(view.ids[position]);
      if (cell.piece !== piece) {
        cell.piece = piece;
        const [lead, word, rest] = splitPiece(piece);
        cell.lead.data = lead;
        cell.text.data = word;
        cell.rest.data = rest;
        cell.element.toggleAttribute("data-break", rest.includes("\n"));
        cell.element.toggleAttribute("data-empty", piece === "");
      }
      this.#look(cell, view.states[position], position >= this.selected && position <= this.selectedTo);
      const bar = view.entropy ? Math.round(barOf(view.entropy[position]) * 100) : 0;
      if (cell.bar !== bar) {
        cell.bar = bar;
        cell.word.style.setProperty("--h", `${bar}%`);
      }
    }
    this.#paintChip(view);
  }

  /**
   * @param {Cell} cell
   * @param {State} state
   * @param {boolean} selected
   */
  #look(cell, state, selected) {
    const look = selected ? `t s-${state} selected` : `t s-${state}`;
    if (cell.look === look) return;
    cell.look = look;
    cell.element.className = look;
  }

  /** @param {View} view */
  #paintChip(view) {
    this.chip.hidden = view.folded === 0;
    if (view.folded === 0) return;
    const times = view.folded > 1 ? ` × ${view.folded}` : "";
    const tail = view.states.slice(view.tail);
    const held = tail.every((state) => state === "pinned");
    const part = held ? " · pinned" : view.tailAccepted < view.folded ? ` · ${view.tailAccepted} accepted` : "";
    const label = `end of turn${times}${part}`;
    if (this.chip.textContent !== label) this.chip.textContent = label;
    this.chip.dataset.p = String(view.tail);
    const state = tail.includes("new") ? "new" : held || view.tailAccepted === view.folded ? "kept" : "draft";
    this.chip.className = `tail-chip s-${state}${this.selectedTo >= view.tail ? " selected" : ""}`;
  }

  /**
   * Marks what is inspected.
   * @param {number} from −1 for nothing
   * @param {number} [to] the other end of a span
   */
  select(from, to = from) {
    const [first, last] = from <= to ? [from, to] : [to, from];
    if (first === this.selected && last === this.selectedTo) return;
    for (const cell of this.cells.slice(Math.max(this.selected, 0), this.selectedTo + 1)) {
      cell.element.classList.remove("selected");
      cell.look = "";
    }
    this.selected = first;
    this.selectedTo = first < 0 ? -1 : last;
    let folded = false;
    for (const cell of this.cells.slice(Math.max(first, 0), this.selectedTo + 1)) {
      folded ||= cell.hidden;
      if (cell.hidden) continue;
      cell.element.classList.add("selected");
      cell.look = "";
    }
    this.chip.classList.toggle("selected", folded);
  }
}
