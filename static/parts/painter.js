// @ts-check
/**
 * Paints what has changed with the next animation frames: each thing once a frame at most, in the order asked for, and
 * no more in one frame than fits. On a quick machine all of it is one frame; on a slow one the inspector may follow the
 * text a frame later, which nobody sees, instead of making the frame late, which everybody does. A text has its frame
 * for itself: two lanes that step at the same moment are laid out in two frames, not in one of twice the length. What
 * is too much for one frame gives a function that goes on with it, which waits in line like everything else.
 */

/** So much script a frame; layout and paint, which come after it, cost about as much again, or twice. */
const BUDGET_MS = 2;

/**
 * @typedef {() => (Paint | void)} Paint  gives what is left to paint, if anything
 * @typedef {{paint: Paint, alone: boolean, rest: boolean}} Wish
 */

/** @type {Map<object, Wish>} */
const waiting = new Map();
let asked = false;

/**
 * @param {object} owner asks once, however often it asks before its turn
 * @param {Paint} paint takes the place of what was left of the one before
 * @param {boolean} [alone] whether its layout costs so much that nothing else is to be painted in its frame
 */
export function soon(owner, paint, alone = false) {
  if (waiting.get(owner)?.rest !== false) waiting.set(owner, { paint, alone, rest: false });
  ask();
}

function ask() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(run);
}

function run() {
  asked = false;
  const began = performance.now();
  let first = true;
  for (const [owner, { paint, alone }] of [...waiting]) {
    if (alone && !first) break;
    waiting.delete(owner);
    const rest = paint();
    if (rest && !waiting.has(owner)) waiting.set(owner, { paint: rest, alone, rest: true });
    first = false;
    if (alone || performance.now() - began >= BUDGET_MS) break;
  }
  if (waiting.size) ask();
}
