// @ts-check
/** The control of the entropy bound: a slider whose stops are even to the eye, from 0.01 to 10, and a box for any other value. */

/** @import { Controls } from "./controls.js" */
import { h } from "./element.js";

export const STOPS = [0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10];
const PATH = "sampler.entropy_bound";

/**
 * The stop nearest to a value.
 * @param {number} value
 */
export function nearest(value) {
  const far = (/** @type {number} */ stop) => Math.abs(Math.log(Math.max(stop, 0.004)) - Math.log(Math.max(value, 0.004)));
  return STOPS.reduce((best, stop, at) => (far(stop) < far(STOPS[best]) ? at : best), 0);
}

/**
 * @param {HTMLElement} element
 * @param {Controls} controls
 */
export function boundControl(element, controls) {
  const box = h("input", { type: "number", id: "entropy-bound-value", min: 0, max: 1e6, step: "any", "aria-label": "Entropy bound, nats" });
  const slider = h("input", { type: "range", min: 0, max: STOPS.length - 1, step: 1, "aria-label": "Entropy bound" });
  const show = () => {
    const { entropy_bound: value } = controls.settings.sampler;
    if (document.activeElement !== box) box.value = String(value);
    slider.value = String(nearest(value));
    slider.setAttribute("aria-valuetext", `${value} nats`);
    slider.style.setProperty("--range_progress", `${(100 * Number(slider.value)) / (STOPS.length - 1)}%`);
  };
  slider.addEventListener("input", () => controls.set(PATH, STOPS[Number(slider.value)]));
  box.addEventListener("input", () => {
    if (box.value !== "" && box.validity.valid) controls.set(PATH, Number(box.value));
  });
  box.addEventListener("blur", show);
  controls.addEventListener("change", (/** @type {any} */ event) => event.detail.name === "entropy_bound" && show());
  element.append(h("div.head", {}, h("label", { for: box.id }, "Entropy bound, nats"), box), slider);
  show();
}
