// @ts-check
/**
 * The text of one canvas: a span for each position, made once and then only changed.
 * The pieces are model text and touch the page through text nodes alone.
 *
 * A canvas of 256 tokens is laid out anew in every step, so it is kept flat: one box a token, the spaces around it bare
 * text, and its bar one of a few classes (a style of its own for each token would cost more than the text).
 */

/** @import { View } from "../run/states.js" */
import { h, write } from "../parts/element.js";
import { barOf } from "../run/states.js";

/**
 * @typedef {object} Cell
 * @property {HTMLElement} element  the word, which carries tint, line and bar
 * @property {Text} lead  spaces before it
 * @property {Text} text
 * @property {Text} rest  line breaks after it
 * @property {string | null} piece
 * @property {string} mark  the attribute that has a sign stand for what cannot be seen
 * @property {string} look
 * @property {boolean} hidden
 */

/** A word of control characters, or none at all: a sign stands for it, or nobody could point at it. */
const UNSEEN = /^\p{C}*$/u;

/** The lengths that a bar has, besides none: `b1` to `b12` in lane.css. */
const BARS = 12;

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
      const element = h("span.t", { "data-p": this.cells.length }, text);
      this.cells.push({ element, lead, text, rest, piece: null, mark: "", look: "", hidden: false });
      this.chip.before(lead, element, rest);
    }
  }

  /**
   * Shows a view; positions that stay as they are cost nothing.
   * @param {View} view
   * @param {(id: number, position: number) => string} textOf
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
        this.#write(cell, null);
        cell.look = "";
        continue;
      }
      this.#write(cell, textOf(view.ids[position], position));
      const bar = view.entropy ? Math.round(barOf(view.entropy[position]) * BARS) : 0;
      const selected = position >= this.selected && position <= this.selectedTo;
      this.#look(cell, `t s-${view.states[position]}${bar ? ` b${bar}` : ""}${view.thought?.[position] ? " thought" : ""}${selected ? " selected" : ""}`);
    }
    this.#paintChip(view);
  }

  /**
   * @param {Cell} cell
   * @param {string | null} piece null for a hidden position, around which no space may stay
   */
  #write(cell, piece) {
    if (cell.piece === piece) return;
    cell.piece = piece;
    const [lead, word, rest] = splitPiece(piece ?? "");
    if (cell.lead.data !== lead) cell.lead.data = lead;
    if (cell.text.data !== word) cell.text.data = word;
    if (cell.rest.data !== rest) cell.rest.data = rest;
    const mark = piece === null ? "" : rest.includes("\n") ? "data-break" : UNSEEN.test(word) ? "data-empty" : "";
    if (cell.mark === mark) return;
    if (cell.mark) cell.element.removeAttribute(cell.mark);
    if (mark) cell.element.setAttribute(mark, "");
    cell.mark = mark;
  }

  /**
   * @param {Cell} cell
   * @param {string} look
   */
  #look(cell, look) {
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
    write(this.chip, label);
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
