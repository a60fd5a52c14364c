// @ts-check
/** A lane: one run in one mode. Head with the facts, the text, the player. Everything it shows is log + cursor. */

/** @import { Frame } from "../run/log.js" */
/** @import { Pace } from "../live/pace.js" */
/** @import { View } from "../run/states.js" */
import { CanvasText } from "./canvas.js";
import { endOfCanvas } from "./edges.js";
import { h, write } from "../parts/element.js";
import { Facts } from "./facts.js";
import { KeptHeight } from "../parts/height.js";
import { Legend } from "./legend.js";
import { RunLog } from "../run/log.js";
import { PlayerBar } from "./playerbar.js";
import { Player } from "./player.js";
import { readingWords, showThumbnails, textOf } from "../run/prompts.js";
import { soon } from "../parts/painter.js";
import { apart } from "./thoughts.js";
import { viewOf } from "../run/states.js";

const TITLES = { diffusion: "Diffusion", autoregressive: "Autoregressive" };

/** How long a newly accepted token settles in. */
const SETTLE_MS = 120;

/** A shorter step leaves no moment to look at it then. */
const UNHURRIED_MS = 200;

export class Lane extends EventTarget {
  /**
   * @param {"diffusion" | "autoregressive"} mode
   * @param {Pace} pace
   * @param {{name?: string, title?: string}} [options] name: what the page's styles call it
   */
  constructor(mode, pace, { name = mode, title = TITLES[mode] } = {}) {
    super();
    this.mode = mode;
    this.title = title;
    this.pace = pace;
    this.player = new Player(new RunLog());
    this.player.speed = pace.stepsPerSecond;
    this.facts = new Facts(mode);
    this.legend = mode === "diffusion" ? new Legend() : null;
    this.bar = new PlayerBar(this.player, pace);
    this.status = h("span.lane-status");
    this.message = h("p.lane-message");
    this.message.hidden = true;
    this.pictures = h("div.lane-pictures");
    this.text = h("div.lane-text", { tabindex: "0", role: "group", "aria-label": `${title}: text of the canvas. Arrow keys choose a position, with shift a span.` });
    this.caret = h("span.caret", { "aria-hidden": "true" });
    this.element = h(
      "section.lane.card",
      { "data-mode": name, "data-kind": mode, "aria-label": title },
      h("header.lane-head", {}, h("h2", {}, title), this.facts.element, this.status),
      this.message,
      this.pictures,
      this.text,
      ...(this.legend ? [this.legend.element] : []),
      this.bar.element,
    );
    /** @type {Map<number, CanvasText>} */
    this.texts = new Map();
    /** @type {Map<number, HTMLElement>} */
    this.edges = new Map();
    /** @type {{canvas: number, position: number, to?: number}} */
    this.selection = { canvas: 0, position: -1 };
    /** Whether another clock than the player's own moves it. */
    this.driven = false;
    this.reading = false;
    this.forward = true;
    this.legend?.addEventListener("noise", () => this.repaint());
    pace.addEventListener("change", () => (this.player.speed = pace.stepsPerSecond));
    this.height = new KeptHeight(this.text);
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.#listen();
    this.#attach();
  }

