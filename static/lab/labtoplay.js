// @ts-check
/** From the lab back to the player: a setting to go on with, or one of its runs to watch. */

/** @import { Controls } from "../prompt/controls.js" */
/** @import { Notice } from "../parts/notice.js" */
/** @import { Session } from "../live/session.js" */
/** @import { SweepRun, SweepWhole } from "./labapi.js" */
/** @import { Decoding, Sampler } from "../run/wire.js" */
/** @import { Views } from "../head/views.js" */

/**
 * Puts a setting on the page; the prompt stays.
 * @param {{controls: Controls, views: Views, announce: (sentence: string) => void}} page
 * @param {{sampler: Sampler, decoding?: Decoding, max_new_tokens?: number, mode: "diffusion" | "autoregressive"}} setting
 */
export function useSettings({ controls, views, announce }, { sampler, decoding, max_new_tokens, mode }) {
  const now = controls.recipe(mode);
  controls.take({ ...now, sampler, decoding: decoding ?? now.decoding, max_new_tokens: max_new_tokens ?? now.max_new_tokens }, mode);
  views.choose("play");
  announce("The settings are on the page. Run uses them.");
  document.getElementById("run")?.focus();
}

/**
 * Makes a run of a sweep again, in the player: the same recipe and the same weights give the same run.
 * @param {{controls: Controls, views: Views, session: Session, notice: Notice, model: any}} page
 * @param {{run: SweepRun, sweep: SweepWhole}} what
 */
export function runAgain({ controls, views, session, notice, model }, { run, sweep }) {
  const recipe = { ...controls.usual, ...run.recipe };
  controls.take(recipe, recipe.mode);
  views.choose("play");
  notice.clear();
  if (model && model.revision !== sweep.revision) notice.say(`The sweep was made with another revision of the model (${sweep.revision.slice(0, 8)}; here ${model.revision.slice(0, 8)}), so the run may go another way.`, "note");
  void session.run();
}
