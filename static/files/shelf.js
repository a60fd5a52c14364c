// @ts-check
/** Traces that were opened from files, kept in this browser, so that they are there again after a reload. The newest few stay. */

import { RunLog } from "../run/log.js";
import { BadTrace, readTrace } from "./tracefile.js";

const NAME = "denoise";
const STORE = "traces";
/** No more of them, and no more characters, are kept than this. */
const MOST = 8;
const MOST_CHARACTERS = 96 << 20;

/** @typedef {{run: string, text: string, opened: number}} Trace */

/** @returns {Promise<IDBDatabase>} */
function database() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "run" });
  return done(request);
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Keeps a trace; the ones opened longest ago give way.
 * @param {string} run
 * @param {string} text
 * @returns {Promise<boolean>} whether it is kept; some embeds and private windows keep nothing
 */
export async function shelve(run, text) {
  try {
    const base = await database();
    const store = base.transaction(STORE, "readwrite").objectStore(STORE);
    await done(store.put({ run, text, opened: Date.now() }));
    /** @type {Trace[]} */
    const traces = await done(store.getAll());
    traces.sort((one, other) => other.opened - one.opened);
    let characters = 0;
    for (const [at, trace] of traces.entries()) {
      characters += trace.text.length;
      if (trace.run !== run && (at >= MOST || characters > MOST_CHARACTERS)) await done(store.delete(trace.run));
    }
    base.close();
    return true;
  } catch {
    return false;
  }
}

/**
 * A trace that was opened in this browser, as a log; null where it is not here, or cannot be read any more.
 * @param {string} run
 * @param {string} version of this page
 */
export async function unshelve(run, version) {
  try {
    const base = await database();
    /** @type {Trace | undefined} */
    const trace = await done(base.transaction(STORE).objectStore(STORE).get(run));
    base.close();
    return trace ? logOf(trace.text, version, true) : null;
  } catch (error) {
    if (error instanceof BadTrace || error instanceof DOMException || error instanceof ReferenceError) return null;
    throw error;
  }
}

/**
 * A trace's text as a log. Raises `BadTrace`.
 * @param {string} text
 * @param {string} version of this page
 * @param {boolean} shelved whether it is kept in this browser
 */
export function logOf(text, version, shelved = false) {
  const log = new RunLog({ recording: true });
  log.shelved = shelved;
  for (const event of readTrace(text, version)) log.append(event);
  return log;
}
