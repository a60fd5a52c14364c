// @ts-check
/** What the page shows as one state, and the page from such a state: the two directions of a link. */

/** @import { Controls } from "./prompt/controls.js" */
/** @import { PageState } from "./run/hash.js" */
/** @import { Inspector } from "./inspector/inspector.js" */
/** @import { Lane } from "./lane/lane.js" */
/** @import { AcceptanceMap } from "./lane/map.js" */
/** @import { Notice } from "./parts/notice.js" */
/** @import { Pace } from "./live/pace.js" */
/** @import { Past } from "./files/past.js" */
/** @import { Projector } from "./classroom/projector.js" */
/** @import { RaceCard } from "./races/racecard.js" */
/** @import { Session } from "./live/session.js" */
/** @import { Lab } from "./lab/lab.js" */
/** @import { Views } from "./head/views.js" */
/** @import { Recipe } from "./run/wire.js" */
import { recipeOf } from "./run/fork.js";
import { lessen } from "./run/hash.js";
import { elsewhere, introduce } from "./live/introduction.js";
import { RunLog } from "./run/log.js";
import { recall } from "./live/recording.js";
import { unshelve } from "./files/shelf.js";
import { takeUp } from "./live/takeup.js";

/** @typedef {"diffusion" | "autoregressive"} Mode */

export class PageStates {
  /** @param {{controls: Controls, lanes: Record<Mode, Lane>, pace: Pace, map: AcceptanceMap, inspector: Inspector, session: Session, past: Past, race: RaceCard, notice: Notice, views: Views, lab: Lab, projector: Projector, version: string, model: () => any}} parts */
  constructor(parts) {
    this.parts = parts;
    this.turn = 0;
    /** The revision that a link without runs was made with, and the model's name. @type {{revision: string, name?: string | null} | null} */
    this.linked = null;
    /** What a lane was told of its run's model. @type {Map<Lane, string>} */
    this.told = new Map();
  }

  /** Says where what is shown comes from other weights than the server's, once these are known. */
  checkRevision() {
    const { lanes, notice, model } = this.parts;
    const here = model()?.revision;
    if (!here) return;
    for (const lane of Object.values(lanes)) this.#tell(lane, here);
    const { linked } = this;
    if (!linked || linked.revision === here) return;
    if (linked.name && linked.name !== model().name) notice.say(`The link was made with the model ${linked.name}. ${elsewhere(linked.name, linked.revision, model())}`, "note");
    else notice.say(`The link was made with another revision of the model (${linked.revision.slice(0, 8)}; here ${here.slice(0, 8)}), so the same recipe may go another way.`, "note");
  }

  /**
   * Says in a lane whose run it shows, where that is no longer the model at hand; and no more, once it is again.
   * @param {Lane} lane
   * @param {string} here
   */
  #tell(lane, here) {
    const { log } = lane.player;
    if (!log.started || log.error || log.bundled) return;
    const stands = !lane.message.hidden && lane.message.textContent === this.told.get(lane);
    const foreign = log.started.model_revision !== here;
    const own = !log.recording; // made on this page: it needs no introduction while its model is here
    if ((!foreign && !stands) || (own && !(log.finished && (stands || lane.message.hidden)))) return;
    lane.say(own && !foreign ? "" : this.#introduce(lane, log));
  }

