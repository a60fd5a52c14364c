// @ts-check
/** The run that is going on, in hand: its parameters, its pace, its pauses and its end, also over a connection that breaks. */

/** @import { Controls } from "../prompt/controls.js" */
/** @import { Errors } from "../parts/errors.js" */
/** @import { Pace } from "./pace.js" */
/** @import { LiveRun, Refused, Socket } from "./socket.js" */
import { Steering } from "./steering.js";

/** A slider in motion sends at most one update in this time; the last value always goes out. */
const UPDATE_EVERY_MS = 60;

export class Helm extends EventTarget {
  /** @param {{socket: Socket, controls: Controls, errors: Errors, pace: Pace}} parts */
  constructor({ socket, controls, errors, pace }) {
    super();
    this.socket = socket;
    this.controls = controls;
    this.errors = errors;
    this.pace = pace;
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
  }

  /**
   * @param {LiveRun} live
   * @param {"sampler" | "decoding"} group
   * @param {Record<string, unknown>} values that the run has
   */
  take(live, group, values) {
    this.live = live;
    this.steering = new Steering(group, values, {
      send: (change, refused) => live === this.live && this.#steer({ type: "update", [group]: change }, refused),
      refused: (error, names) => live === this.live && this.errors.place(error, names),
    });
  }

  /** The run has ended, or is somebody else's. */
  drop() {
    this.live = null;
  }

  /**
   * @param {{type: string} & Record<string, unknown>} message
   * @param {(error: Refused) => void} [refused]
   */
  #steer(message, refused) {
    if (!this.live) return false;
    return this.socket.steer(this.live, message, refused ?? ((error) => this.errors.place(error)));
  }

  /** Ends a run. @param {LiveRun} live */
  end(live) {
    this.leaving.add(live);
    return this.socket.steer(live, { type: "cancel" }, () => {});
  }

  /** Ends the run that is going on, because another takes its place. */
  leave() {
    if (!this.live || this.live.log.finished) return;
    this.end(this.live);
    this.live = null;
  }

  cancel() {
    if (this.live && !this.end(this.live)) this.sayOffline("Cancel is sent as soon as it is back.");
  }

  /** @param {"pause" | "resume"} what  announced as `told` once it is on its way; without a connection it waits */
  tell(what) {
    if (this.#steer({ type: what })) {
      this.dispatchEvent(new CustomEvent("told", { detail: what }));
      return;
    }
    this.wish = what;
    this.sayOffline(`${what === "pause" ? "Pause" : "Resume"} is sent as soon as it is back.`);
  }

  /**
   * A parameter was moved: the run takes it over from its next step.
   * @param {string | null} group
   */
  update(group) {
    if (!this.live || group !== this.steering?.group) return;
    const wait = (this.updated ?? -Infinity) + UPDATE_EVERY_MS - performance.now();
    clearTimeout(this.timer);
    if (wait > 0) this.timer = setTimeout(() => this.send(), wait);
    else this.send();
  }

  /** Sends what the controls show and the run does not have yet. */
  send() {
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
    this.send();
    if (wish) this.tell(wish);
  }

  #pace() {
    this.paceWaits = !this.#steer({ type: "pace", steps_per_second: this.pace.stepsPerSecond }) && this.live !== null;
  }

  /** @param {string} sentence what becomes of a press while there is no connection */
  sayOffline(sentence) {
    this.offline = true;
    this.errors.show("run", `${this.socket.state === "lost" ? "The connection to the server is lost" : "There is no connection to the server yet"}. ${sentence}`);
  }
}
