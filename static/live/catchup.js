// @ts-check
/** A fork runs at full speed up to where it leaves its parent, and is looked at from there on. */

/** @import { Lane } from "../lane/lane.js" */
/** @import { Pace } from "./pace.js" */
/** @import { LiveRun, Socket } from "./socket.js" */

/**
 * @param {Socket} socket
 * @param {LiveRun} live
 * @param {Lane} lane
 * @param {number} seq the last event that the fork has in common with its parent
 * @param {Pace} pace from there on
 */
export function catchUp(socket, live, lane, seq, pace) {
  lane.player.beginAt(seq);
  const look = () => {
    if (live.log.gapless < seq) return;
    live.log.removeEventListener("event", look);
    if (pace.stepsPerSecond !== null) socket.steer(live, { type: "pace", steps_per_second: pace.stepsPerSecond }, () => {});
  };
  live.log.addEventListener("event", look);
  look();
}
