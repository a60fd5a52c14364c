// @ts-check
/** Which runs can race, and the page's room for it: diffusion beside AR, or a run beside the one before it. */

/** @import { Controls } from "../prompt/controls.js" */
/** @import { Lane } from "../lane/lane.js" */
/** @import { Past } from "../files/past.js" */
/** @import { Session } from "../live/session.js" */
/** @import { Recipe } from "../run/wire.js" */
import { differences, recipeOf } from "../run/fork.js";
import { endedWell } from "../files/past.js";
import { RaceCard } from "./racecard.js";

export class Races {
  /** @param {{controls: Controls, lanes: Record<"diffusion" | "autoregressive", Lane>, rival: Lane, past: Past, session: Session, announce: (sentence: string) => void}} parts */
  constructor(parts) {
    this.parts = parts;
    this.card = new RaceCard();
    /** The diffusion run that races once its opponent has ended. @type {import("../run/log.js").RunLog | null} */
    this.waiting = null;
    const root = /** @type {HTMLElement} */ (document.getElementById("denoise"));
    this.card.addEventListener("on", (/** @type {any} */ event) => {
      root.toggleAttribute("data-racing", event.detail);
      root.toggleAttribute("data-rival", event.detail && Boolean(this.card.lanes?.includes(parts.rival)));
      for (const lane of this.card.lanes ?? []) lane.release();
    });
    this.card.addEventListener("over", (/** @type {any} */ event) => parts.announce(event.detail));
    this.card.addEventListener("against-ar", () => this.#againstAr());
  }

  /** Looks for runs that could race. */
  offer() {
    const { controls, lanes, rival, past, session } = this.parts;
    const { mode } = controls.settings;
    const { log: now, seenEnd } = lanes.diffusion.player;
    if (session.phase !== "idle" || (mode !== "autoregressive" && !seenEnd && !this.card.on && !now.bundled)) return this.card.offer(null, false);
    if (mode === "side_by_side") {
      const ready = endedWell(now) && endedWell(lanes.autoregressive.player.log) && samePrompt(lanes.diffusion, lanes.autoregressive);
      this.card.offer(ready ? [lanes.diffusion, lanes.autoregressive] : null, !ready && endedWell(now) && !now.bundled);
      if (ready && this.waiting === now) {
        this.waiting = null;
        this.card.open();
      }
      return;
    }
    const before = mode === "diffusion" && endedWell(now) ? past.before(lanes.diffusion) : null;
    if (before && rival.player.log !== before) {
      rival.show(before, "");
      rival.player.pause();
    }
    if (before) rival.say(differences(/** @type {Recipe} */ (recipeOf(before)), /** @type {Recipe} */ (recipeOf(now))));
    this.card.offer(before ? [lanes.diffusion, rival] : null, mode === "diffusion" && endedWell(now) && !now.bundled);
  }

  /** Makes the autoregressive run that the diffusion run is to race. */
  async #againstAr() {
    const { controls, lanes, session } = this.parts;
    const recipe = /** @type {Recipe} */ (recipeOf(lanes.diffusion.player.log));
    controls.switchTo("side_by_side");
    this.waiting = lanes.diffusion.player.log;
    await session.start([{ mode: "autoregressive", recipe: { ...recipe, mode: "autoregressive", model: undefined, edits: [], decoding: controls.settings.decoding } }]);
    this.offer();
  }
}

/**
 * Whether two runs answer the same prompt; only those race.
 * @param {Lane} left
 * @param {Lane} right
 */
function samePrompt(left, right) {
  const prompt = (/** @type {Lane} */ lane) => JSON.stringify(lane.player.log.started?.recipe.messages);
  return prompt(left) === prompt(right);
}
