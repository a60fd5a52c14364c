// @ts-check
/** The teacher's side of a room: what the page shows, gathered and sent when it changes. */

/** @import { Controls } from "../prompt/controls.js" */
/** @import { Inspector } from "../inspector/inspector.js" */
/** @import { Lane } from "../lane/lane.js" */
/** @import { Room, Show } from "./room.js" */

/** At most one message in this time; the last change always goes out. */
const EVERY_MS = 60;

export class Lead {
  /** @param {{room: Room, controls: Controls, lanes: Record<"diffusion" | "autoregressive", Lane>, inspector: Inspector}} parts */
  constructor({ room, controls, lanes, inspector }) {
    this.room = room;
    this.controls = controls;
    this.lanes = lanes;
    this.inspector = inspector;
    this.on = false;
    /** Runs that come back after a reload and have not arrived yet: until then nothing is said. @type {Set<import("../run/log.js").RunLog>} */
    this.awaited = new Set();
    /** Whether another device of the teacher's leads; until somebody touches this one. */
    this.passive = false;
    this.sent = "";
    this.sentAt = -Infinity;
    const soon = () => this.#soon();
    for (const lane of Object.values(lanes)) for (const name of ["paint", "state", "run", "choose"]) lane.addEventListener(name, soon);
    controls.addEventListener("change", soon);
    for (const name of ["click", "keyup"]) document.addEventListener(name, soon); // the inspector may have moved
    for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, () => (this.passive = false), true);
    room.socket.addEventListener("connection", () => {
      this.sent = "";
      soon();
    });
  }

  /** @param {boolean} on */
  turn(on) {
    if (on === this.on) return;
    this.on = on;
    this.sent = "";
    this.#soon();
  }

  /** @returns {Show} */
  gather() {
    const { controls, lanes, inspector } = this;
    /** @type {Show} */
    const show = { mode: controls.settings.mode, runs: {}, at: {}, playing: false, chosen: null, noise: lanes.diffusion.legend?.noise ?? false };
    for (const mode of controls.modes) {
      const { log, cursor, playing } = lanes[mode].player;
      if (!log.run) continue;
      show.runs[mode] = log.run;
      show.at[mode] = cursor;
      show.playing ||= playing;
    }
    const { canvas, position } = inspector.chosen;
    show.chosen = { canvas: canvas ?? -1, position };
    return show;
  }

  #soon() {
    if (!this.on || this.timer !== undefined) return;
    this.timer = setTimeout(() => this.#send(), Math.max(0, this.sentAt + EVERY_MS - performance.now()));
  }

  #send() {
    this.timer = undefined;
    if (!this.on || !this.room.teaching) return;
    if (this.controls.modes.some((mode) => this.awaited.has(this.lanes[mode].player.log) && !this.lanes[mode].player.log.started)) return;
    const show = this.gather();
    const said = JSON.stringify(show);
    if (this.passive) this.sent = said;
    if (said === this.sent) return;
    this.sentAt = performance.now();
    if (this.room.say({ type: "lead", show })) this.sent = said;
  }
}
