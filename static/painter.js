// @ts-check
/**
 * Paints what has changed with the next animation frames: each thing once a frame at most, in the order asked for, and
 * no more in one frame than fits. On a quick machine all of it is one frame; on a slow one the inspector may follow the
 * text a frame later, which nobody sees, instead of making the frame late, which everybody does.
 */

/** So much script a frame; layout and paint, which come after it, cost about as much again, or twice. */
const BUDGET_MS = 2;

/** @type {Map<object, () => void>} */
const waiting = new Map();
let asked = false;

/**
 * @param {object} owner asks once, however often it asks before its turn
 * @param {() => void} paint
 */
export function soon(owner, paint) {
  if (!waiting.has(owner)) waiting.set(owner, paint);
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
  for (const [owner, paint] of [...waiting]) {
    waiting.delete(owner);
    paint();
    if (performance.now() - began >= BUDGET_MS) break;
  }
  if (waiting.size) ask();
}
