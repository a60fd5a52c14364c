// @ts-check
/** Which positions belong to the thought, in what is committed and in what is still being denoised: pure functions. */

/** @import { RunLog } from "../run/log.js" */

/**
 * Whether each id is in the thought, its markers too, and whether it is open at the end.
 * @param {number[]} ids
 * @param {number[]} markers that open and close it
 * @param {boolean} [open] at the beginning
 * @returns {{thought: boolean[], open: boolean}}
 */
export function thoughtIn(ids, [opens, closes], open = false) {
  const thought = ids.map((id) => {
    open ||= id === opens;
    const inside = open;
    if (id === closes) open = false;
    return inside;
  });
  return { thought, open };
}

/**
 * The same for the ids of one canvas, after those committed before it; null where the model has no thoughts.
 * @param {RunLog} log
 * @param {number} canvas −1 for the tokens of an autoregressive run
 * @param {number[]} ids
 * @returns {boolean[] | null}
 */
export function thoughtOf(log, canvas, ids) {
  const markers = log.started?.channel_ids;
  if (!markers || markers.length !== 2) return null;
  let open = false;
  for (let before = 0; before < canvas; before += 1) {
    open = thoughtIn(log.canvas(before).committed?.ids ?? [], markers, open).open;
  }
  const { thought } = thoughtIn(ids, markers, open);
  return thought.includes(true) ? thought : null;
}

/**
 * What a canvas shows of a thought: which positions belong to it, and which hold its markers. A random token opens and closes
 * nothing, whatever it is.
 * @param {RunLog} log
 * @param {number} canvas
 * @param {import("../run/states.js").View} view
 */
export function apart(log, canvas, view) {
  const said = view.ids.map((id, position) => (view.states[position] === "noise" ? -1 : id));
  const markers = log.started?.channel_ids ?? [];
  return { thought: thoughtOf(log, canvas, said), isMarker: (/** @type {number} */ position) => markers.includes(said[position]) };
}
