import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptedWarmer, entropyBounds } from "../run/heat.js";
import { acceptedAt } from "../run/states.js";

const VOCABULARY = 60;
const RECORDED = 5;

/** Numbers in (0, 1) that are the same each time. */
function numbers(seed) {
  let state = seed;
  return () => ((state = (state * 1103515245 + 12345) % 2 ** 31) + 0.5) / 2 ** 31;
}

function softmax(logits, temperature) {
  const scaled = logits.map((x) => x / temperature);
  const top = Math.max(...scaled);
  const weights = scaled.map((x) => Math.exp(x - top));
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((w) => w / sum);
}

const entropyOf = (probabilities) => probabilities.reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0);

/** What a step records of logits: the positions are of all kinds, from sure to undecided. */
function recorded(random, temperature, positions) {
  const logits = Array.from({ length: positions }, () => {
    const spread = 12 * random() ** 2;
    const row = Array.from({ length: VOCABULARY }, () => spread * random());
    row[Math.floor(VOCABULARY * random())] += 30 * random();
    return row;
  });
  const all = logits.map((row) => softmax(row, temperature));
  const best = all.map((row) => row.toSorted((a, b) => b - a).slice(0, RECORDED).map((p) => Number(p.toFixed(5))));
  return { logits, step: { temperature, entropy: all.map(entropyOf), top_probabilities: best, pinned: null, accepted: [] } };
}

test("an entropy lies between its bounds, whatever the logits and the temperature", () => {
  const random = numbers(1);
  let width = 0;
  for (let round = 0; round < 400; round += 1) {
    const temperature = 0.3 + random();
    const other = 0.2 + 1.5 * random();
    const { logits, step } = recorded(random, temperature, 8);
    logits.forEach((row, at) => {
      const [low, high] = entropyBounds(step.top_probabilities[at], step.entropy[at], temperature / other, VOCABULARY);
      const truth = entropyOf(softmax(row, other));
      assert.ok(low <= truth && truth <= high, `${low} <= ${truth} <= ${high} at ${temperature} → ${other}`);
      width += high - low;
    });
  }
  assert.ok(width / 3200 < 1, `they say something: ${width / 3200} nats wide`);
});

test("where nothing is open, the acceptance is that of the true entropies", () => {
  const random = numbers(2);
  let settled = 0;
  for (let round = 0; round < 500; round += 1) {
    const { logits, step } = recorded(random, 0.4 + 0.4 * random(), 12);
    const other = 0.2 + random();
    const bound = 2 * random();
    const { mask, open } = acceptedWarmer(step, other, bound, VOCABULARY);
    const truth = acceptedAt({ ...step, entropy: logits.map((row) => entropyOf(softmax(row, other))) }, bound);
    mask.forEach((accepted, at) => !accepted || assert.ok(truth[at], "what is settled is true"));
    if (open) continue;
    settled += 1;
    assert.deepEqual(mask, truth);
  }
  assert.ok(settled > 100 && settled < 500, `${settled} of 500 are settled`);
});

test("pinned positions spend nothing and are not accepted", () => {
  const { step } = recorded(numbers(3), 0.8, 4);
  const { mask } = acceptedWarmer({ ...step, pinned: [true, false, false, false] }, 0.8, 1e9, VOCABULARY);
  assert.deepEqual(mask, [false, true, true, true]);
});