  #listen() {
    /** @param {PointerEvent} event @returns {{canvas: number, position: number} | null} */
    const under = (event) => {
      const mark = /** @type {HTMLElement} */ (event.target).closest("[data-p]");
      const canvas = mark?.closest("[data-canvas]");
      if (!mark || !canvas) return null;
      return { canvas: Number(/** @type {HTMLElement} */ (canvas).dataset.canvas), position: Number(/** @type {HTMLElement} */ (mark).dataset.p) };
    };
    /** @param {string} how @param {object | null} detail */
    const tell = (how, detail) => this.dispatchEvent(new CustomEvent(how, { detail }));
    this.text.addEventListener("click", (/** @type {any} */ event) => under(event) && tell("choose", { ...under(event), extend: event.shiftKey }));
    this.text.addEventListener("mousedown", (/** @type {MouseEvent} */ event) => event.shiftKey && event.preventDefault());
    this.text.addEventListener("pointerover", (/** @type {any} */ event) => event.pointerType === "mouse" && under(event) && tell("hover", under(event))); // not the spaces between
    this.text.addEventListener("pointerleave", (/** @type {any} */ event) => event.pointerType === "mouse" && tell("hover", null));
  }

  /**
   * Shows another run.
   * @param {RunLog} log
   * @param {string} [sentence] what it is
   */
  show(log, sentence) {
    this.player = new Player(log);
    this.player.speed = this.pace.stepsPerSecond;
    this.texts.clear();
    this.edges.clear();
    this.text.replaceChildren();
    this.height.free();
    const prompt = textOf(log.started?.recipe.messages.at(-1)?.content);
    showThumbnails(this.pictures, log.started);
    this.say(sentence ?? (log.recording ? `A recording: “${prompt}” Write a prompt of your own and press Run.` : ""));
    if (log.error) this.say(log.error.message, "error");
    this.bar.show(this.player);
    this.#attach();
    this.dispatchEvent(new CustomEvent("run"));
    this.repaint();
  }

  #attach() {
    const { player } = this;
    player.addEventListener("move", (/** @type {any} */ event) => {
      this.forward = event.detail.forward;
      this.repaint();
    });
    player.addEventListener("state", () => {
      this.bar.paintState();
      this.dispatchEvent(new CustomEvent("state"));
    });
    player.addEventListener("end", () => this.dispatchEvent(new CustomEvent("end")));
    player.log.addEventListener("event", (/** @type {any} */ event) => {
      if (event.detail.type === "error") this.say(event.detail.message, "error");
      if (event.detail.type === "run_started") showThumbnails(this.pictures, event.detail);
      this.#reading(event.detail);
      this.repaint();
      this.dispatchEvent(new CustomEvent("state"));
    });
  }

  /**
   * A sentence in the lane: what went wrong, or what it waits for.
   * @param {string} sentence
   * @param {"error" | "note"} [kind]
   * @param {...HTMLElement} actions what can be done about it
   */
  say(sentence, kind = "note", ...actions) {
    this.message.replaceChildren(sentence, ...actions);
    this.message.dataset.kind = kind;
    this.message.setAttribute("role", kind === "error" ? "alert" : "status");
    this.message.hidden = !sentence;
  }

  /** @param {import("../run/wire.js").RunEvent} event */
  #reading(event) {
    if (this.reading && event.type !== "error") this.say("");
    this.reading = event.type === "prefill" && this.player.log.frames.length === 0;
    if (event.type === "prefill" && this.reading) this.say(readingWords(event));
  }

  /** Paints with the next animation frame. */
  repaint() {
    soon(this, () => this.paint(), true);
  }

  paint() {
    const { log, frame } = this.player;
    if (log.run && this.element.dataset.run !== log.run) this.element.dataset.run = log.run;
    this.#settle();
    this.facts.paint(log, frame);
    this.height.keep();
    if (frame?.event.type === "token") this.#paintTokens(frame.event.index);
    else if (frame) this.#paintCanvases(frame);
    else this.text.replaceChildren();
    this.#paintStatus();
    soon(this.bar, () => this.bar.paint());
    this.dispatchEvent(new CustomEvent("paint"));
  }

  /** Lets newly accepted tokens settle in, where a step is seen for long enough; sooner they would only be painted twice. */
  #settle() {
    const { playing, speed, frame } = this.player;
    const unhurried = !this.driven && speed !== null && 1000 / speed >= UNHURRIED_MS;
    const settles = playing && this.forward && unhurried && !this.still.matches && frame?.kind === "step";
    if (settles && frame.seq === this.settled) return;
    this.settled = frame?.seq;
    clearTimeout(this.timer);
    this.text.classList.toggle("settling", settles);
    if (settles) this.timer = setTimeout(() => this.text.classList.remove("settling"), SETTLE_MS);
  }

  /** @param {Frame} now */
  #paintCanvases(now) {
    const { log } = this.player;
    const shown = [];
    for (let index = 0; index <= now.canvas; index += 1) {
      const committed = log.canvas(index).committed;
      const text = this.#text(index);
      if (index < now.canvas) {
        if (!committed) continue;
        const settled = { kind: /** @type {const} */ ("commit"), seq: committed.seq, canvas: index, event: committed };
        this.#paintText(text, viewOf(log, settled, { settled: true }), `settled ${committed.seq}`);
        shown.push(text.element, this.#edge(index, endOfCanvas(committed)));
      } else {
        const noise = this.legend?.noise ?? false;
        const before = now.event.type === "step" ? log.canvas(index).steps[now.event.step - 1]?.seq : "";
        this.#paintText(text, viewOf(log, now, { noise }), `${now.seq} ${noise} ${before}`);
        shown.push(text.element);
        if (committed && now.kind === "commit") shown.push(this.#edge(index, endOfCanvas(committed)));
        else if (log.finished && this.player.atEnd) shown.push(this.#edge(index, `canvas ${index + 1} not committed · ${log.error ? "the run failed" : "cancelled"}`));
      }
      text.element.dataset.open = String(index === now.canvas && now.kind !== "commit");
    }
    this.#place(shown);
  }

  /** @param {number} last */
  #paintTokens(last) {
    const { log } = this.player;
    const tokens = Array.from(log.tokens).slice(0, last + 1); // gaps become undefined
    const endIds = new Set(log.started?.end_ids ?? []);
    const ids = tokens.map((token) => token?.id ?? -1);
    const ended = endIds.has(ids[ids.length - 1]);
    /** @type {View} */
    const view = {
      ids,
      states: ids.map((_, index) => (index === last && !log.finished ? "new" : "committed")),
      entropy: tokens.map((token) => token?.entropy ?? 0),
      tail: ids.length - Number(ended),
      folded: Number(ended),
      tailAccepted: Number(ended),
    };
    const text = this.#text(-1);
    this.#paintText(text, view, `${log.frames[this.player.index].seq} ${log.gapless} ${Boolean(log.finished)}`);
    this.#place(ended ? [text.element] : [text.element, this.caret]);
  }

  /** @param {number} index */
  #text(index) {
    let text = this.texts.get(index);
    if (!text) {
      text = new CanvasText(index);
      this.texts.set(index, text);
      if (this.selection.canvas === index) text.select(this.selection.position, this.selection.to);
    }
    return text;
  }

  /**
   * @param {CanvasText} text
   * @param {View} view
   * @param {string} key what the view depends on
   */
  #paintText(text, view, key) {
    if (text.painted === key) return;
    text.painted = key;
    const { log } = this.player;
    const { thought, isMarker } = apart(log, text.index, view);
    text.paint(thought ? { ...view, thought } : view, (id, position) => (isMarker(position) ? "" : log.text(id)));
  }

  /**
   * @param {number} index
   * @param {string} words
   */
  #edge(index, words) {
    const edge = this.edges.get(index) ?? /** @type {HTMLElement} */ (h("span.canvas-edge", {}, h("span")));
    this.edges.set(index, edge);
    write(/** @type {HTMLElement} */ (edge.firstElementChild), words);
    return edge;
  }

  /** @param {HTMLElement[]} elements */
  #place(elements) {
    const current = this.text.children;
    if (current.length === elements.length && elements.every((element, at) => current[at] === element)) return;
    this.text.replaceChildren(...elements);
  }

  /** Forgets the height, for another width of the page. */
  release() {
    this.height.free();
    this.repaint();
  }

  #paintStatus() {
    const { log } = this.player;
    const last = log.frames[log.live ? log.frames.length - 1 : this.player.index];
    const spent = last && "device_ms" in last.event ? last.event.device_ms ?? 0 : null;
    const clock = spent === null ? "" : `${(spent / 1000).toFixed(2)} s on the device`;
    write(this.status, clock);
  }

  /**
   * Marks the position that is inspected, or a span.
   * @param {{canvas: number, position: number, to?: number}} selection
   */
  select(selection) {
    this.selection = selection;
    for (const [index, text] of this.texts) text.select(index === selection.canvas ? selection.position : -1, selection.to);
  }
}
