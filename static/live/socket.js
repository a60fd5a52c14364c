// @ts-check
/**
 * The socket: starts and steers runs, feeds their logs, comes back after a loss and asks for what it missed.
 * It knows messages, not pages.
 */

/** @import { RunEvent, RunError, Recipe } from "../run/wire.js" */
import { pressed } from "./control.js";
import { owner } from "./owner.js";
import { socketAddress } from "../run/wire.js";
import { RunLog } from "../run/log.js";

const FIRST_RETRY_MS = 400;
const LONGEST_RETRY_MS = 8000;
/** In a hidden tab there are no animation frames; acknowledge all the same, so that the run is followed. */
const HIDDEN_ACK_MS = 500;

/** A refusal by the server, or no server to ask. */
export class Refused extends Error {
  /** @param {{code: string, message: string, field?: string | null}} error */
  constructor({ code, message, field = null }) {
    super(message);
    this.code = code;
    this.field = field;
  }
}

/**
 * @typedef {object} LiveRun
 * @property {string} run
 * @property {string} token  lets another socket steer the run
 * @property {RunLog} log
 *
 * @typedef {"connecting" | "open" | "lost"} Connection
 */

export class Socket extends EventTarget {
  constructor() {
    super();
    /** @type {Connection} */
    this.state = "connecting";
    this.retryMs = FIRST_RETRY_MS;
    /** When the next try to connect is due, on the clock of performance.now(). */
    this.retryAt = 0;
    /** @type {Map<string, LiveRun>} */
    this.runs = new Map();
    /** @type {Map<string, {resolve: (run: LiveRun) => void, reject: (error: Error) => void, log: RunLog}>} */
    this.starting = new Map();
    /** @type {Map<string, (error: Refused) => void>} */
    this.refusals = new Map();
    this.refs = 0;
    /** @type {{run: string, seq: number}[]} */
    this.unacknowledged = [];
    /** @type {WebSocket | null} */
    this.socket = null;
    /** Who starts runs where the server borrows its GPU. @type {import("./loan.js").Loan | null} */
    this.loan = null;
    this.#connect();
    window.addEventListener("online", () => this.#soon());
    document.addEventListener("visibilitychange", () => document.hidden || this.#soon());
  }

  #connect() {
    const socket = new WebSocket(socketAddress());
    this.socket = socket;
    socket.addEventListener("open", () => {
      this.retryMs = FIRST_RETRY_MS;
      for (const live of this.runs.values()) this.#rejoin(live);
      this.#become("open");
    });
    socket.addEventListener("message", ({ data }) => this.#take(JSON.parse(data)));
    socket.addEventListener("close", () => this.#lost());
  }

  /** @param {LiveRun} live */
  #rejoin(live) {
    if (live.log.whole) return;
    const ref = this.#ref();
    this.refusals.set(ref, (error) => this.dispatchEvent(new CustomEvent("gone", { detail: { live, error } })));
    this.#send({ type: "join", run: live.run, after: live.log.gapless, ref });
  }

  #lost() {
    this.socket = null;
    this.unacknowledged = [];
    const gone = new Refused({ code: "connection", message: "The connection was lost before the run began. Run again." });
    for (const { reject } of this.starting.values()) reject(gone);
    this.starting.clear();
    this.retryAt = performance.now() + this.retryMs;
    this.timer = setTimeout(() => this.#connect(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 2, LONGEST_RETRY_MS);
    this.#become("lost");
  }

  /** Tries again at once where a try is due anyway. */
  #soon() {
    if (this.socket || !this.timer) return;
    clearTimeout(this.timer);
    this.retryMs = FIRST_RETRY_MS;
    this.#connect();
  }

  /** @param {Connection} state */
  #become(state) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("connection", { detail: state }));
  }

