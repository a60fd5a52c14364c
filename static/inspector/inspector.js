// @ts-check
/** The inspector answers "why": what a position could have been, how its entropy went, how it stood in the budget. */

/** @import { Editor } from "../prompt/editor.js" */
/** @import { Lane } from "../lane/lane.js" */
/** @import { Frame } from "../run/log.js" */
/** @import { Paint } from "../parts/painter.js" */
/** @import { CanvasStarted, Step, Token } from "../run/wire.js" */
import { at, complete, rowOf } from "./alternatives.js";
import { BudgetCard } from "./budget.js";
import { h, icon, number, renew, visible, write } from "../parts/element.js";
import { momentOf } from "../run/fork.js";
import { HistoryCard } from "./historycard.js";
import { soon } from "../parts/painter.js";
import { reasons } from "../run/rules.js";
import { StopCard } from "./stopcard.js";
import { MEANINGS, budgetOf, historyOf, meaningOf, statesOf } from "../run/states.js";

const ROWS = 5;
const FETCH_AFTER_MS = 90;
/** While something plays, charts and figures change ten times a second at most. */
const FOLLOW_MS = 100;
/** The position shown before anybody chose one. */
const FIRST_POSITION = 12;
/** Up to this width the inspector is a sheet that leaves the upper part of the page free. */
const PHONE = 760;
const ABOVE_SHEET = 0.4;

