// @ts-check
/** The timeline: the mean entropy of every step as bars, with the canvas edges, the edits and the cursor. It is the scrubber. */

/** @import { Player } from "./player.js" */
/** @import { Step, Token } from "../run/wire.js" */
import { h, number } from "../parts/element.js";
import { palette } from "../parts/theme.js";

const WIDEST_BAR = 14;
const LEAST_SLOTS = 24;

export class Timeline {
  /** @param {Player} player */
  constructor(player) {
    this.player = player;
    this.surface = h("canvas", { "aria-hidden": "true" });
    this.element = h(
      "div.timeline",
      { role: "slider", tabindex: "0", "aria-label": "Steps", "aria-valuemin": "0", title: "Mean entropy of each step. Drag to look at any step." },
      this.surface,
    );
    /** @type {{event: Step | Token, frame: number}[]} */
    this.passes = [];
    this.passesOf = -1;
    this.highest = 1e-9;
    let held = false;
    this.element.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      held = true;
      this.element.setPointerCapture(event.pointerId);
      this.#seek(event);
    });
    this.element.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => held && this.#seek(event));
    for (const name of ["pointerup", "pointercancel"]) this.element.addEventListener(name, () => (held = false));
    this.width = 0;
    this.height = 0;
    new ResizeObserver(() => {
      this.width = this.element.clientWidth;
      this.height = this.element.clientHeight;
      this.paint();
    }).observe(this.element);
  }

  /** @param {Player} player */
  show(player) {
    this.player = player;
    this.passesOf = -1;
    this.paint();
  }

  get slot() {
    const count = Math.max(this.passes.length, LEAST_SLOTS);
    return Math.min(this.width / count, WIDEST_BAR);
  }

  /** @param {PointerEvent} event */
  #seek(event) {
    if (!this.passes.length) return;
    const x = event.clientX - this.element.getBoundingClientRect().left;
    if (x < this.slot * 0.25) return this.player.home();
    const pass = Math.floor(x / this.slot);
    if (pass >= this.passes.length) this.player.end();
    else this.player.seek(this.passes[pass].frame);
  }

  #gather() {
    const frames = this.player.log.frames.length;
    if (frames === this.passesOf) return;
    this.passesOf = frames;
    this.passes = this.player.log.passes();
    this.highest = this.passes.reduce((most, { event }) => Math.max(most, entropyOf(event)), 1e-9);
  }

  paint() {
    const { width, height } = this;
    if (!width || !height) return;
    this.#gather();
    const ratio = window.devicePixelRatio || 1;
    if (this.surface.width !== Math.round(width * ratio) || this.surface.height !== Math.round(height * ratio)) {
      this.surface.width = Math.round(width * ratio);
      this.surface.height = Math.round(height * ratio);
    }
    const draw = this.surface.getContext("2d");
    const colours = palette();
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.clearRect(0, 0, width, height);
    const slot = this.slot;
    const gap = slot > 5 ? 3 : slot > 2 ? 1 : 0;
    const base = height - 8;
    const tallest = base - 6;
    const index = this.player.index;
    draw.fillStyle = colours.line;
    draw.fillRect(0, base, Math.max(width, 0), 1);
    let canvas = this.passes[0] && "canvas" in this.passes[0].event ? this.passes[0].event.canvas : -1;
    this.passes.forEach(({ event, frame }, pass) => {
      const x = pass * slot;
      if ("canvas" in event && event.canvas !== canvas) {
        canvas = event.canvas;
        draw.fillStyle = colours.muted;
        for (let y = 2; y < height - 2; y += 4) draw.fillRect(Math.round(x - gap / 2) - 0.5, y, 1, 2);
      }
      const tall = Math.max((entropyOf(event) / this.highest) * tallest, 1.5);
      draw.fillStyle = frame <= index ? colours.accent : colours["accent-faint"];
      draw.fillRect(x, base - tall, Math.max(slot - gap, 1), tall);
      if (event.edits?.length) {
        draw.fillStyle = colours.amber;
        draw.beginPath();
        draw.moveTo(x + (slot - gap) / 2 - 3.5, height);
        draw.lineTo(x + (slot - gap) / 2 + 3.5, height);
        draw.lineTo(x + (slot - gap) / 2, height - 5.5);
        draw.fill();
      }
    });
    if (index >= 0) {
      const x = this.#cursorX(index, slot, gap);
      draw.fillStyle = colours.ink;
      draw.fillRect(Math.min(Math.max(x - 1, 0), width - 2), 1, 2, height - 2);
    }
    this.#describe();
  }

  /**
   * @param {number} index
   * @param {number} slot
   * @param {number} gap
   */
  #cursorX(index, slot, gap) {
    let pass = -1;
    while (pass + 1 < this.passes.length && this.passes[pass + 1].frame <= index) pass += 1;
    const kind = this.player.log.frames[index].kind;
    if (kind === "noise") return (pass + 1) * slot - gap / 2;
    if (kind === "commit") return (pass + 1) * slot - gap / 2;
    return pass * slot + (slot - gap) / 2;
  }

  #describe() {
    const { frame, log, index } = this.player;
    this.element.setAttribute("aria-valuemax", String(Math.max(log.frames.length - 1, 0)));
    this.element.setAttribute("aria-valuenow", String(Math.max(index, 0)));
    this.element.setAttribute("aria-valuetext", frame ? frameName(frame) : "nothing yet");
  }
}

/** @param {Step | Token} event */
function entropyOf(event) {
  return event.type === "step" ? event.mean_entropy : event.entropy;
}

/**
 * A frame in words.
 * @param {import("../run/log.js").Frame} frame
 */
export function frameName({ event, kind, canvas }) {
  if (event.type === "step") return `canvas ${canvas + 1}, step ${event.step}, mean entropy ${number(event.mean_entropy, 3)}`;
  if (event.type === "token") return `token ${event.index + 1}, entropy ${number(event.entropy, 3)}`;
  return kind === "commit" ? `canvas ${canvas + 1} committed` : `canvas ${canvas + 1}, noise`;
}