  /** @param {object} message */
  #send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /** @param {any} message */
  #take(message) {
    if (message.type === "control") {
      const waiting = this.starting.get(message.ref);
      if (!waiting) return;
      this.starting.delete(message.ref);
      const live = { run: message.run, token: message.token, log: waiting.log };
      this.runs.set(message.run, live);
      waiting.resolve(live);
      return;
    }
    if (message.type === "error" && !message.run) {
      this.#refuse(message);
      return;
    }
    if (message.type === "room" || message.type === "models") {
      this.dispatchEvent(new CustomEvent(message.type, { detail: message }));
      return;
    }
    if (typeof message.seq !== "number") return;
    this.runs.get(message.run)?.log.append(message);
    this.#acknowledge(message.run, message.seq);
  }

  /** @param {RunError} error */
  #refuse(error) {
    const refused = new Refused(error);
    const ref = String(error.ref ?? "");
    const waiting = this.starting.get(ref);
    if (waiting) {
      this.starting.delete(ref);
      pressed(null);
      waiting.reject(refused);
    } else if (this.refusals.has(ref)) {
      this.refusals.get(ref)?.(refused);
      this.refusals.delete(ref);
    } else {
      this.dispatchEvent(new CustomEvent("refused", { detail: refused }));
    }
  }

  /**
   * Acknowledges after the next painting.
   * @param {string} run
   * @param {number} seq
   */
  #acknowledge(run, seq) {
    this.unacknowledged.push({ run, seq });
    if (this.unacknowledged.length > 1) return;
    const flush = () => {
      const frames = this.unacknowledged;
      this.unacknowledged = [];
      for (const frame of frames) this.#send({ type: "ack", ...frame });
    };
    requestAnimationFrame(flush);
    setTimeout(flush, HIDDEN_ACK_MS);
  }

  /**
   * Starts a run; its events go into the log.
   * @param {Recipe} recipe
   * @param {number | null} stepsPerSecond null: as fast as it runs
   * @param {RunLog} log
   * @returns {Promise<LiveRun>} rejects with `Refused`
   */
  start(recipe, stepsPerSecond, log) {
    if (this.loan) return this.loan.start(recipe, log);
    const ref = this.#ref();
    pressed(recipe);
    return new Promise((resolve, reject) => {
      this.starting.set(ref, { resolve, reject, log });
      if (this.#send({ type: "start", recipe, steps_per_second: stepsPerSecond, owner: owner(), ref })) return;
      this.starting.delete(ref);
      reject(new Refused({ code: "connection", message: "There is no connection to the server yet. It is being tried again." }));
    });
  }

  /**
   * Follows a run that was started another way.
   * @param {LiveRun} live
   */
  follow(live) {
    this.runs.set(live.run, live);
    this.#rejoin(live);
  }

  /**
   * Watches a run of somebody else's; its events go into the log.
   * @param {string} run
   * @param {RunLog} log
   * @param {(error: Refused) => void} refused
   */
  watch(run, log, refused) {
    const live = { run, token: "", log };
    this.runs.set(run, live);
    this.say({ type: "join", run, after: log.gapless }, (error) => {
      this.forget(live);
      refused(error);
    });
  }

  /**
   * Says something that is no matter of a run's; whether it was sent.
   * @param {{type: string} & Record<string, unknown>} message
   * @param {(error: Refused) => void} [refused]
   */
  say(message, refused) {
    const ref = this.#ref();
    if (refused) this.refusals.set(ref, refused);
    return this.#send({ ...message, ref });
  }

  #ref() {
    this.refs += 1;
    return `r${this.refs}`;
  }

  /**
   * Steers a run: update, pace, pause, resume, cancel.
   * @param {LiveRun} live
   * @param {{type: string} & Record<string, unknown>} message
   * @param {(error: Refused) => void} [refused]
   */
  steer(live, message, refused) {
    const ref = this.#ref();
    if (refused) this.refusals.set(ref, refused);
    return this.#send({ ...message, run: live.run, control: live.token, ref });
  }

  /**
   * Forgets a run, so that a reconnection does not ask for it.
   * @param {LiveRun} live
   */
  forget(live) {
    this.runs.delete(live.run);
  }
}
