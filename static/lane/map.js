// @ts-check
/** The acceptance map: positions across, steps down, the whole canvas at once. The present step is a frame; a click goes there. */

/** @import { Lane } from "./lane.js" */
/** @import { Step } from "../run/wire.js" */
import { h, write } from "../parts/element.js";
import { barOf, statesOf } from "../run/states.js";
import { soon } from "../parts/painter.js";
import { palette } from "../parts/theme.js";

const TALLEST_ROW = 8;
const SHORTEST_ROW = 2;
const HEIGHT = 176;
/** So many rows are kept free for a run that goes on, so that the page does not grow with each step. */
const LEAST_ROWS = HEIGHT / TALLEST_ROW;
const FUTURE = 0.3;

export class AcceptanceMap {
  /** @param {Lane} lane */
  constructor(lane) {
    this.lane = lane;
    this.by = "state";
    this.surface = h("canvas", { role: "img" });
    this.field = h("div.map-field", {}, this.surface);
    this.layer = document.createElement("canvas");
    this.drawn = "";
    this.rows = 0;
    /** Height of a row in pixels. */
    this.row = TALLEST_ROW;
    this.width = 0;
    this.switch = h("button.chip.small", { type: "button", "aria-pressed": "false", title: "Colour by entropy instead of by state", onclick: () => this.#flip() }, "By entropy");
    this.title = h("h3", {}, "Acceptance map");
    this.element = h(
      "section.card.map",
      {},
      h("header.card-head", {}, this.title, h("span.hint", {}, "positions across, steps down"), this.switch),
      this.field,
    );
    this.surface.addEventListener("click", (/** @type {MouseEvent} */ event) => this.#go(event));
    new ResizeObserver(() => {
      this.width = this.surface.clientWidth;
      this.paint();
    }).observe(this.surface);
    lane.addEventListener("paint", () => soon(this, () => this.paint()));
  }

  /** @param {"state" | "entropy"} by */
  choose(by) {
    if (by !== this.by) this.#flip();
  }

  #flip() {
    this.by = this.by === "state" ? "entropy" : "state";
    this.switch.setAttribute("aria-pressed", String(this.by === "entropy"));
    this.repaint();
    this.lane.dispatchEvent(new CustomEvent("state"));
  }

  /** Draws everything anew, for other colours. */
  repaint() {
    this.drawn = "";
    this.paint();
  }

  get canvas() {
    return Math.max(this.lane.player.frame?.canvas ?? 0, 0);
  }

  /** @param {MouseEvent} event */
  #go(event) {
    const { log } = this.lane.player;
    const box = this.surface.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / this.row);
    const position = Math.floor(((event.clientX - box.left) / box.width) * (log.started?.canvas_length ?? 1));
    const steps = log.canvas(this.canvas).steps;
    const step = steps[Math.min(row + 1, steps.length - 1)];
    if (!step) return;
    this.lane.dispatchEvent(new CustomEvent("choose", { detail: { canvas: this.canvas, position } }));
    this.lane.player.seek(log.frameAt(step.seq));
  }

