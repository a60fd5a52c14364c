// @ts-check
/** The small charts of the inspector, as SVG. */

import { svg } from "./element.js";

const WIDTH = 240;

/** @param {number} height @param {string} label @param {...Node} children */
function chart(height, label, ...children) {
  return svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label }, ...children);
}

/** @param {[number, number][]} points */
function path(points) {
  return points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/**
 * Dots of one radius as one path: a line of no length with round ends each.
 * @param {[number, number][]} points
 * @param {number} radius
 */
function dotted(points, radius) {
  return svg("path", { d: points.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join(""), "stroke-width": 2 * radius, class: "dots" });
}

/**
 * Entropy of one position over the steps; a dot where it was accepted, a rule at the present step.
 * @param {{values: (number | null)[], dots: boolean[], now: number, unit: string}} data
 */
export function entropyChart({ values, dots, now, unit }) {
  const height = 60;
  const most = Math.max(...values.map((value) => value ?? 0), 0.05);
  const x = (/** @type {number} */ at) => 4 + (at / Math.max(values.length - 1, 1)) * (WIDTH - 8);
  const y = (/** @type {number} */ value) => height - 6 - (value / most) * (height - 14);
  /** @type {[number, number][]} */
  const points = [];
  /** @type {[number, number][]} */
  const marks = [];
  values.forEach((value, at) => {
    if (value === null) return;
    points.push([x(at), y(value)]);
    if (dots[at]) marks.push([x(at), y(value)]);
  });
  return chart(
    height,
    `Entropy over ${values.length} ${unit}, at most ${most.toFixed(2)} nats`,
    svg("line", { x1: 0, x2: WIDTH, y1: height - 6, y2: height - 6, class: "axis" }),
    ...(now >= 0 ? [svg("line", { x1: x(now), x2: x(now), y1: 2, y2: height - 2, class: "now" })] : []),
    svg("path", { d: path(points), class: "curve" }),
    dotted(marks, values.length > 60 ? 1.3 : 2.2),
  );
}

const BUDGET_HEIGHT = 92;
/** So far from a line of the budget picture it can be taken hold of. */
const GRIP = 9;

/**
 * The nats at the top of the budget picture.
 * @param {number[]} cumulative
 * @param {number} bound
 * @param {number} tried
 */
export function budgetTop(cumulative, bound, tried) {
  const total = cumulative[cumulative.length - 1] ?? 0;
  const high = Math.max(bound, tried);
  return Math.max(Math.min(total * 1.05, high > 0 ? high * 5 : total), Math.min(high, total) * 1.35, 1e-9);
}

/**
 * The bound at a height of the budget picture.
 * @param {number} share of its height, from above
 * @param {number} top nats at the top
 */
export function boundAt(share, top) {
  const sum = ((BUDGET_HEIGHT - 4 - share * BUDGET_HEIGHT) / (BUDGET_HEIGHT - 12)) * top;
  return Number(Math.min(Math.max(sum, 0), top).toPrecision(3));
}

/**
 * How the entropy budget was spent: the running sum over positions in order of entropy, against the bound.
 * @param {{cumulative: number[], bound: number, accepted: number, rank: number, other?: {bound: number, accepted: number} | null, top?: number | null}} data
 *   rank: of the position looked at, −1 for none; other: a bound that is tried, and what it would accept; top: the scale to keep
 */
export function budgetChart({ cumulative, bound, accepted, rank, other = null, top = null }) {
  const height = BUDGET_HEIGHT;
  const total = cumulative[cumulative.length - 1] ?? 0;
  const most = top ?? budgetTop(cumulative, bound, other?.bound ?? 0);
  const x = (/** @type {number} */ at) => 4 + (at / Math.max(cumulative.length - 1, 1)) * (WIDTH - 8);
  const y = (/** @type {number} */ sum) => height - 4 - (sum / most) * (height - 12);
  const grip = Math.max(y(other?.bound ?? bound), 2);
  /** @type {[number, number][]} */
  const points = cumulative.map((sum, at) => [x(at), y(sum)]);
  const spent = points.slice(0, accepted);
  /** Where the curve is not: it crosses the bound after the last position that was accepted. */
  const aside = accepted > cumulative.length / 2 ? { x: 0 } : { x: WIDTH, "text-anchor": "end" };
  const shade = spent.length ? `${path(spent)}L${spent[spent.length - 1][0].toFixed(1)} ${height - 4}L${x(0)} ${height - 4}Z` : "";
  return chart(
    height,
    `${accepted} of ${cumulative.length} positions fit the bound of ${bound} nats; all together have ${total.toFixed(2)} nats`,
    svg("path", { d: shade, class: "shade" }),
    svg("line", { x1: x(accepted - 1), x2: x(accepted - 1), y1: 4, y2: height - 4, class: "edge" }),
    svg("path", { d: path(points), class: "curve" }),
    svg("line", { x1: 0, x2: WIDTH, y1: y(bound), y2: y(bound), class: "bound" }),
    ...(other && Math.abs(y(bound) - y(other.bound)) < 12 ? [] : [svg("text", { ...aside, y: y(bound) - 5, class: "label" }, `bound ${Number(bound.toPrecision(3))} nats`)]),
    ...(other
      ? [
          svg("path", { d: `${path(points.slice(0, other.accepted))}L${x(other.accepted - 1).toFixed(1)} ${height - 4}L${x(0)} ${height - 4}Z`, class: "shade tried" }),
          svg("line", { x1: x(other.accepted - 1), x2: x(other.accepted - 1), y1: 4, y2: height - 4, class: "edge tried" }),
          svg("line", { x1: 0, x2: WIDTH, y1: Math.max(y(other.bound), 2), y2: Math.max(y(other.bound), 2), class: "bound tried" }),
          svg("text", { ...aside, y: Math.max(y(other.bound) - 4, 10), class: "label" }, `tried: ${Number(other.bound.toPrecision(3))} nats`),
        ]
      : []),
    ...(rank >= 0 ? [svg("circle", { cx: x(rank), cy: y(cumulative[rank]), r: 3.5, class: "here" })] : []),
    svg("rect", { x: 0, y: grip - GRIP, width: WIDTH, height: 2 * GRIP, class: "grip" }),
  );
}

/** Mean entropies are drawn down to this one, in nats. */
const LEAST = 1e-4;

/**
 * Mean entropy of the steps of a canvas on a logarithmic scale against the threshold to stop below, with a dot where the draft has
 * been stable for long enough, and the temperature above it, each on its own scale.
 * @param {{means: (number | null)[], temperatures: (number | null)[], stable: boolean[], threshold: number, now: number}} data
 */
export function stopChart({ means, temperatures, stable, threshold, now }) {
  const height = 84;
  const known = means.filter((mean) => mean !== null).map((mean) => Math.max(/** @type {number} */ (mean), LEAST));
  const low = Math.log(Math.min(Math.max(threshold, LEAST), ...known) / 1.6);
  const high = Math.log(Math.max(threshold, LEAST, ...known) * 1.3);
  const x = (/** @type {number} */ at) => 4 + (at / Math.max(means.length - 1, 1)) * (WIDTH - 8);
  const y = (/** @type {number} */ mean) => height - 5 - ((Math.log(Math.max(mean, LEAST)) - low) / (high - low)) * (height - 26);
  const hot = Math.max(...temperatures.map((value) => value ?? 0), 1e-9);
  const warm = (/** @type {number} */ value) => 13 - (value / hot) * 10;
  const line = (/** @type {(number | null)[]} */ values, /** @type {(value: number) => number} */ place) => path(values.flatMap((value, at) => (value === null ? [] : [/** @type {[number, number]} */ ([x(at), place(value)])])));
  const marks = means.flatMap((mean, at) => (mean !== null && stable[at] ? [/** @type {[number, number]} */ ([x(at), y(mean)])] : []));
  return chart(
    height,
    `Mean entropy over ${means.length} steps against the threshold of ${threshold} nats; the draft was stable in ${marks.length} of them`,
    ...(threshold > 0 ? [svg("line", { x1: 0, x2: WIDTH, y1: y(threshold), y2: y(threshold), class: "bound" }), svg("text", { x: 0, y: y(threshold) - 4, class: "label" }, `stops below ${threshold}`)] : []),
    ...(now >= 0 ? [svg("line", { x1: x(now), x2: x(now), y1: 2, y2: height - 2, class: "now" })] : []),
    svg("path", { d: line(temperatures, warm), class: "curve faint" }),
    svg("path", { d: line(means, y), class: "curve" }),
    dotted(marks, 2.2),
  );
}
