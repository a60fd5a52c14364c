// @ts-check
/** The runs that were shown before, so that one can go back to them, race them, and need not fetch them again. */

/** @import { Lane } from "../lane/lane.js" */
/** @import { RunLog } from "../run/log.js" */

const MOST = 12;

export class Past {
  /** @param {Lane[]} lanes */
  constructor(lanes) {
    /** Newest last. @type {RunLog[]} */
    this.logs = [];
    /** @type {Map<Lane, RunLog>} */
    this.now = new Map();
    /** @type {Map<Lane, RunLog>} */
    this.earlier = new Map();
    for (const lane of lanes) lane.addEventListener("run", () => this.#note(lane));
  }

  /** @param {Lane} lane */
  #note(lane) {
    const { log } = lane.player;
    const before = this.now.get(lane);
    if (before === log) return;
    if (before && before.started && !before.bundled) this.earlier.set(lane, before);
    this.now.set(lane, log);
    this.logs = [...this.logs.filter((each) => each !== log), log].slice(-MOST);
  }

  /**
   * The run that the lane showed before its present one, if that ended by itself.
   * @param {Lane} lane
   */
  before(lane) {
    const log = this.earlier.get(lane);
    return log && endedWell(log) ? log : null;
  }

  /** @param {string} run */
  find(run) {
    return this.logs.find((log) => log.run === run) ?? null;
  }
}

/**
 * Whether a run ended by itself and all of it is here.
 * @param {RunLog} log
 */
export function endedWell(log) {
  return log.whole && (log.finished?.stop_reason === "end_of_turn" || log.finished?.stop_reason === "max_new_tokens");
}
