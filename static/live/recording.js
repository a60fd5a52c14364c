// @ts-check
/** Recordings: runs that were made before and play without a model, through the same log as a live one. */

/** @import { Lane } from "../lane/lane.js" */
import { introduce } from "./introduction.js";
import { RunLog } from "../run/log.js";
import { address, parseTrace } from "../run/wire.js";

/**
 * Reads a trace into a log.
 * @param {string} path below the page's address
 */
export async function read(path) {
  const response = await fetch(address(path));
  if (!response.ok) throw new Error(`The recording ${path} cannot be had: status ${response.status}.`);
  const log = new RunLog({ recording: true });
  for (const event of parseTrace(await response.text())) log.append(event);
  return log;
}

/**
 * What the server says of a run; null where that cannot be had.
 * @param {string} run
 * @returns {Promise<{state: string, recording?: boolean} | null>} state: for example `paused`
 */
export async function summaryOf(run) {
  const summary = await fetch(address(`api/runs/${run}`)).catch(() => null);
  return summary?.ok ? summary.json() : null;
}

/**
 * Whether a run is one of the server's recordings.
 * @param {string} run
 */
export async function isRecording(run) {
  return (await summaryOf(run))?.recording === true;
}

/**
 * A run that the server has, by its id: a stored one, or one that is still going on, which is followed.
 * @param {string} run
 * @param {(run: string) => Promise<RunLog>} follow one that is going on
 * @returns {Promise<RunLog>} as soon as its first events are here
 */
export async function recall(run, follow) {
  const summary = await fetch(address(`api/runs/${run}`));
  if (!summary.ok) throw new Error(summary.status === 404 ? "There is no run behind this link any more: runs are dropped after some time, unless somebody keeps them." : `The run cannot be had: status ${summary.status}.`);
  const { state, recording } = await summary.json();
  if (state !== "finished") return follow(run);
  const log = new RunLog({ recording: true, server: true });
  log.gallery = Boolean(recording);
  const response = await fetch(address(`api/runs/${run}/events`));
  if (!response.ok) throw new Error(`The run cannot be had: status ${response.status}.`);
  for (const event of parseTrace(await response.text())) log.append(event);
  if (!log.started && !log.finished) throw new Error("The run cannot be had: it has no events.");
  return log;
}

/**
 * Plays the recordings that come with the page, unless something runs there already.
 * With reduced motion it opens on the last step instead.
 * @param {Record<string, string>} paths by mode
 * @param {Record<"diffusion" | "autoregressive", Lane>} lanes
 */
export async function play(paths, lanes) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  await Promise.all(
    Object.entries(paths).map(async ([mode, path]) => {
      const lane = lanes[/** @type {"diffusion"} */ (mode)];
      const before = lane.player.log;
      const log = await read(path).catch(() => null);
      if (!log || lane.player.log !== before) return;
      log.bundled = true;
      log.server = log.gallery = path.startsWith("api/");
      lane.show(log, log.gallery ? introduce(log, null) : undefined);
      if (still) lane.player.end();
    }),
  );
}
