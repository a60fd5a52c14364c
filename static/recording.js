// @ts-check
/** Recordings: runs that were made before and play without a model, through the same log as a live one. */

/** @import { Lane } from "./lane.js" */
import { RunLog } from "./log.js";
import { address, parseTrace } from "./wire.js";

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
      lane.show(log);
      if (still) lane.player.end();
    }),
  );
}