  paint() {
    const { log, frame } = this.lane.player;
    const length = log.started?.canvas_length;
    this.element.hidden = !length;
    if (!length || !this.width) return;
    const steps = log.canvas(this.canvas).steps;
    const count = Math.max(steps.length - 1, 1);
    const most = Math.max(...[...log.canvases.values()].map((canvas) => canvas.steps.length - 1), 1); // one height for all canvases
    const room = Math.max(most, log.live ? Math.min(LEAST_ROWS, log.started?.recipe.sampler.max_denoising_steps ?? LEAST_ROWS) : 1);
    this.row = Math.max(SHORTEST_ROW, Math.min(TALLEST_ROW, Math.floor(HEIGHT / room)));
    const ratio = window.devicePixelRatio || 1;
    const height = room * this.row + 1;
    const key = [log.run, this.canvas, this.row, this.width, ratio, this.by, log.live].join();
    if (this.drawn !== key || this.surface.height !== Math.round(height * ratio)) {
      this.drawn = key;
      this.rows = 0;
      for (const canvas of [this.surface, this.layer]) {
        canvas.width = Math.round(this.width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      this.surface.style.height = `${height}px`;
    }
    this.#drawRows(steps, length, ratio);
    const now = frame?.event.type === "step" ? frame.event.step : frame?.kind === "commit" ? count : 0;
    this.#compose(now, ratio);
    write(this.title, log.canvases.size > 1 ? `Acceptance map of canvas ${this.canvas + 1}` : "Acceptance map");
    this.surface.setAttribute("aria-label", `Acceptance map of canvas ${this.canvas + 1}: ${count} steps, now at step ${now}`);
  }

  /**
   * Adds the rows that are new to the layer; a row waits for the one before it.
   * @param {(Step | undefined)[]} steps
   * @param {number} length
   * @param {number} ratio
   */
  #drawRows(steps, length, ratio) {
    const draw = this.layer.getContext("2d");
    if (!draw) return;
    const colours = palette();
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    const wide = this.width / length;
    const gapX = wide > 4 ? 1 : 0;
    const gapY = this.row > 3 ? 1 : 0;
    const canvas = this.lane.player.log.canvas(this.canvas);
    while (steps[this.rows + 1]) {
      const step = /** @type {Step} */ (steps[this.rows + 1]);
      const states = statesOf(canvas, step);
      const y = this.rows * this.row;
      for (let position = 0; position < length; position += 1) {
        const state = states[position];
        const x = position * wide;
        const box = /** @type {const} */ ([x, y, wide - gapX, this.row - gapY]);
        if (this.by === "entropy") {
          this.#fill(draw, colours.line, 0.5, box);
          this.#fill(draw, colours.accent, barOf(step.entropy[position]), box);
          continue;
        }
        if (state === "draft" || state === "released") this.#fill(draw, colours.draft, 0.12 + 0.4 * barOf(step.entropy[position]), box);
        else if (state === "new") this.#fill(draw, colours.accent, 1, box);
        else if (state === "pinned") this.#fill(draw, colours.ink, 0.62, box);
        else if (state === "revised") this.#fill(draw, colours.amber, 1, box);
        else this.#fill(draw, colours.accent, 0.3, box);
        if (state === "released") this.#fill(draw, colours.ink, 1, [x, y + (this.row - gapY) / 2 - 0.5, wide - gapX, 1]);
        if (state === "revised" && this.row > 4) this.#fill(draw, colours.card, 1, [x + (wide - gapX) / 2 - 1, y + (this.row - gapY) / 2 - 1, 2, 2]);
      }
      this.rows += 1;
    }
  }

  /**
   * @param {CanvasRenderingContext2D} draw
   * @param {string} colour
   * @param {number} alpha
   * @param {readonly [number, number, number, number]} box
   */
  #fill(draw, colour, alpha, box) {
    draw.globalAlpha = alpha;
    draw.fillStyle = colour;
    draw.fillRect(...box);
    draw.globalAlpha = 1;
  }

  /**
   * @param {number} now the step looked at; 0 before the first
   * @param {number} ratio
   */
  #compose(now, ratio) {
    const draw = this.surface.getContext("2d");
    if (!draw) return;
    const { width, height } = this.surface;
    draw.setTransform(1, 0, 0, 1, 0, 0);
    draw.clearRect(0, 0, width, height);
    const split = Math.min(Math.round(now * this.row * ratio), height);
    if (split > 0) draw.drawImage(this.layer, 0, 0, width, split, 0, 0, width, split);
    if (split < height) {
      draw.globalAlpha = FUTURE;
      draw.drawImage(this.layer, 0, split, width, height - split, 0, split, width, height - split);
      draw.globalAlpha = 1;
    }
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    const colours = palette();
    const { position } = this.lane.selection;
    const length = this.lane.player.log.started?.canvas_length ?? 1;
    if (position >= 0) {
      draw.fillStyle = colours.ink;
      draw.globalAlpha = 0.1;
      draw.fillRect((position * this.width) / length, 0, this.width / length, this.rows * this.row);
      draw.globalAlpha = 1;
    }
    if (now > 0) {
      draw.strokeStyle = colours.ink;
      draw.lineWidth = 1.5;
      draw.strokeRect(0.75, (now - 1) * this.row - 0.25, this.width - 1.5, this.row + 0.5);
    }
  }
}
