import assert from "node:assert/strict";
import { test } from "node:test";
import { RunLog } from "../run/log.js";
import { RaceClock, Track, ahead, shortAnswerTax } from "../run/race.js";

function logOf(mode, events, metrics = {}) {
  const log = new RunLog();
  const all = [{ type: "run_started", recipe: { mode }, canvas_length: 8, texts: {} }, ...events, { type: "run_finished", stop_reason: "end_of_turn", metrics, recipe: { mode } }];
  all.forEach((event, seq) => log.append({ run: mode, seq, texts: {}, ...event }));
  return log;
}

const denoised = () => logOf("diffusion", [
  { type: "canvas_started", canvas: 0, device_ms: 10 },
  { type: "step", canvas: 0, step: 1, device_ms: 30, accepted: [true, false] },
  { type: "step", canvas: 0, step: 2, device_ms: 50, accepted: [true, true] },
  { type: "canvas_committed", canvas: 0, ids: [3, 4, 5, 1], device_ms: 50 },
], { total_tokens: 4, canvases: 1 });
const written = () => logOf("autoregressive", [0, 1, 2, 3].map((index) => ({ type: "token", index, ms: 10, device_ms: 20 + 20 * index })));

test("a track says at every moment of device time where its run stands", () => {
  const track = new Track(denoised());
  assert.equal(track.end, 50);
  assert.equal(track.first, 50);
  assert.deepEqual(track.at(5), { index: -1, passes: 0, tokens: 0, accepted: 0, rate: null, done: false });
  assert.deepEqual(track.at(49), { index: 1, passes: 1, tokens: 0, accepted: 1, rate: null, done: false });
  const end = track.at(1000);
  assert.deepEqual([end.index, end.passes, end.tokens, end.accepted, end.done], [3, 2, 4, 0, true]);
  assert.ok(Math.abs(end.rate - 4 / 0.04) < 1e-9, "prefill left out, and time stands still after the end");
});

test("a written run has its first token when that was written", () => {
  const track = new Track(written());
  assert.equal(track.first, 20);
  assert.equal(track.prefill, 10);
  assert.equal(track.at(45).tokens, 2);
});

test("who is ahead: more final tokens, until one is done", () => {
  const [left, right] = [new Track(denoised()), new Track(written())];
  assert.deepEqual(ahead(left, right, 0), { who: "nobody", by: 0, unit: "accepted", over: false });
  assert.deepEqual(ahead(left, right, 45), { who: "right", by: 2, unit: "tokens", over: false });
  assert.deepEqual(ahead(left, right, 60), { who: "left", by: 10, unit: "ms", over: false });
  assert.deepEqual(ahead(left, right, 99), { who: "left", by: 30, unit: "ms", over: true });
  assert.deepEqual(ahead(left, new Track(logOf("diffusion", [{ type: "step", canvas: 0, step: 1, device_ms: 200, accepted: [] }])), 40), { who: "left", by: 1, unit: "accepted", over: false });
  assert.equal(ahead(left, new Track(denoised()), 99).who, "nobody");
});

test("the clock runs device time at a share of the person's", () => {
  const clock = new RaceClock(100);
  clock.factor = 1 / 8;
  clock.play();
  clock.tick(1000);
  assert.equal(clock.tick(1400), true);
  assert.equal(clock.ms, 50);
  clock.pause();
  assert.equal(clock.tick(5000), false);
  assert.equal(clock.ms, 50);
  clock.play();
  clock.tick(9000);
  assert.equal(clock.ms, 50, "a pause costs nothing");
  assert.equal(clock.tick(9400), false);
  assert.equal(clock.ms, 100);
  clock.play();
  assert.equal(clock.ms, 0, "again from the start");
  clock.seek(500);
  assert.equal(clock.ms, 100);
});

test("a short answer says what it paid for", () => {
  assert.equal(shortAnswerTax(denoised()), "Paid for a canvas of 8, used 4.");
  assert.equal(shortAnswerTax(written()), "");
});
