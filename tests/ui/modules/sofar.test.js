import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { RunLog } from "../run/log.js";
import { soFar } from "../run/sofar.js";
import { parseTrace } from "../run/wire.js";

const log = new RunLog({ recording: true });
for (const event of parseTrace(readFileSync(process.env.TRACE, "utf8"))) log.append(event);

test("at the end the figures are those of the engine", () => {
  const { metrics } = log.finished;
  const { passes, tokens, rate, first, seconds } = soFar(log, log.frames.length - 1);
  assert.equal(passes, metrics.total_denoising_steps);
  assert.equal(tokens, metrics.total_tokens);
  for (const [mine, theirs] of [[rate, metrics.tokens_per_second], [first, metrics.time_to_first_token], [seconds, metrics.seconds]]) assert.ok(Math.abs(mine - theirs) < 1e-9 * theirs);
});

test("in the first canvas there are steps and accepted positions, and nothing final", () => {
  const at = log.frames.findIndex(({ event }) => event.type === "step" && event.step === 3);
  const { event } = log.frames[at];
  assert.deepEqual(soFar(log, at), { passes: 3, accepted: event.accepted.filter(Boolean).length, tokens: 0, rate: null, first: null, seconds: event.device_ms / 1000 });
});

test("before the first frame nothing is known", () => {
  assert.deepEqual(soFar(log, -1), { passes: 0, accepted: 0, tokens: 0, rate: null, first: null, seconds: 0 });
});

test("of an autoregressive run the first token does not count towards the rate", () => {
  const written = new RunLog();
  written.append({ type: "run_started", seq: 0, recipe: { mode: "autoregressive" } });
  for (const index of [0, 1, 2]) written.append({ type: "token", seq: index + 1, index, ms: 10, device_ms: 50 + 10 * index, texts: {} });
  assert.deepEqual(soFar(written, 2), { passes: 3, accepted: 0, tokens: 3, rate: 100, first: 0.05, seconds: 0.07 });
});
