// @ts-check
/**
 * The page's state as the hash of its address: `#s=1.` and base64url of deflated JSON. Defaults are left out.
 * Knows no page; whoever reads a hash that is not one of ours gets a sentence.
 */

/** @import { Recipe } from "./wire.js" */
import { isEdit } from "./fork.js";
import { isContent } from "./prompts.js";
import { RULES, USUAL, samplerOf } from "./rules.js";

/**
 * @typedef {object} PageState
 * @property {"diffusion" | "autoregressive" | "side_by_side"} mode
 * @property {Recipe} recipe  of what is shown, or of what the controls say where nothing is
 * @property {Recipe} [draft]  what the controls say, where that is something else
 * @property {Record<string, string>} [runs]  run ids by mode
 * @property {string} [revision]  of the model's weights
 * @property {Record<string, number>} [at]  `seq` of the frame looked at, by mode; none while it plays or has played to the end
 * @property {number | null} [speed]  steps a second
 * @property {string[]} [view]  switches that are on: `noise`, `entropy`, `figure`, `race`, `lab`, `projector`
 * @property {string} [sweep]  what the lab shows
 * @property {{position: number, canvas: number}} [chosen]  what is inspected
 * @property {boolean} [file]  whether the runs were opened from a file: who has not opened it has the recipe alone
 */

export const VERSION = 1;
/** A state unpacks to at most so much; a link is not a place for a book. */
const MOST_BYTES = 1 << 20;
/** Longer links are cut by what people paste them into. */
export const MOST_CHARACTERS = 16_000;

const MODES = ["diffusion", "autoregressive", "side_by_side"];
const VIEWS = ["noise", "entropy", "figure", "race", "lab", "projector"];
const RUN_ID = /^[\w-]{1,64}$/;

/** @param {unknown} id @returns {boolean} */
export const isRunId = (id) => typeof id === "string" && RUN_ID.test(id);

export class BadLink extends Error {}

/**
 * @param {PageState} state
 * @param {Recipe} defaults
 * @returns {Promise<string>} with the leading `#`
 */
export async function encode(state, defaults) {
  const { mode, recipe, draft, runs, revision, at, speed, view, chosen, sweep, file } = state;
  const lean = { mode, recipe: lessen(recipe, defaults), draft: draft && lessen(draft, defaults), runs, revision, at, speed, view, chosen, sweep, file }; // always in this order
  return `#s=${VERSION}.${toBase64Url(await pass(Uint8Array.from(new TextEncoder().encode(JSON.stringify(lean))), new CompressionStream("deflate-raw")))}`;
}

/**
 * What a hash says: a state, a run's short link, a room, a lesson, or nothing. Raises `BadLink` with a sentence.
 * @param {string} hash
 * @param {Recipe} defaults
 * @returns {Promise<{state?: PageState, run?: string, room?: {code: string, token?: string}, lesson?: {name: string, part: number, trim: boolean}} | null>}
 */
export async function decode(hash, defaults) {
  if (hash === "" || hash === "#") return null;
  const run = /^#run=(.*)$/.exec(hash);
  if (run) {
    if (!isRunId(run[1])) throw new BadLink("The link names a run that cannot exist: its id was cut off or changed on the way.");
    return { run: run[1] };
  }
  const room = /^#room=([A-Za-z0-9]{5})(?:&teach=([\w.-]+))?$/.exec(hash);
  if (room) return { room: { code: room[1].toUpperCase(), token: room[2] } };
  if (hash.startsWith("#room=")) throw new BadLink("The link to the room was cut off or changed on the way: ask for the code, and join with it.");
  const lesson = /^#lesson=([a-z0-9-]{1,64})(?:&part=(\d{1,2}))?(&trim)?$/.exec(hash);
  if (lesson) return { lesson: { name: lesson[1], part: Number(lesson[2] ?? 1) - 1, trim: Boolean(lesson[3]) } };
  if (hash.startsWith("#lesson=")) throw new BadLink("The link to the lesson was cut off or changed on the way; the lessons are in the menu.");
  const found = /^#s=(\d+)\.([\w-]*)$/.exec(hash);
  if (!found) {
    if (!hash.startsWith("#s=")) return null; // an anchor of the page, or somebody else's
    throw new BadLink("The link was cut off or changed on the way, so it cannot be read. Nothing on the page was changed.");
  }
  if (Number(found[1]) > VERSION) throw new BadLink("The link was made by a newer version of this page. Nothing on the page was changed.");
  if (Number(found[1]) < VERSION) throw new BadLink("The link was made by an older version of this page that said things in another way. Nothing on the page was changed.");
  let raw;
  try {
    raw = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await pass(fromBase64Url(found[2]), new DecompressionStream("deflate-raw"))));
  } catch (error) {
    throw error instanceof BadLink ? error : new BadLink("The link was cut off or changed on the way, so it cannot be read. Nothing on the page was changed.");
  }
  return { state: checked(raw, defaults) };
}

/**
 * @param {any} raw
 * @param {Recipe} defaults
 * @returns {PageState}
 */
