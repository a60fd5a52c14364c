// @ts-check
/** What a list says of a run beside its prompt. */

const ENDS = { end_of_turn: "", max_new_tokens: "limit reached", cancelled: "cancelled", error: "failed" };

/** @typedef {{created: string, mode: string, stop_reason: string, steps: number | null, tokens: number}} Facts */

/**
 * @param {Facts} entry
 * @returns {string[]} mode, size, how it ended unless as usual, when it was made
 */
export function factsOf(entry) {
  const { created, stop_reason, steps, tokens } = entry;
  const size = `${counted(tokens, "token")}${steps === null ? "" : ` in ${counted(steps, "step")}`}`;
  return [modeOf(entry), size, ENDS[/** @type {"error"} */ (stop_reason)] ?? stop_reason, day(created, { timeStyle: "short" })].filter(Boolean);
}

/**
 * The same where there is little room.
 * @param {Facts} entry
 * @returns {string[]} mode, steps (or tokens), day
 */
export function factsInShort(entry) {
  const { created, steps, tokens } = entry;
  return [modeOf(entry), steps === null ? counted(tokens, "token") : counted(steps, "step"), day(created)].filter(Boolean);
}

/** @param {Facts} entry */
function modeOf({ mode }) {
  return mode === "diffusion" ? "Diffusion" : "AR";
}

/**
 * @param {string} created
 * @param {Intl.DateTimeFormatOptions} [more]
 */
function day(created, more = {}) {
  const made = new Date(created);
  return Number.isNaN(made.getTime()) ? "" : made.toLocaleString([], { dateStyle: "medium", ...more });
}

/**
 * @param {number} count
 * @param {string} noun
 */
function counted(count, noun) {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
