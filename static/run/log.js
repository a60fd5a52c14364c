// @ts-check
/**
 * What is known of one run: its events in order of `seq`, however they came.
 * Live runs and recordings fill it the same way; whatever the page shows is derived from it and a cursor.
 */

/** @import { RunEvent, RunStarted, CanvasStarted, Step, Token, CanvasCommitted, RunFinished, RunError } from "./wire.js" */

/**
 * A frame is a moment that can be looked at.
 * @typedef {object} Frame
 * @property {"noise" | "step" | "commit" | "token"} kind
 * @property {number} seq
 * @property {number} canvas  −1 for tokens
 * @property {RunEvent} event
 *
 * @typedef {object} CanvasOfRun
 * @property {CanvasStarted | null} started
 * @property {(Step | undefined)[]} steps  by step number, so entry 0 is empty
 * @property {CanvasCommitted | null} committed
 */

const FRAME_KINDS = { canvas_started: "noise", step: "step", canvas_committed: "commit", token: "token" };

export class RunLog extends EventTarget {
  /** @param {{recording?: boolean, server?: boolean}} [options] server: whether the server knows the run by its id */
  constructor({ recording = false, server = !recording } = {}) {
    super();
    this.recording = recording;
    this.server = server;
    /** Whether it came with the page and stands for nobody's run. */
    this.bundled = false;
    /** Whether the server has lost it before its end. */
    this.lost = false;
    /** Whether it was opened from a file and is kept in this browser. */
    this.shelved = false;
    /** Whether it is one of the server's recordings. */
    this.gallery = false;
    /** @type {Map<number, RunEvent>} */
    this.events = new Map();
    /** The last `seq` before the first gap. */
    this.gapless = -1;
    /** @type {Frame[]} */
    this.frames = [];
    /** @type {Map<number, CanvasOfRun>} */
    this.canvases = new Map();
    /** @type {(Token | undefined)[]} */
    this.tokens = [];
    /** @type {Map<number, string>} */
    this.texts = new Map();
    /** @type {RunStarted | null} */
    this.started = null;
    /** @type {RunFinished | null} */
    this.finished = null;
    /** @type {RunError | null} */
    this.error = null;
    this.steps = 0;
  }

  get run() {
    return this.started?.run ?? null;
  }

  get live() {
    return !this.recording && !this.finished && !this.lost;
  }

  /** Whether every event up to `run_finished` is here. */
  get whole() {
    return this.finished !== null && this.gapless >= this.finished.seq;
  }

  /**
   * Takes an event, unless it is known already; tells listeners of `event`.
   * @param {RunEvent} event
   */
  append(event) {
    const seq = event.seq;
    if (seq === undefined || seq === null || this.events.has(seq)) return;
    this.events.set(seq, event);
    while (this.events.has(this.gapless + 1)) this.gapless += 1;
    if ("texts" in event) {
      for (const [id, text] of Object.entries(event.texts)) this.texts.set(Number(id), text);
    }
    this.#file(event);
    this.dispatchEvent(new CustomEvent("event", { detail: event }));
  }

  /** @param {RunEvent} event */
  #file(event) {
    switch (event.type) {
      case "run_started":
        this.started = event;
        return;
      case "run_finished":
        this.finished = event;
        return;
      case "error":
        this.error = event;
        return;
      case "canvas_started":
        this.canvas(event.canvas).started = event;
        break;
      case "step":
        this.canvas(event.canvas).steps[event.step] = event;
        this.steps += 1;
        break;
      case "canvas_committed":
        this.canvas(event.canvas).committed = event;
        break;
      case "token":
        this.tokens[event.index] = event;
        break;
      default:
        return; // a later version may say more
    }
    this.#insert({
      kind: /** @type {Frame["kind"]} */ (FRAME_KINDS[event.type]),
      seq: event.seq,
      canvas: "canvas" in event ? event.canvas : -1,
      event,
    });
  }

  /** @param {Frame} frame */
  #insert(frame) {
    let at = this.frames.length;
    while (at > 0 && this.frames[at - 1].seq > frame.seq) at -= 1;
    this.frames.splice(at, 0, frame);
  }

  /**
   * Everything known of a canvas.
   * @param {number} index
   * @returns {CanvasOfRun}
   */
  canvas(index) {
    let canvas = this.canvases.get(index);
    if (!canvas) {
      canvas = { started: null, steps: [], committed: null };
      this.canvases.set(index, canvas);
    }
    return canvas;
  }

  /**
   * Index of the last frame at or before `seq`; −1 if there is none.
   * @param {number} seq
   */
  frameAt(seq) {
    let low = 0;
    let high = this.frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.frames[middle].seq <= seq) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /**
   * The piece of text of a token.
   * @param {number} id
   */
  text(id) {
    return this.texts.get(id) ?? "�";
  }

  /**
   * The steps there are, in order, each with its frame index: what a timeline shows.
   * @returns {{event: Step | Token, frame: number}[]}
   */
  passes() {
    const passes = [];
    for (let frame = 0; frame < this.frames.length; frame += 1) {
      const { kind, event } = this.frames[frame];
      if (kind === "step" || kind === "token") passes.push({ event: /** @type {Step | Token} */ (event), frame });
    }
    return passes;
  }
}
