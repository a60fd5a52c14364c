// @ts-check
/** One press of Run: the runs it starts, one after the other, and how they are steered. */

/** @import { Controls } from "./controls.js" */
/** @import { Errors } from "./errors.js" */
/** @import { Fork } from "./editor.js" */
/** @import { Lane } from "./lane.js" */
/** @import { Pace } from "./pace.js" */
/** @import { LiveRun, Socket } from "./socket.js" */
/** @import { Recipe } from "./wire.js" */
import { RunLog } from "./log.js";
import { Refused } from "./socket.js";
import { Steering } from "./steering.js";
import { catchUp } from "./catchup.js";
import { keep } from "./control.js";
import { summaryOf } from "./recording.js";

/**
 * @typedef {"idle" | "starting" | "running" | "paused"} Phase
 * @typedef {{mode: "diffusion" | "autoregressive", recipe: Recipe, fork?: Fork}} Job
 */

/** A slider in motion sends at most one update in this time; the last value always goes out. */
const UPDATE_EVERY_MS = 60;

export class Session extends EventTarget {
  /** @param {{socket: Socket, controls: Controls, errors: Errors, pace: Pace, lanes: Record<"diffusion" | "autoregressive", Lane>}} parts */
  constructor({ socket, controls, errors, pace, lanes }) {
    super();
    this.socket = socket;
    this.controls = controls;
    this.errors = errors;
    this.pace = pace;
    this.lanes = lanes;
    /** @type {Phase} */
    this.phase = "idle";
    /** Counts presses of Run; an older one that is still busy gives up. */
    this.turn = 0;
    /** @type {LiveRun | null} */
    this.live = null;
    /** @type {Steering | null} */
    this.steering = null;
    /** Runs that are to end, until they have; a cancel that was lost on its way is sent again. @type {Set<LiveRun>} */
    this.leaving = new Set();
    /** What was pressed while there was no connection. @type {"pause" | "resume" | null} */
    this.wish = null;
    this.paceWaits = false;
    this.offline = false;
    pace.addEventListener("change", () => this.#pace());
    socket.addEventListener("connection", (/** @type {any} */ event) => this.#connection(event.detail));
    socket.addEventListener("gone", (/** @type {any} */ event) => this.#gone(event.detail));
  }

  /** @param {Phase} phase */
  #become(phase) {
    this.phase = phase;
    this.dispatchEvent(new CustomEvent("phase", { detail: phase }));
  }

  /** Starts what the controls say; what was going on ends. */
  run() {
    return this.start(this.controls.modes.map((mode) => ({ mode, recipe: this.controls.recipe(mode) })));
  }

  /**
   * Starts runs, one after the other, so that each has the device to itself; what was going on ends.
   * @param {Job[]} jobs
   */
  async start(jobs) {
    if (this.socket.state !== "open") {
      this.#sayOffline("Run again when it is back; it is being tried again.");
      return;
    }
    this.turn += 1;
    const turn = this.turn;
    this.errors.clearAll();
    this.errors.edits = jobs.some((job) => job.fork) ? "edits" : "start";
    this.#cancelLive();
    this.#become("starting");
    const logs = jobs.map(() => new RunLog());
    try {
      for (const [at, { mode, recipe, fork }] of jobs.entries()) {
        const lane = this.lanes[mode];
        const live = await this.socket.start(recipe, fork ? null : this.pace.stepsPerSecond, logs[at]);
        if (turn !== this.turn) {
          this.#end(live);
          return;
        }
        this.live = live;
        keep(live.run, live.token);
        // In a fork the parameters come from the recipe; only what is moved from now on is a change.
        const group = mode === "diffusion" ? "sampler" : "decoding";
        const values = /** @type {any} */ (recipe[group]);
        const shown = /** @type {any} */ (this.controls.settings[group]);
        this.#steeringOf(live, group, fork ? Object.fromEntries(Object.keys(values).map((name) => [name, shown[name]])) : values);
        if (at === 0) this.#showAll(jobs, logs);
        else lane.say("");
        if (fork) catchUp(this.socket, live, lane, fork.seq, this.pace);
        this.#become("running");
        this.#send(); // what was moved while the run was starting
        await this.#finished(live);
        if (turn !== this.turn) return;
        if (live.log.finished?.stop_reason !== "end_of_turn" && live.log.finished?.stop_reason !== "max_new_tokens") {
          for (const later of jobs.slice(at + 1)) this.lanes[later.mode].say("Not started, because the run before it did not end.");
          break;
        }
      }
    } catch (error) {
      if (turn !== this.turn) return;
      if (!(error instanceof Refused)) throw error;
      this.errors.place(error);
    }
    this.live = null;
    this.#become("idle");
  }

  /**
   * @param {LiveRun} live
   * @param {"sampler" | "decoding"} group
   * @param {Record<string, unknown>} values that the run has
   */
  #steeringOf(live, group, values) {
    this.steering = new Steering(group, values, {
      send: (change, refused) => live === this.live && this.#steer({ type: "update", [group]: change }, refused),
      refused: (error, names) => live === this.live && this.errors.place(error, names),
    });
  }

  /**
   * Takes over a run that this tab started before it was loaded anew.
   * @param {LiveRun} live
   * @param {Recipe} recipe
   */
  async adopt(live, recipe) {
    if (this.phase !== "idle" || live.log.finished) return;
    this.turn += 1;
    const { turn } = this;
    this.live = live;
    const group = recipe.mode === "diffusion" ? "sampler" : "decoding";
    this.#steeringOf(live, group, /** @type {any} */ (recipe[group]));
    const summary = await summaryOf(live.run);
    if (turn !== this.turn) return;
    this.#become(summary?.state === "paused" ? "paused" : "running");
    await this.#finished(live);
    if (turn !== this.turn) return;
    this.live = null;
    this.#become("idle");
  }

  /**
   * The first run was taken: its lanes make room.
   * @param {Job[]} jobs
   * @param {RunLog[]} logs
   */
  #showAll(jobs, logs) {
    jobs.forEach(({ mode }, at) => {
      this.lanes[mode].show(logs[at]);
      if (at > 0) this.lanes[mode].say("Waits for the diffusion run, so that each has the device to itself.");
    });
    this.dispatchEvent(new CustomEvent("shown", { detail: jobs }));
  }

