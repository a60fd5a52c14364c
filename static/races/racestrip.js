// @ts-check
/** The strip of a race: for each run its passes along the device's time, its commits as full blocks. It is the scrubber. */

/** @import { Track } from "../run/race.js" */
import { h, number } from "../parts/element.js";
import { palette } from "../parts/theme.js";

const GAP = 6;

export class RaceStrip {
  /** @param {(ms: number) => void} seek */
  constructor(seek) {
    /** @type {Track[]} */
    this.tracks = [];
    this.length = 1;
    this.ms = 0;
    this.surface = h("canvas", { "aria-hidden": "true" });
    this.element = h("div.timeline", { role: "slider", tabindex: "0", "aria-label": "Device time of the race", "aria-valuemin": "0", title: "Every forward pass of both runs on one clock. Drag to look at any moment." }, this.surface);
    let held = false;
    const go = (/** @type {PointerEvent} */ event) => {
      const box = this.element.getBoundingClientRect();
      seek(((event.clientX - box.left) / box.width) * this.length);
    };
    this.element.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      held = true;
      this.element.setPointerCapture(event.pointerId);
      go(event);
    });
    this.element.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => held && go(event));
    for (const name of ["pointerup", "pointercancel"]) this.element.addEventListener(name, () => (held = false));
    this.width = 0;
    this.height = 0;
    new ResizeObserver(() => {
      this.width = this.element.clientWidth; // asked for here: in `paint` it would have all be laid out in mid-frame
      this.height = this.element.clientHeight;
      this.paint(this.ms);
    }).observe(this.element);
  }

  /**
   * @param {Track[]} tracks
   * @param {number} length
   */
  show(tracks, length) {
    this.tracks = tracks;
    this.length = Math.max(length, 1e-9);
    this.element.setAttribute("aria-valuemax", number(length / 1000, 3));
  }

  /** @param {number} ms */
  paint(ms) {
    this.ms = ms;
    this.element.setAttribute("aria-valuenow", (ms / 1000).toFixed(3));
    this.element.setAttribute("aria-valuetext", `${number(ms / 1000, 3)} seconds`);
    const { width, height } = this;
    if (!width || !this.tracks.length) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.surface.width !== Math.round(width * ratio) || this.surface.height !== Math.round(height * ratio)) {
      this.surface.width = Math.round(width * ratio);
      this.surface.height = Math.round(height * ratio);
    }
    const draw = this.surface.getContext("2d");
    const colours = palette();
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.clearRect(0, 0, width, height);
    const row = (height - GAP * 3) / this.tracks.length;
    const x = (/** @type {number} */ at) => (at / this.length) * (width - 2);
    this.tracks.forEach((track, at) => {
      const top = GAP + at * (row + GAP);
      draw.fillStyle = colours.line;
      draw.fillRect(0, top + row - 1, x(track.end), 1);
      track.log.frames.forEach(({ kind }, frame) => {
        if (kind === "noise") return;
        const time = track.times[frame];
        const past = time <= ms;
        const whole = kind === "commit" || kind === "token";
        draw.fillStyle = past ? (whole ? colours.accent : colours.draft) : colours.line;
        const wide = kind === "commit" ? 4 : 2;
        draw.fillRect(Math.max(x(time) - wide, 0), whole ? top : top + row * 0.45, wide, whole ? row : row * 0.55);
      });
      draw.fillStyle = colours.muted;
      draw.fillRect(x(track.end), top - 2, 1, row + 4);
    });
    draw.fillStyle = colours.ink;
    draw.fillRect(Math.min(x(ms), width - 2), 0, 2, height);
  }
}
