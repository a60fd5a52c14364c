import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMON, RULES, inForce, nearest, ruleOf, samplerOf } from "../run/rules.js";

test("each slider has every stop, and goes to the nearest for a value between", () => {
  for (const { stops, usual } of Object.values(RULES)) {
    if (!stops) continue;
    stops.forEach((stop, at) => assert.equal(nearest(stops, stop, true), at));
    assert.ok(stops.includes(usual));
  }
  const { stops } = RULES.entropy_bound;
  assert.equal(stops[nearest(stops, 0.12, true)], 0.1);
  assert.equal(stops[nearest(stops, 8.6, true)], 10);
  assert.equal(stops[nearest(stops, 1e6, true)], 10);
  assert.equal(stops[nearest(stops, 0.001, true)], 0);
});

const VALUES = { name: "fixed_k", k: 3, entropy_bound: 0.2, margin: 0.1, t_max: 1, t_min: 0.5, max_denoising_steps: 9, confidence_threshold: 0, stability_threshold: 2 };

test("a sampler has its own rule's parameter and no other's", () => {
  assert.deepEqual(samplerOf(VALUES), { name: "fixed_k", k: 3, t_max: 1, t_min: 0.5, max_denoising_steps: 9, confidence_threshold: 0, stability_threshold: 2 });
  assert.deepEqual(Object.keys(samplerOf({ ...VALUES, name: "euler" })), ["name", "kappa", ...COMMON]);
  assert.equal(samplerOf({ ...VALUES, name: undefined }).entropy_bound, 0.2);
  assert.equal(ruleOf({ name: "nothing" }), RULES.entropy_bound);
});

test("what is in force comes from the step, before it from the recipe", () => {
  assert.deepEqual(inForce({ name: "fixed_k", k: 3 }, undefined), ["k", 3]);
  assert.deepEqual(inForce({ name: "fixed_k", k: 3 }, { k: 5 }), ["k", 5]);
  assert.deepEqual(inForce({ name: "euler", kappa: "linear" }, { jump_probability: 0.25 }), ["jump", 0.25]);
  assert.deepEqual(inForce({ name: "entropy_bound", entropy_bound: 0.1 }, { entropy_bound: 0.3, k: null }), ["bound", 0.3]);
});
