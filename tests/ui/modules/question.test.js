import assert from "node:assert/strict";
import { test } from "node:test";
import { RunLog } from "../run/log.js";
import { asked, tallied, truthOf } from "../run/question.js";

function logOf(...masks) {
  const log = new RunLog();
  log.append({ type: "run_started", run: "r", seq: 0, canvas_length: 4, end_ids: [1], recipe: {}, texts: {} });
  log.append({ type: "canvas_started", run: "r", seq: 1, canvas: 0, canvas_ids: [5, 6, 7, 8], texts: {} });
  masks.forEach((accepted, at) => log.append({ type: "step", run: "r", seq: 2 + at, canvas: 0, step: at + 1, accepted, sampled: [5, 6, 7, 8], texts: {} }));
  return log;
}

test("the question is about the step after the event, and the positions that are open before it", () => {
  const log = logOf([true, false, false, true], [true, true, false, false]);
  assert.deepEqual(asked(log, 1), { canvas: 0, step: 1, left: new Set([0, 1, 2, 3]) });
  assert.deepEqual(asked(log, 2), { canvas: 0, step: 2, left: new Set([1, 2]) });
  assert.equal(asked(log, 0), null);
  assert.deepEqual(truthOf(log, 1), { step: 1, left: new Set([0, 1, 2, 3]), fresh: new Set([0, 3]) });
  assert.deepEqual(truthOf(log, 2), { step: 2, left: new Set([1, 2]), fresh: new Set([1]) });
  assert.equal(truthOf(log, 3), null, "that step has not been taken");
});

test("nothing is asked about a canvas that is done, and pinned positions are no answer", () => {
  const log = logOf([true, false, false, true]);
  log.append({ type: "canvas_committed", run: "r", seq: 3, canvas: 0, ids: [5, 6, 7, 8], steps: 1, text: "", texts: {} });
  assert.equal(asked(log, 2), null);
  const pinned = logOf();
  pinned.append({ type: "step", run: "r", seq: 2, canvas: 0, step: 1, accepted: [false, false, true, false], pinned: [true, false, false, false], texts: {} });
  assert.deepEqual(asked(pinned, 2).left, new Set([1, 3]));
});

test("the tally counts right votes, the most named first", () => {
  const truth = { step: 2, left: new Set([1, 2, 3]), fresh: new Set([1]) };
  const { rows, votes, right } = tallied({ 1: 2, 2: 5, 3: 2 }, truth);
  assert.deepEqual(rows.map(({ position }) => position), [2, 1, 3]);
  assert.deepEqual(rows.map(({ right }) => right), [false, true, false]);
  assert.deepEqual([votes, right], [9, 2]);
  assert.equal(tallied({ 1: 1 }, null).rows[0].right, null);
});
