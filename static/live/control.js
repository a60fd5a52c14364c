// @ts-check
/** What this tab started last: the recipe until the server has taken it, then the run, its control token and what is to follow. It outlives a reload. */

/** @import { Job } from "./session.js" */
/** @import { Recipe } from "../run/wire.js" */

const KEY = "denoise-control";

/** @typedef {{run?: string, token?: string, said?: boolean, recipe?: Recipe, next?: Job[]}} Started */

/** @returns {Started} */
function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") ?? {};
  } catch {
    return {};
  }
}

/** @param {Started} started */
function write(started) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(started));
  } catch {
    // an embed may have no storage; then a reload lets go of the run
  }
}

/**
 * A run is asked for; null once it was refused.
 * @param {Recipe | null} recipe
 */
export function pressed(recipe) {
  write(recipe ? { recipe } : {});
}

/**
 * The server has taken it.
 * @param {string} run
 * @param {string} token
 * @param {Job[]} next what is to be started after it
 */
export function keep(run, token, next) {
  write({ run, token, next });
}

/**
 * The page's address names these runs by now.
 * @param {string[]} runs
 */
export function said(runs) {
  const started = read();
  if (started.run && !started.said && runs.includes(started.run)) write({ ...started, said: true });
}

/**
 * What was started too short a time before a reload for the address to name it: a run, or a recipe that the server had not taken yet.
 * @returns {{run?: string, recipe?: Recipe}}
 */
export function unsaid() {
  const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  const { run, said, recipe } = read();
  return navigation?.type === "reload" && !said ? { run, recipe } : {};
}

/**
 * The token of this run, if this tab started it.
 * @param {string} run
 * @returns {string | null}
 */
export function kept(run) {
  const started = read();
  return started.run === run ? started.token ?? null : null;
}

/**
 * What is to be started after this run, if this tab started it.
 * @param {string} run
 * @returns {Job[]}
 */
export function next(run) {
  const started = read();
  return (started.run === run && started.next) || [];
}
