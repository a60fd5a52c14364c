// @ts-check
/**
 * What a step would have accepted at another temperature, as far as its recorded alternatives tell.
 *
 * A trace has the best few probabilities of a position, not all of them. At another temperature each probability p becomes
 * p^a, a = recorded temperature / other one, and what the unrecorded ones add lies between two bounds. So each entropy
 * is known to lie in an interval; where the intervals settle which positions are accepted, the answer is exact, else it is open.
 */

/** @import { Step } from "./wire.js" */

/** Probabilities are recorded to five digits. */
const ROUNDING = 5e-6;
/** A recorded probability below this is counted among the unrecorded ones: rounding would make too much of it. */
const LEAST = 1e-3;

/**
 * Bounds of a position's entropy at another temperature.
 * @param {number[]} probabilities the best recorded ones, best first, rounded
 * @param {number} entropy in nats, at the recorded temperature
 * @param {number} power recorded temperature / other one
 * @param {number} vocabulary how many tokens there are
 * @returns {[number, number]}
 */
export function entropyBounds(probabilities, entropy, power, vocabulary) {
  const known = probabilities.filter((p) => p >= LEAST);
  const others = vocabulary - known.length;
  const sum = known.reduce((total, p) => total + p, 0);
  // An entropy is at least -ln(p) of the most probable token, and so at least all that is beside it.
  const most = Math.min(1 - sum + known.length * ROUNDING, entropy);
  const least = Math.max(0, 1 - sum - known.length * ROUNDING);
  const next = probabilities[known.length];
  const top = Math.min(most, next === undefined ? known.at(-1) ?? 1 : next + ROUNDING);
  // Unrecorded ones weigh least spread out and most in few places if the power is above 1, and the other way round below.
  const fewest = least * (top > 0 ? top ** (power - 1) : 0);
  const spread = others * (least / others) ** power;
  const low = power > 1 ? spread : Math.min(fewest, spread);
  const high = power > 1 ? most * top ** (power - 1) : others * (most / others) ** power;
  const weights = known.map((p) => p ** power);
  const mass = weights.reduce((total, w) => total + w, 0);
  const inner = mass > 0 ? Math.log(mass) - weights.reduce((total, w) => total + w * Math.log(w), 0) / mass : 0;
  const flat = Math.log(others);
  /** Entropy where the unrecorded ones have this weight together, and this entropy among themselves. */
  const whole = (/** @type {number} */ rest, /** @type {number} */ among) => {
    const share = rest / (mass + rest);
    return (1 - share) * inner + share * among - plogp(share) - plogp(1 - share);
  };
  // As a function of the share it rises to a single peak, so its least value lies at an end.
  const peak = 1 / (1 + Math.exp(inner - flat));
  const [a, b] = [low, high].map((rest) => rest / (mass + rest));
  const best = Math.min(Math.max(peak, a), b);
  const slack = known.length * ROUNDING * 10 * Math.max(1, power);
  const upper = (1 - best) * inner + best * flat - plogp(best) - plogp(1 - best);
  return [Math.max(0, Math.min(whole(low, 0), whole(high, 0)) - slack), upper + slack];
}

/** @param {number} p */
function plogp(p) {
  return p > 0 ? p * Math.log(p) : 0;
}

/**
 * Which positions a step would have accepted at another temperature and bound.
 * @param {Pick<Step, "entropy" | "pinned" | "temperature" | "top_probabilities">} step
 * @param {number} temperature above 0
 * @param {number} bound in nats
 * @param {number} vocabulary
 * @returns {{mask: boolean[], open: number}} open: for how many positions the recorded alternatives leave it open
 */
export function acceptedWarmer(step, temperature, bound, vocabulary) {
  const free = step.entropy.map((_, position) => position).filter((position) => !step.pinned?.[position]);
  const power = step.temperature / temperature;
  /** @type {Map<number, [number, number]>} */
  const bounds = new Map(free.map((position) => [position, entropyBounds(/** @type {number[][]} */ (step.top_probabilities)[position], step.entropy[position], power, vocabulary)]));
  const mask = step.entropy.map(() => false);
  let open = 0;
  for (const position of free) {
    const [low, high] = /** @type {[number, number]} */ (bounds.get(position));
    let least = 0;
    let most = 0;
    for (const [other, [lower, upper]] of bounds) {
      if (other === position) continue;
      if (upper < low) least += lower;
      if (lower <= high) most += Math.min(upper, high);
    }
    mask[position] = most <= bound;
    if (most > bound && least <= bound) open += 1;
  }
  return { mask, open };
}
