// @ts-check
/** What a run that was not made just now is, in a sentence or two. */

/** @import { RunLog } from "../run/log.js" */
import { textOf } from "../run/prompts.js";

const SHOWN = 120;

/**
 * @param {RunLog} log
 * @param {any} model the one the server runs; null while it is loading
 */
export function introduce(log, model) {
  const { started } = log;
  if (!started) return "";
  const prompt = textOf(started.recipe.messages[started.recipe.messages.length - 1].content);
  const made = new Date(started.created);
  const when = Number.isNaN(made.getTime()) ? "an unknown day" : made.toLocaleString([], { dateStyle: "long", timeStyle: "short" });
  const maker = started.recipe.model ?? "an unnamed model";
  const what = `${kindOf(log)} of ${maker}${log.live && !log.gallery ? " that is going on" : ""}`;
  const said = `${what}, ${when}: “${prompt.length > SHOWN ? `${prompt.slice(0, SHOWN - 1)}…` : prompt}”`;
  if (!model || model.revision === started.model_revision) return said;
  return `${said} ${elsewhere(started.recipe.model, started.model_revision, model)}`;
}

/** @param {RunLog} log */
function kindOf(log) {
  if (log.gallery) return "A recording";
  if (!log.recording) return "A run";
  return log.server ? "A stored run" : "A recording";
}

/**
 * What a model is called on the page.
 * @param {string} name
 */
export function called(name) {
  return name === "embedded" ? "embedded model" : name;
}

/** @param {string} name */
function the(name) {
  return name === "embedded" ? "the embedded model" : name;
}

/**
 * What stands between a run and making it again here: another model, or another revision.
 * @param {string | null | undefined} name of the model that made it
 * @param {string} revision
 * @param {any} model the one the server runs
 */
export function elsewhere(name, revision, model) {
  if (name && name !== model.name) {
    const back = model.choices?.includes(name) ? `, or switch to ${the(name)} at the top` : "";
    return `This server has ${the(model.name)} now: run again, it answers in its own way${back}.`;
  }
  return `It was made with another revision of the model (${revision.slice(0, 8)}; here ${model.revision.slice(0, 8)}): run again, it may go another way.`;
}