export class Inspector {
  /**
   * @param {HTMLElement} element
   * @param {Lane} lane
   * @param {(sentence: string) => void} announce
   * @param {Editor | null} [editor] none where nothing can be run
   */
  constructor(element, lane, announce, editor = null) {
    this.lane = lane;
    this.announce = announce;
    this.editor = editor;
    /** canvas null: the one that is being looked at; anchor: the other end of a span. @type {{canvas: number | null, position: number, anchor: number}} */
    this.chosen = { canvas: null, position: FIRST_POSITION, anchor: FIRST_POSITION };
    /** @type {{canvas: number, position: number} | null} */
    this.hovered = null;
    this.painted = -Infinity;
    this.title = h("h3");
    this.state = h("p.inspect-state");
    this.rows = h("ol.alternatives", { "aria-label": "Most probable tokens" });
    this.facts = h("dl.pairs");
    this.close = h("button.ghost.sheet-close", { type: "button", "aria-label": "Close", onclick: () => this.shut() }, icon("close"));
    const step = (/** @type {number} */ by, /** @type {string} */ label, /** @type {string} */ sign) => h("button.ghost", { type: "button", "aria-label": label, onclick: () => this.move(by) }, sign);
    this.history = new HistoryCard();
    this.budget = new BudgetCard(editor);
    this.stop = new StopCard();
    this.element = element;
    element.append(
      h("section.card.inspect", {}, h("header.card-head", {}, this.title, step(-1, "Position before", "‹"), step(1, "Next position", "›"), this.close), this.state, this.rows, this.facts),
      ...(editor ? [editor.element] : []),
      this.history.element,
      this.budget.element,
      this.stop.element,
    );
    element.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && this.shut());
    this.#attach(lane);
  }

  /** @param {Lane} lane */
  #attach(lane) {
    const mine = (/** @type {(detail: any) => void} */ act) => (/** @type {any} */ event) => {
      this.lane = lane;
      act(event.detail);
      this.repaint();
    };
    lane.addEventListener("choose", mine((detail) => this.#choose(detail)));
    lane.addEventListener("hover", mine((detail) => (this.hovered = detail)));
    lane.addEventListener("paint", () => lane === this.lane && this.#follow());
    lane.addEventListener("run", () => {
      this.hovered = null;
      this.chosen.canvas = null;
      if (lane === this.lane) this.repaint();
    });
    lane.text.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -8, ArrowDown: 8 }[event.key];
      if (!by) return;
      event.preventDefault();
      this.lane = lane;
      this.move(by, event.shiftKey);
      const span = this.span;
      this.announce(span.length > 1 ? `Positions ${span.start + 1} to ${span.start + span.length}.` : `${this.title.textContent}. ${this.state.textContent}`);
    });
  }

  /**
   * Another lane whose positions can be inspected.
   * @param {Lane} lane
   */
  also(lane) {
    this.#attach(lane);
  }

  /** @param {{canvas: number, position: number, extend?: boolean}} detail */
  #choose({ canvas, position, extend = false }) {
    const now = this.lane.player.frame?.canvas;
    const other = canvas === now ? null : canvas;
    this.chosen = { canvas: other, position, anchor: extend && other === this.chosen.canvas ? this.chosen.anchor : position };
    this.hovered = null;
    this.element.classList.add("open");
    this.#clear();
  }

  /** Keeps the chosen token in sight above the sheet. */
  #clear() {
    if (innerWidth > PHONE) return;
    const token = this.lane.text.querySelector(`[data-p="${this.chosen.position}"]:not([hidden])`);
    if (token && token.getBoundingClientRect().bottom > innerHeight * ABOVE_SHEET) {
      scrollBy({ top: token.getBoundingClientRect().top - innerHeight * 0.2, behavior: "smooth" });
    }
  }

  /** Closes the sheet, on a phone. */
  shut() {
    this.element.classList.remove("open");
  }

  /** What is chosen, in order. */
  get span() {
    const { position, anchor } = this.chosen;
    return { start: Math.min(position, anchor), length: Math.abs(position - anchor) + 1 };
  }

  /**
   * @param {number} by
   * @param {boolean} [extend] keep the other end, for a span
   */
  move(by, extend = false) {
    const { log } = this.lane.player;
    const count = this.lane.mode === "diffusion" ? log.started?.canvas_length ?? 1 : Math.max(log.tokens.length, 1);
    this.hovered = null;
    const position = Math.max(0, Math.min(this.chosen.position + by, count - 1));
    this.chosen = { canvas: this.chosen.canvas, position, anchor: extend && this.lane.mode === "diffusion" ? this.chosen.anchor : position };
    this.repaint();
  }

  repaint() {
    clearTimeout(this.later);
    soon(this, () => this.paint());
  }

  /** Follows what plays, but not faster than anybody reads. */
  #follow() {
    const { player, driven } = this.lane;
    const wait = player.playing || driven ? this.painted + FOLLOW_MS - performance.now() : 0;
    if (wait <= 0) return this.repaint();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.repaint(), wait);
  }

  /** @returns {ReturnType<Paint>} what is left, in pieces of a frame each */
  paint() {
    this.painted = performance.now();
    const { frame, log } = this.lane.player;
    const { position } = this.hovered ?? this.chosen;
    if (!frame) return this.#empty();
    const canvas = this.hovered?.canvas ?? this.chosen.canvas ?? frame.canvas;
    this.lane.select({ canvas: canvas > frame.canvas ? frame.canvas : canvas, position: this.hovered ? -1 : this.chosen.anchor, to: this.hovered ? -1 : position });
    if (!this.hovered) this.#paintEditor(frame, canvas);
    if (this.lane.mode === "autoregressive") {
      const last = frame.event.type === "token" ? frame.event.index : 0;
      const token = log.tokens[Math.min(position, last)];
      return token && this.#paintToken(token, last);
    }
    if (frame.event.type === "canvas_started" && canvas === frame.canvas) return this.#paintNoise(frame.event, position);
    const steps = log.canvas(canvas).steps;
    const step = canvas === frame.canvas && frame.event.type === "step" ? frame.event : steps[steps.length - 1];
    return step ? this.#paintStep(step, Math.min(position, step.predicted.length - 1)) : this.#empty();
  }

  /**
   * @param {Frame} frame
   * @param {number} canvas
   */
  #paintEditor(frame, canvas) {
    if (!this.editor) return;
    const { log } = this.lane.player;
    const earlier = { canvas, step: Math.max(log.canvases.get(canvas)?.steps.length ?? 0, 2) - 1 };
    const moment = canvas < frame.canvas && canvas >= 0 ? earlier : momentOf(log, frame);
    this.editor.paint(this.lane, moment, this.span);
  }

  #empty() {
    this.editor?.paint(this.lane, null, this.span);
    write(this.title, "Inspector");
    write(this.state, "Run a prompt, then point at a token to ask why it is there.");
    for (const part of [this.rows, this.facts]) part.replaceChildren();
    this.history.empty("");
    this.budget.empty("");
    this.stop.hide();
  }

  /**
   * @param {CanvasStarted} event
   * @param {number} position
   */
  #paintNoise(event, position) {
    const { log } = this.lane.player;
    write(this.title, `Position ${position + 1}, noise`);
    write(this.state, MEANINGS.noise);
    clearTimeout(this.timer);
    for (const part of [this.rows, this.facts, this.history.chart]) {
      if (part.childElementCount) part.style.minHeight = `${part.offsetHeight}px`; // nothing below moves
      part.replaceChildren();
    }
    this.history.empty("begins with step 1");
    this.budget.empty("nothing spent yet");
    this.stop.hide();
    this.#pairs([["fed to step 1", visible(log.text(event.canvas_ids[position])), true]]);
  }

  /**
   * @param {Step} step
   * @param {number} position
   * @returns {Paint}
   */
  #paintStep(step, position) {
    const { log } = this.lane.player;
    const canvas = log.canvas(step.canvas);
    const state = statesOf(canvas, step)[position];
    const { order, cumulative } = budgetOf(step);
    const rank = order.indexOf(position);
    const spent = rank > 0 ? cumulative[rank - 1] : 0;
    const history = historyOf(canvas, position, step.step);
    write(this.title, `Position ${position + 1} at step ${step.step}`);
    write(this.state, `${log.canvases.size > 1 ? `Canvas ${step.canvas + 1}. ` : ""}${meaningOf(state, step)}`);
    this.#paintRows(step, position, step.sampled[position]);
    const list = (/** @type {number[]} */ steps) => (steps.length === 0 ? "never" : steps.length > 4 ? `${steps.length} times` : `step ${steps.join(", ")}`);
    this.#pairs([
      ["sampled", visible(log.text(step.sampled[position])), true],
      ["fed to the next step", visible(log.text(step.canvas_ids[position])), true],
      ["entropy", `${number(step.entropy[position], 3)} nats`],
      ...reasons(log.started?.recipe.sampler, step, position, { rank, of: order.length, spent }),
      ["first accepted", history.first === null ? "not yet" : `step ${history.first}`],
      ["revised", list(history.revised)],
      ["released", list(history.released)],
    ]);
    this.budget.paint(log, step, position); // with the title: what is tried there is tried of this step
    return () => {
      this.history.paintSteps(canvas, step, position);
      this.stop.paint(log, step);
    };
  }

  /**
   * @param {Token} token
   * @param {number} last
   * @returns {Paint}
   */
  #paintToken(token, last) {
    const { log } = this.lane.player;
    write(this.title, `Token ${token.index + 1}`);
    write(this.state, token.temperature === 0 ? "The most probable token, written once and never taken back." : "Sampled once and never taken back.");
    this.#paintRows(token, 0, token.id);
    this.#pairs([
      ["sampled", visible(log.text(token.id)), true],
      ["entropy", `${number(token.entropy, 3)} nats`],
      ["logprob", number(token.logprob, 3)],
      ["probability", number(Math.exp(token.logprob), 3)],
    ]);
    this.budget.hide();
    this.stop.hide();
    return () => this.history.paintTokens(Array.from(log.tokens), token, last); // gaps become undefined
  }

  /**
   * @param {Step | Token} event
   * @param {number} position
   * @param {number} sampled
   */
  #paintRows(event, position, sampled) {
    const { log } = this.lane.player;
    const rows = at(event, position).slice(0, ROWS);
    const place = event.type === "step" ? `${event.canvas} ${position}` : `token ${event.index}`;
    this.rows.classList.toggle("waiting", rows.length === 0);
    this.rows.classList.toggle("other", rows.length === 0 && place !== this.listed); // never the alternatives of another position
    if (rows.length) (this.listed = place), renew(this.rows, ...rows.map((row) => rowOf(row, log.text(row.id), row.id === sampled)));
    if (event.top_ids || log.recording) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => complete(log, event).then(() => event.top_ids && this.repaint()), FETCH_AFTER_MS);
  }

  /** @param {[string, string, boolean?][]} pairs name, value, whether the value is a piece of text */
  #pairs(pairs) {
    renew(this.facts, ...pairs.map(([name, value, piece]) => h("div", {}, h("dt", {}, name), h(piece ? "dd.token" : "dd", {}, value))));
  }
}
