// @ts-check
/**
 * Runs on a GPU that the server borrows for each of them: they are asked for through Gradio, on the account of who asks.
 * Their events come over the socket like those of any run.
 */

/** @import { RunLog } from "../run/log.js" */
/** @import { LiveRun, Socket } from "./socket.js" */
/** @import { Recipe } from "../run/wire.js" */
import { owner } from "./owner.js";
import { Refused } from "./socket.js";

/** @typedef {{ref?: string, run?: string, token?: string, error?: {code: string, message: string, field: string | null}}} Answer */

export class Loan {
  /**
   * @param {{props: any, trigger: (name: string, detail?: any) => void, watch: (name: string, then: () => void) => void}} piece
   * @param {Socket} socket
   */
  constructor(piece, socket) {
    this.piece = piece;
    this.socket = socket;
    this.asked = 0;
    /** @type {Map<string, {resolve: (live: LiveRun) => void, reject: (error: Error) => void, log: RunLog}>} */
    this.waiting = new Map();
    piece.watch("value", () => this.#take(piece.props.value));
  }

  /**
   * @param {Recipe} recipe
   * @param {RunLog} log
   * @returns {Promise<LiveRun>} rejects with `Refused`
   */
  start(recipe, log) {
    this.asked += 1;
    const ref = `loan${this.asked}-${performance.now()}`;
    return new Promise((resolve, reject) => {
      this.waiting.set(ref, { resolve, reject, log });
      this.piece.props.value = JSON.stringify({ type: "start", recipe, owner: owner(), ref });
      this.piece.trigger("borrow", {});
    });
  }

  /** @param {string} value what the server says of the run last asked for */
  #take(value) {
    /** @type {Answer} */
    let answer;
    try {
      answer = JSON.parse(value);
    } catch {
      return;
    }
    const waiting = this.waiting.get(answer.ref ?? "");
    if (!waiting) return; // how far it is, or the question itself
    if (answer.error) waiting.reject(new Refused(answer.error));
    else if (answer.run && answer.token) {
      const live = { run: answer.run, token: answer.token, log: waiting.log };
      this.socket.follow(live);
      waiting.resolve(live);
    } else return;
    this.waiting.delete(answer.ref ?? "");
  }
}
