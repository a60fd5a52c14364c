// @ts-check
/** A run that is going on, taken up again through the page's socket: after a reload, or from a link. It comes back after a loss. */

/** @import { Session } from "./session.js" */
import { kept } from "./control.js";
import { RunLog } from "../run/log.js";

/**
 * @param {Session} session  steers the run again, if this tab started it
 * @param {string} run
 * @returns {Promise<RunLog>} as soon as its first event is here
 */
export function takeUp(session, run) {
  const { socket } = session;
  const log = new RunLog();
  const live = { run, token: kept(run) ?? "", log };
  return new Promise((resolve, reject) => {
    const stop = () => {
      log.removeEventListener("event", arrived);
      socket.removeEventListener("gone", gone);
    };
    const arrived = () => {
      if (!log.started && !log.finished) return;
      stop();
      resolve(log);
      if (live.token && log.started) void session.adopt(live, log.started.recipe);
    };
    const gone = (/** @type {any} */ event) => {
      if (event.detail.live !== live) return;
      stop();
      reject(event.detail.error);
    };
    log.addEventListener("event", arrived);
    socket.addEventListener("gone", gone);
    socket.follow(live);
  });
}
