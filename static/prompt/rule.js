// @ts-check
/** The control of the rule: which one decides, and its own parameter. A change of rule is for the next run. */

/** @import { Controls } from "./controls.js" */
/** @import { Rule } from "../run/rules.js" */
import { h } from "../parts/element.js";
import { RULES, USUAL, nearest, ruleOf } from "../run/rules.js";

/**
 * @param {HTMLElement} element
 * @param {Controls} controls
 */
export function ruleControl(element, controls) {
  const select = h(
    "select.chip.small.speed",
    { id: "rule-name", "aria-label": "Rule of acceptance", onchange: () => controls.set("sampler.name", select.value) },
    ...Object.entries(RULES).map(([value, { title }]) => h("option", { value }, title)),
  );
  const knobs = Object.values(RULES).map((rule) => ({ rule, ...knob(rule, controls) }));
  const hint = h("p.hint");
  const show = () => {
    const mine = ruleOf(controls.settings.sampler);
    select.value = controls.settings.sampler.name ?? "entropy_bound";
    hint.textContent = mine.hint;
    hint.hidden = !mine.hint;
    for (const { rule, element: each, show: paint } of knobs) {
      each.hidden = rule !== mine;
      paint();
    }
  };
  controls.addEventListener("change", (/** @type {any} */ event) => event.detail.group === "sampler" && show());
  controls.addEventListener("reset_rule", () => {
    for (const [field, usual] of Object.entries({ name: "entropy_bound", ...USUAL })) controls.set(`sampler.${field}`, usual);
  });
  element.append(h("label.start-row", {}, h("span", {}, "Rule"), select), hint, ...knobs.map((each) => each.element));
  show();
}

/**
 * The control of a rule's parameter: a slider with even stops and a box for any other value, or a list of choices.
 * @param {Rule} rule
 * @param {Controls} controls
 */
function knob(rule, controls) {
  const { field, label, stops, range, choices } = rule;
  const path = `sampler.${field}`;
  const value = () => /** @type {any} */ (controls.settings.sampler)[field] ?? rule.usual;
  if (choices || !stops || !range) {
    const select = h("select.chip.small.speed", { "aria-label": label, onchange: () => controls.set(path, select.value) }, ...(choices ?? []).map(([each, name]) => h("option", { value: each }, name)));
    return { element: h("label.start-row.rule-knob", { id: field }, h("span", {}, label), select), show: () => void (select.value = value()) };
  }
  const [min, max, step] = range;
  const box = h("input", { type: "number", id: `${field.replaceAll("_", "-")}-value`, min, max, step, "aria-label": label });
  const slider = h("input", { type: "range", min: 0, max: stops.length - 1, step: 1, "aria-label": label });
  const show = () => {
    const now = value();
    if (document.activeElement !== box) box.value = String(now);
    slider.value = String(nearest(stops, now, field === "entropy_bound" || field === "k"));
    slider.setAttribute("aria-valuetext", String(now));
    slider.style.setProperty("--range_progress", `${(100 * Number(slider.value)) / (stops.length - 1)}%`);
  };
  slider.addEventListener("input", () => controls.set(path, stops[Number(slider.value)]));
  box.addEventListener("input", () => {
    if (box.value !== "" && box.validity.valid) controls.set(path, Number(box.value));
  });
  box.addEventListener("blur", show);
  return { element: h("div.knob.rule-knob", { id: field }, h("div.head", {}, h("label", { for: box.id }, label), box), slider), show };
}