function checked(raw, defaults) {
  const wrong = (/** @type {string} */ what) => new BadLink(`The link has ${what} that this page does not know. Nothing on the page was changed.`);
  if (typeof raw !== "object" || raw === null || !MODES.includes(raw.mode)) throw wrong("a mode");
  const runs = raw.runs ?? {};
  if (typeof runs !== "object" || Object.values(runs).some((id) => !isRunId(id))) throw wrong("a run");
  const { at, speed, chosen } = raw;
  if (at !== undefined && (typeof at !== "object" || at === null || Object.values(at).some((seq) => !Number.isSafeInteger(seq)))) throw wrong("a step");
  if (speed !== undefined && speed !== null && !(typeof speed === "number" && speed >= 0.05 && speed <= 1000)) throw wrong("a speed");
  if (chosen !== undefined && !(Number.isSafeInteger(chosen?.position) && Number.isSafeInteger(chosen?.canvas))) throw wrong("a position");
  /** @type {PageState} */
  const state = { mode: raw.mode, recipe: checkedRecipe(raw.recipe, defaults, wrong), runs, view: (Array.isArray(raw.view) ? raw.view : []).filter((/** @type {any} */ name) => VIEWS.includes(name)) };
  if (raw.draft !== undefined) state.draft = checkedRecipe(raw.draft, defaults, wrong);
  if (typeof raw.revision === "string") state.revision = raw.revision.slice(0, 64);
  if (at !== undefined) state.at = at;
  if (speed !== undefined) state.speed = speed;
  if (isRunId(raw.sweep)) state.sweep = raw.sweep;
  if (chosen !== undefined) state.chosen = { position: chosen.position, canvas: chosen.canvas };
  if (raw.file === true) state.file = true;
  return state;
}

/**
 * @param {any} raw
 * @param {Recipe} defaults
 * @param {(what: string) => BadLink} wrong
 * @returns {Recipe}
 */
function checkedRecipe(raw, defaults, wrong) {
  if (typeof raw !== "object" || raw === null) throw wrong("a recipe");
  const recipe = /** @type {any} */ (structuredClone(defaults));
  for (const [name, value] of Object.entries(raw)) {
    if (name === "sampler" || name === "decoding") {
      for (const [field, number] of Object.entries(/** @type {object} */ (value ?? {}))) {
        const usual = recipe[name][field] ?? (name === "sampler" ? USUAL[field] : undefined);
        if (typeof usual !== typeof number || (typeof number === "number" && !Number.isFinite(number))) throw wrong(`a value of ${field}`);
        recipe[name][field] = number;
      }
      if (name === "sampler") {
        if (!Object.hasOwn(RULES, recipe.sampler.name)) throw wrong("a rule");
        recipe.sampler = samplerOf(recipe.sampler);
      }
    } else if (name === "messages") {
      if (!Array.isArray(value) || value.length === 0 || value.some((turn) => typeof turn?.role !== "string" || !isContent(turn?.content))) throw wrong("a prompt");
      recipe.messages = value.map(({ role, content }) => ({ role, content }));
    } else if (name === "edits") {
      if (!Array.isArray(value) || !value.every(isEdit)) throw wrong("an edit");
      recipe.edits = value;
    } else if (name === "seed" || name === "max_new_tokens") {
      if (!Number.isSafeInteger(value)) throw wrong(`a value of ${name}`);
      recipe[name] = value;
    } else if (name === "mode") {
      if (value !== "diffusion" && value !== "autoregressive") throw wrong("a mode");
      recipe.mode = value;
    } else if (name === "model" && typeof value === "string") recipe.model = value;
    else if (name === "thinking" && typeof value === "boolean") recipe.thinking = value;
    else throw wrong(`a field ${JSON.stringify(name).slice(0, 40)}`);
  }
  return recipe;
}

/**
 * A recipe without what the defaults say anyway.
 * @param {Recipe} recipe
 * @param {Recipe} defaults
 */
export function lessen(recipe, defaults) {
  /** @type {Record<string, any>} */
  const lean = {};
  for (const name of ["model", ...Object.keys(defaults)]) {
    const value = /** @type {any} */ (recipe)[name];
    if (value === null || value === undefined) continue;
    const usual = /** @type {any} */ (defaults)[name];
    if (name === "sampler" || name === "decoding") {
      const rest = Object.entries(value).filter(([field, number]) => usual[field] !== number);
      if (rest.length) lean[name] = Object.fromEntries(rest);
    } else if (JSON.stringify(value) !== JSON.stringify(usual)) lean[name] = value;
  }
  return lean;
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {CompressionStream | DecompressionStream} through
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
async function pass(bytes, through) {
  const reader = new Blob([bytes]).stream().pipeThrough(through).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST_BYTES) {
      await reader.cancel();
      throw new BadLink("The link says more than one can say. Nothing on the page was changed.");
    }
    parts.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {Uint8Array} bytes */
function toBase64Url(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** @param {string} text */
function fromBase64Url(text) {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
}