  /**
   * Until the run has ended.
   * @param {LiveRun} live
   */
  #finished(live) {
    return new Promise((resolve) => {
      const look = () => {
        if (!live.log.finished) return;
        live.log.removeEventListener("event", look);
        this.dispatchEvent(new CustomEvent("finished", { detail: live.log }));
        resolve(null);
      };
      live.log.addEventListener("event", look);
      look();
      this.giveUp = () => resolve(null);
    });
  }

  /** The server does not know the run any more. @param {{live: LiveRun, error: Refused}} detail */
  #gone({ live }) {
    this.socket.forget(live);
    live.log.lost = true;
    const lane = Object.values(this.lanes).find((each) => each.player.log === live.log);
    lane?.say("The server no longer has this run: it was started anew, or the run ended while nobody watched. What came before is still here; run again for a new one.", "error");
    lane?.repaint();
    if (live !== this.live) return;
    this.turn += 1;
    this.live = null;
    this.giveUp?.();
    this.#become("idle");
  }

  /**
   * @param {{type: string} & Record<string, unknown>} message
   * @param {(error: Refused) => void} [refused]
   */
  #steer(message, refused) {
    if (!this.live) return false;
    return this.socket.steer(this.live, message, refused ?? ((error) => this.errors.place(error)));
  }

  #cancelLive() {
    if (!this.live || this.live.log.finished) return;
    this.#end(this.live);
    this.live = null;
  }

  /** @param {LiveRun} live */
  #end(live) {
    this.leaving.add(live);
    return this.socket.steer(live, { type: "cancel" }, () => {});
  }

  /** Lets go of what is going on, because something else is shown. */
  leave() {
    if (this.phase === "idle") return;
    this.turn += 1;
    this.#cancelLive();
    this.#become("idle");
  }

  cancel() {
    if (this.phase === "starting") {
      this.turn += 1;
      this.#become("idle");
      return;
    }
    if (this.live && !this.#end(this.live)) this.#sayOffline("Cancel is sent as soon as it is back.");
  }

  pause() {
    if (this.phase !== "running") return;
    if (this.#steer({ type: "pause" })) this.#become("paused");
    else this.#wish("pause", "Pause is sent as soon as it is back.");
  }

  resume() {
    if (this.phase !== "paused") return;
    if (this.#steer({ type: "resume" })) this.#become("running");
    else this.#wish("resume", "Resume is sent as soon as it is back.");
  }

  /** @param {"pause" | "resume"} wish @param {string} sentence */
  #wish(wish, sentence) {
    this.wish = wish;
    this.#sayOffline(sentence);
  }

  /**
   * A parameter was moved: the run takes it over from its next step.
   * @param {string | null} group
   */
  update(group) {
    if (!this.live || group !== this.steering?.group) return;
    const wait = (this.updated ?? -Infinity) + UPDATE_EVERY_MS - performance.now();
    clearTimeout(this.timer);
    if (wait > 0) this.timer = setTimeout(() => this.#send(), wait);
    else this.#send();
  }

  #send() {
    if (!this.live || this.live.log.finished || !this.steering) return;
    this.updated = performance.now();
    const { group } = this.steering;
    for (const name of this.steering.send(/** @type {any} */ (this.controls.settings[group]))) this.errors.clear(name);
  }

  /** The connection went or came back; what could not be sent meanwhile goes now. @param {string} state */
  #connection(state) {
    if (state === "lost") this.steering?.doubt();
    if (state !== "open") return;
    for (const live of this.leaving) {
      if (live.log.finished) this.leaving.delete(live);
      else this.socket.steer(live, { type: "cancel" }, () => {});
    }
    if (this.offline) this.errors.clear("run");
    this.offline = false;
    const { wish } = this;
    this.wish = null;
    if (!this.live || this.live.log.finished || this.leaving.has(this.live)) return;
    if (this.paceWaits) this.#pace();
    this.#send();
    if (wish === "pause") this.pause();
    else if (wish === "resume") this.resume();
  }

  #pace() {
    this.paceWaits = !this.#steer({ type: "pace", steps_per_second: this.pace.stepsPerSecond }) && this.live !== null;
  }

  /** @param {string} sentence what becomes of a press while there is no connection */
  #sayOffline(sentence) {
    this.offline = true;
    this.errors.show("run", `${this.socket.state === "lost" ? "The connection to the server is lost" : "There is no connection to the server yet"}. ${sentence}`);
  }
}
