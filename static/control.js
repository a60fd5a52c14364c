// @ts-check
/** The control token of the run that this tab started last, so that the tab can still steer it after a reload. */

const KEY = "denoise-control";

/**
 * @param {string} run
 * @param {string} token
 */
export function keep(run, token) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ run, token }));
  } catch {
    // an embed may have no storage; then a reload lets go of the run
  }
}

/**
 * The token of this run, if this tab started it.
 * @param {string} run
 * @returns {string | null}
 */
export function kept(run) {
  try {
    const known = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    return known?.run === run ? known.token : null;
  } catch {
    return null;
  }
}