  /**
   * @param {Lane} lane
   * @param {RunLog} log
   */
  #introduce(lane, log) {
    const sentence = introduce(log, this.parts.model());
    this.told.set(lane, sentence);
    return sentence;
  }

  /** Modes whose lanes are shown and have a run of somebody's. @returns {Mode[]} */
  get #modes() {
    const { controls, lanes } = this.parts;
    return controls.modes.filter((mode) => lanes[mode].player.log.started && !lanes[mode].player.log.bundled);
  }

  /** @returns {PageState} */
  gather() {
    const { controls, lanes, pace, map, inspector, race, views, lab, projector } = this.parts;
    const { mode } = controls.settings;
    const wanted = pageRecipe(controls.modes.map((each) => controls.recipe(each)));
    const modes = this.#modes;
    const shown = modes.length ? pageRecipe(modes.map((each) => /** @type {Recipe} */ (recipeOf(lanes[each].player.log)))) : null;
    /** @type {PageState} */
    const state = { mode, recipe: shown ?? wanted, runs: {}, speed: pace.stepsPerSecond, view: [] };
    const bare = (/** @type {Recipe} */ recipe) => JSON.stringify(lessen({ ...recipe, model: undefined }, controls.usual));
    if (shown && bare(shown) !== bare(wanted)) state.draft = wanted;
    const at = /** @type {Record<string, number>} */ ({});
    for (const each of modes) {
      const { log, playing, atEnd, cursor } = lanes[each].player;
      if ((log.server || log.shelved) && log.run) /** @type {any} */ (state.runs)[each] = log.run;
      if (log.shelved) state.file = true;
      if (!playing && !(atEnd && log.finished) && cursor >= 0 && !race.on) at[each] = cursor;
      state.revision ??= log.started?.model_revision;
    }
    if (Object.keys(at).length) state.at = at;
    const { canvas, position } = inspector.chosen;
    if (modes.length) state.chosen = { canvas: canvas ?? -1, position };
    const view = [lanes.diffusion.legend?.noise && "noise", map.by === "entropy" && "entropy", figure()?.classList.contains("open") && "figure", race.on && "race", views.view === "lab" && "lab", projector.on && "projector"];
    state.view = /** @type {string[]} */ (view.filter(Boolean));
    if (views.view === "lab" && lab.sweep) state.sweep = lab.sweep.id;
    return state;
  }

  /**
   * Shows a state, or one run by its id.
   * @param {{state?: PageState, run?: string, missing?: string}} found  missing: why a run is not there, if that is known already
   */
  async open({ state, run, missing = "" }) {
    this.turn += 1;
    const { turn } = this;
    const { notice, past, session, views, lab, projector } = this.parts;
    notice.clear();
    for (const name of session.errors.shown.keys()) if (name !== "run") session.errors.clear(name); // of the recipe that goes
    views.choose(state?.view?.includes("lab") ? "lab" : "play");
    projector.turn(state?.view?.includes("projector") ?? false);
    if (views.view === "lab" && state?.sweep) void lab.open(state.sweep);
    this.linked = null;
    const ids = run ? [run] : Object.values(state?.runs ?? {});
    const shown = Object.values(this.parts.lanes).map((lane) => lane.player.log.run);
    if (!ids.length || !ids.every((id) => shown.includes(id))) session.leave();
    /** @type {RunLog[]} */
    const logs = [];
    for (const id of ids) {
      try {
        const opened = past.find(id) ?? (state?.file ? await unshelve(id, this.parts.version) : null);
        logs.push(opened ?? (await recall(id, (going) => takeUp(session, going))));
      } catch (error) {
        missing = state?.file ? "This run was opened from a file that is not in this browser." : /** @type {Error} */ (error).message;
      }
      if (turn !== this.turn) return;
    }
    if (run) {
      if (missing) notice.say(missing);
      else this.showRun(logs[0]);
      return;
    }
    if (state) this.#show(state, logs, missing);
  }

  /**
   * A run of its own: from a file, from the list, from a short link.
   * @param {RunLog} log
   */
  showRun(log) {
    const { controls, session, lanes, views } = this.parts;
    const recipe = recipeOf(log);
    const mode = recipe?.mode ?? "diffusion";
    views.choose("play");
    if (session.live?.log !== log) session.leave();
    if (log.server) log.bundled = false; // a recording of the gallery that somebody chose has a link of its own
    if (recipe) controls.take(recipe, mode);
    if (lanes[mode].player.log !== log) this.#present(lanes[mode], log);
    else lanes[mode].player.home();
    if (log.live) lanes[mode].player.followLive();
    else lanes[mode].player.play();
  }

  /**
   * Shows a run with a sentence that says what it is, and says it anew when it has ended.
   * @param {Lane} lane
   * @param {RunLog} log
   */
  #present(lane, log) {
    lane.show(log, this.#introduce(lane, log));
    if (log.live) log.addEventListener("event", () => log.finished && !log.error && lane.player.log === log && lane.say(this.#introduce(lane, log)));
  }

  /**
   * @param {PageState} state
   * @param {RunLog[]} logs
   * @param {string} missing why a run is not there
   */
  #show(state, logs, missing) {
    const { controls, lanes, pace, map, inspector, notice, race } = this.parts;
    const whole = logs.length > 0 && !missing;
    controls.take(whole ? state.draft ?? state.recipe : state.recipe, state.mode);
    if (state.speed !== undefined) pace.choose(state.speed);
    const view = state.view ?? [];
    lanes.diffusion.legend?.choose(view.includes("noise"));
    map.choose(view.includes("entropy") ? "entropy" : "state");
    if (view.includes("figure") && !figure()?.classList.contains("open")) figure()?.click();
    if (state.chosen) inspector.chosen = { canvas: state.chosen.canvas < 0 ? null : state.chosen.canvas, position: state.chosen.position, anchor: state.chosen.position };
    for (const mode of controls.modes) {
      const log = logs.find((each) => (each.started?.recipe.mode ?? "diffusion") === mode);
      const lane = lanes[mode];
      if (!log) {
        lane.show(new RunLog(), missing ? "" : "From a link: a recipe. Run makes it here, step for step.");
        continue;
      }
      if (lane.player.log !== log) this.#present(lane, log);
      const seq = state.at?.[mode];
      if (seq !== undefined) lane.player.seek(log.frameAt(seq));
      else if (log.live) lane.player.followLive();
      else lane.player.play();
    }
    if (missing) notice.say(`${missing} Its recipe is here: Run makes it again.`, "note");
    this.linked = whole || !state.revision ? null : { revision: state.revision, name: state.recipe.model };
    if (!missing) this.checkRevision();
    if (view.includes("race") && whole) race.open();
  }
}

/**
 * The recipes of both modes as one: a page has one prompt and one seed.
 * @param {Recipe[]} recipes
 * @returns {Recipe}
 */
function pageRecipe(recipes) {
  const [first, second] = recipes;
  return second ? { ...first, decoding: second.decoding, edits: [...(first.edits ?? []), ...(second.edits ?? [])] } : first;
}

/** The button that opens the figure; it has the class `open` while it is. @returns {HTMLElement | null} */
function figure() {
  return document.querySelector("#figure .label-wrap");
}
