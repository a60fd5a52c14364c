// @ts-check
/** What a run that was not made just now is, in a sentence or two. */

/** @import { RunLog } from "./log.js" */
import { textOf } from "./prompts.js";

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
  const what = !log.recording && !log.gallery ? `A run of ${maker} that is going on` : `${log.recording && log.server && !log.gallery ? "A stored run" : "A recording"} of ${maker}`;
  const said = `${what}, ${when}: “${prompt.length > SHOWN ? `${prompt.slice(0, SHOWN - 1)}…` : prompt}”`;
  if (!model || model.revision === started.model_revision) return said;
  if (started.recipe.model && started.recipe.model !== model.name) return `${said} This server has ${model.name === "embedded" ? "the embedded model" : model.name}: run again, it answers in its own way.`;
  return `${said} It was made with another revision of the model (${started.model_revision.slice(0, 8)}; here ${model.revision.slice(0, 8)}): run again, it may go another way.`;
}
