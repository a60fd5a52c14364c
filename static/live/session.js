// @ts-check
/** One press of Run: the runs it starts, one after the other. */

/** @import { Controls } from "../prompt/controls.js" */
/** @import { Errors } from "../parts/errors.js" */
/** @import { Fork } from "../prompt/editor.js" */
/** @import { Lane } from "../lane/lane.js" */
/** @import { Pace } from "./pace.js" */
/** @import { LiveRun, Socket } from "./socket.js" */
/** @import { Recipe } from "../run/wire.js" */
import { RunLog } from "../run/log.js";
import { Refused } from "./socket.js";
import { Helm } from "./helm.js";
import { catchUp } from "./catchup.js";
import { keep, next } from "./control.js";
import { summaryOf } from "./recording.js";

/**
 * @typedef {"idle" | "starting" | "running" | "paused"} Phase
 * @typedef {{mode: "diffusion" | "autoregressive", recipe: Recipe, fork?: Fork}} Job
 */

/** Why a run has ended by itself. */
const ENDED = ["end_of_turn", "max_new_tokens"];

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
    this.helm = new Helm({ socket, controls, errors, pace });
    this.helm.addEventListener("told", (/** @type {any} */ event) => this.#become(event.detail === "pause" ? "paused" : "running"));
    socket.addEventListener("gone", (/** @type {any} */ event) => this.#gone(event.detail));
  }

  /** The run that is going on. */
  get live() {
    return this.helm.live;
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
      this.helm.sayOffline("Run again when it is back; it is being tried again.");
      return;
    }
    this.turn += 1;
    const turn = this.turn;
    this.errors.clearAll();
    this.errors.edits = jobs.some((job) => job.fork) ? "edits" : "start";
    this.helm.leave();
    this.#become("starting");
    await this.#go(turn, jobs, jobs.map(() => new RunLog()));
  }

  /**
   * Runs one after the other, until one of them does not end by itself.
   * @param {number} turn
   * @param {Job[]} jobs
   * @param {RunLog[]} logs
   * @param {LiveRun} [going] the first of them, where it has been started already
   */
  async #go(turn, jobs, logs, going) {
    try {
      for (const at of jobs.keys()) {
        const live = at === 0 && going ? going : await this.#begin(turn, jobs, logs, at);
        if (live) await this.#finished(live);
        if (!live || turn !== this.turn) return;
        if (ENDED.includes(live.log.finished?.stop_reason ?? "")) continue;
        for (const later of jobs.slice(at + 1)) this.lanes[later.mode].say("Not started, because the run before it did not end.");
        break;
      }
    } catch (error) {
      if (turn !== this.turn) return;
      if (!(error instanceof Refused)) throw error;
      this.errors.place(error);
    }
    this.helm.drop();
    this.#become("idle");
  }

  /**
   * @param {number} turn
   * @param {Job[]} jobs
   * @param {RunLog[]} logs
   * @param {number} at which of them
   * @returns {Promise<LiveRun | null>} null where something else was started meanwhile
   */
  async #begin(turn, jobs, logs, at) {
    const { mode, recipe, fork } = jobs[at];
    const lane = this.lanes[mode];
    const live = await this.socket.start(recipe, fork ? null : this.pace.stepsPerSecond, logs[at]);
    if (turn !== this.turn) {
      this.helm.end(live);
      return null;
    }
    keep(live.run, live.token, jobs.slice(at + 1));
    // In a fork the parameters come from the recipe; only what is moved from now on is a change.
    const group = mode === "diffusion" ? "sampler" : "decoding";
    const values = /** @type {any} */ (recipe[group]);
    const shown = /** @type {any} */ (this.controls.settings[group]);
    this.helm.take(live, group, fork ? Object.fromEntries(Object.keys(values).map((name) => [name, shown[name]])) : values);
    if (at === 0) {
      lane.show(live.log);
      this.#showWaiting(jobs, logs);
      this.dispatchEvent(new CustomEvent("shown", { detail: jobs }));
    } else lane.say("");
    if (fork) catchUp(this.socket, live, lane, fork.seq, this.pace);
    this.#become("running");
    this.helm.send(); // what was moved while the run was starting
    return live;
  }

  /**
   * Takes over a run that this tab started before it was loaded anew, and what was to follow it.
   * @param {LiveRun} live
   * @param {Recipe} recipe
   */
  async adopt(live, recipe) {
    if (this.phase !== "idle" || live.log.finished) return;
    this.turn += 1;
    const { turn } = this;
    const { mode } = recipe;
    const group = mode === "diffusion" ? "sampler" : "decoding";
    this.helm.take(live, group, /** @type {any} */ (recipe[group]));
    const jobs = [{ mode, recipe }, ...next(live.run)];
    const summary = await summaryOf(live.run);
    if (turn !== this.turn) return;
    const logs = [live.log, ...jobs.slice(1).map(() => new RunLog())];
    this.#showWaiting(jobs, logs);
    this.#become(summary?.state === "paused" ? "paused" : "running");
    await this.#go(turn, jobs, logs, live);
  }

  /**
   * @param {Job[]} jobs of which the first has been started
   * @param {RunLog[]} logs
   */
  #showWaiting(jobs, logs) {
    for (const [at, { mode }] of jobs.entries()) {
      if (at > 0) this.lanes[mode].show(logs[at], "Waits for the diffusion run, so that each has the device to itself.");
    }
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
    if (live !== this.helm.live) return;
    this.turn += 1;
    this.helm.drop();
    this.giveUp?.();
    this.#become("idle");
  }

  /** Lets go of what is going on, because something else is shown. */
  leave() {
    if (this.phase === "idle") return;
    this.turn += 1;
    this.helm.leave();
    this.#become("idle");
  }

  cancel() {
    if (this.phase === "starting") {
      this.turn += 1;
      this.#become("idle");
    } else this.helm.cancel();
  }

  pause() {
    if (this.phase === "running") this.helm.tell("pause");
  }

  resume() {
    if (this.phase === "paused") this.helm.tell("resume");
  }

  /**
   * A parameter was moved.
   * @param {string | null} group
   */
  update(group) {
    this.helm.update(group);
  }
}
