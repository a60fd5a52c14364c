// @ts-check
/**
 * Following: the page shows what the teacher's shows. The same lanes, players and logs as ever; only that the cursor is
 * moved by the room instead of by the clock or by hand.
 */

/** @import { Controls } from "../prompt/controls.js" */
/** @import { Inspector } from "../inspector/inspector.js" */
/** @import { Lane } from "../lane/lane.js" */
/** @import { AcceptanceMap } from "../lane/map.js" */
/** @import { Past } from "../files/past.js" */
/** @import { Show } from "./room.js" */
/** @import { Socket } from "../live/socket.js" */
import { RunLog } from "../run/log.js";
import { introduce } from "../live/introduction.js";
import { isRecording, read } from "../live/recording.js";
import { textOf } from "../run/prompts.js";

/** @typedef {"diffusion" | "autoregressive"} Mode */

const FILE = "The teacher shows a recording that only the teacher's page has.";

export class Follow extends EventTarget {
  /** @param {{controls: Controls, lanes: Record<Mode, Lane>, inspector: Inspector, map: AcceptanceMap, past: Past, socket: Socket, recordings: Record<string, string>}} parts */
  constructor({ controls, lanes, inspector, map, past, socket, recordings }) {
    super();
    this.controls = controls;
    this.lanes = lanes;
    this.inspector = inspector;
    this.map = map;
    this.past = past;
    this.socket = socket;
    this.recordings = recordings;
    this.on = false;
    /** Whether what changes right now is changed by the room. */
    this.applying = false;
    /** @type {Show | null} */
    this.show = null;
    /** The run that each lane was given, which may still be on its way. @type {Partial<Record<Mode, string>>} */
    this.given = {};
    this.chosen = "";
    const mine = () => this.on && !this.applying && this.dispatchEvent(new CustomEvent("out"));
    for (const lane of Object.values(lanes)) {
      lane.addEventListener("run", mine);
      lane.addEventListener("state", () => this.#place(lane.mode)); // the event that the teacher looks at may have come
    }
    controls.addEventListener("change", (/** @type {any} */ event) => event.detail.name === "mode" && mine());
  }

  /**
   * Begins to follow, or lets the person's own hands have the page again.
   * @param {boolean} on
   */
  turn(on) {
    if (on === this.on) return;
    this.on = on;
    for (const lane of Object.values(this.lanes)) lane.bar.element.inert = on;
    this.map.surface.inert = on;
    if (on) Object.assign(this, { given: {}, chosen: "" });
    if (on && this.show) this.apply(this.show);
  }

  /**
   * What the teacher shows by now.
   * @param {Show} show
   */
  apply(show) {
    this.show = show;
    if (this.on) this.put(show);
  }

  /**
   * Puts on the page what the teacher shows: also where the teacher's own page comes back after a reload.
   * @param {Show} show
   */
  put(show) {
    const { controls, lanes, inspector } = this;
    this.applying = true;
    if (controls.settings.mode !== show.mode) controls.switchTo(show.mode);
    for (const mode of /** @type {Mode[]} */ (Object.keys(show.runs))) this.#show(mode, show.runs[mode]);
    this.applying = false;
    for (const mode of /** @type {Mode[]} */ (Object.keys(show.runs))) this.#place(mode);
    if (lanes.diffusion.legend?.noise !== show.noise) lanes.diffusion.legend?.choose(show.noise);
    const chosen = JSON.stringify(show.chosen);
    if (chosen === this.chosen || !show.chosen) return;
    this.chosen = chosen;
    const { canvas, position } = show.chosen;
    inspector.chosen = { canvas: canvas < 0 ? null : canvas, position, anchor: position };
    inspector.repaint();
  }

  /**
   * @param {Mode} mode
   * @param {string} run
   */
  #show(mode, run) {
    const lane = this.lanes[mode];
    if (this.given[mode] === run) return;
    this.given[mode] = run;
    if (lane.player.log.run === run) return lane.player.pause();
    const known = this.past.find(run);
    const log = known ?? new RunLog();
    lane.show(log, "");
    lane.player.pause();
    if (known) return void this.#name(lane, log);
    const arrived = () => {
      if (!log.started || (log.frames.length === 0 && !log.finished)) return;
      log.removeEventListener("event", arrived);
      void this.#name(lane, log);
    };
    log.addEventListener("event", arrived);
    this.socket.watch(run, log, () => void this.#bundled(mode, run));
  }

  /**
   * Says what was asked, which is in no prompt of this page; a recording is called one.
   * @param {Lane} lane
   * @param {RunLog} log
   */
  async #name(lane, log) {
    if (!log.started || log.error) return;
    const mine = () => this.on && lane.player.log === log;
    if (!log.recording && !log.gallery) {
      if (mine()) lane.say(`The prompt: “${textOf(log.started.recipe.messages.at(-1)?.content)}”`);
      log.gallery = await isRecording(log.run ?? "");
      if (!log.gallery) return;
    }
    if (!mine()) return;
    lane.say(introduce(log, null));
    lane.dispatchEvent(new CustomEvent("end"));
  }

  /**
   * The server does not know the run: it may be a recording that came with the page.
   * @param {Mode} mode
   * @param {string} run
   */
  async #bundled(mode, run) {
    const lane = this.lanes[mode];
    for (const path of Object.values(this.recordings)) {
      const log = await read(path).catch(() => null);
      if (log?.run !== run || this.given[mode] !== run) continue;
      log.bundled = true;
      this.applying = true;
      lane.show(log, introduce(log, null));
      this.applying = false;
      lane.player.seek(log.frameAt(this.show?.at[mode] ?? -1));
      return;
    }
    if (this.given[mode] === run) lane.say(FILE);
  }

  /** @param {Mode} mode */
  #place(mode) {
    const at = this.show?.at[mode];
    const { player } = this.lanes[mode];
    if (!this.on || at === undefined || this.show?.runs[mode] !== this.given[mode]) return;
    player.drive(player.log.frameAt(at));
  }
}
