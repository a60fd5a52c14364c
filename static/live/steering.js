// @ts-check
/** The parameters of a run that is going on: which of them the server has, and which still have to go there. */

/** @import { Refused } from "./socket.js" */

/**
 * @typedef {Record<string, number>} Values
 * @typedef {object} Line  how a change reaches the server
 * @property {(change: Values, refused: (error: Refused) => void) => boolean} send  whether it was sent
 * @property {(error: Refused, names: string[]) => void} refused
 */

/** These two are only valid together. */
const PAIR = ["t_min", "t_max"];

export class Steering {
  /**
   * @param {"sampler" | "decoding"} group
   * @param {Record<string, unknown>} values that the run began with
   * @param {Line} line
   */
  constructor(group, values, line) {
    this.group = group;
    this.line = line;
    this.first = values;
    /** What the server has or will have taken over; undefined where that is not known. @type {Record<string, unknown>} */
    this.sent = { ...values };
    /** What the run has at all: its rule's parameter, and not another's. */
    this.names = Object.keys(values);
    /** Values that were refused: they wait until they are moved, or fit. @type {Map<string, number>} */
    this.held = new Map();
  }

  /** What was sent last may never have arrived: it goes once more. */
  doubt() {
    for (const name of Object.keys(this.sent)) if (this.sent[name] !== this.first[name]) this.sent[name] = undefined;
  }

  /**
   * Sends what differs. A refused value stays behind, so that it does not keep the others.
   * @param {Values} wanted
   * @returns {string[]} what was sent
   */
  send(wanted) {
    const fits = !(wanted.t_min > wanted.t_max);
    for (const [name, value] of this.held) if (wanted[name] !== value || (fits && PAIR.includes(name))) this.held.delete(name);
    const names = this.names.filter((name) => typeof wanted[name] === "number" && wanted[name] !== this.sent[name] && !this.held.has(name));
    const alone = fits ? [] : names.filter((name) => PAIR.includes(name));
    const together = names.filter((name) => !alone.includes(name));
    return [together, ...alone.map((name) => [name])].flatMap((part) => (part.length && this.#change(part, wanted) ? part : []));
  }

  /**
   * @param {string[]} names
   * @param {Values} values
   */
  #change(names, values) {
    const change = Object.fromEntries(names.map((name) => [name, values[name]]));
    const sent = this.line.send(change, (error) => this.#refused(change, error));
    if (sent) Object.assign(this.sent, change);
    return sent;
  }

  /**
   * @param {Values} change
   * @param {Refused} error
   */
  #refused(change, error) {
    const names = Object.keys(change).filter((name) => this.sent[name] === change[name]); // what was moved on is another message's
    for (const name of names) this.sent[name] = undefined;
    if (error.code === "finished") return;
    if (Object.keys(change).length > 1) {
      for (const name of names) this.#change([name], change);
      return;
    }
    for (const name of names) this.held.set(name, change[name]);
    if (names.length) this.line.refused(error, names);
  }
}
