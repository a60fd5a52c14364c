import assert from "node:assert/strict";
import { test } from "node:test";
import { BadLink, decode, encode, lessen } from "../run/hash.js";

const USUAL = {
  mode: "diffusion", messages: [{ role: "user", content: "" }], thinking: false, seed: 0, max_new_tokens: 256,
  sampler: { name: "entropy_bound", entropy_bound: 0.1, t_max: 0.8, t_min: 0.4, max_denoising_steps: 48, confidence_threshold: 0.005, stability_threshold: 1 },
  decoding: { temperature: 1, top_k: 64, top_p: 0.95 }, edits: [],
};
const recipe = {
  ...USUAL, messages: [{ role: "user", content: "Grüße 🦊 </script> \u2028" }], seed: 2 ** 53 - 1, sampler: { ...USUAL.sampler, t_max: 1.5 },
  edits: [{ type: "pin", canvas: 0, step: 3, start: 1, text: " a" }, { type: "infill", text: "___" }],
};
const state = { mode: "side_by_side", recipe, runs: { diffusion: "abc_-1" }, revision: "00ff", at: { diffusion: 7 }, speed: null, view: ["noise"], chosen: { position: 3, canvas: -1 }, file: true };

/** A hash of any JSON value. */
async function hashOf(value) {
  const bytes = await new Response(new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer();
  return `#s=1.${Buffer.from(bytes).toString("base64url")}`;
}

test("a state comes back as it was", async () => {
  const hash = await encode(state, USUAL);
  assert.match(hash, /^#s=1\.[\w-]+$/);
  assert.deepEqual(await decode(hash, USUAL), { state });
  assert.equal(await encode((await decode(hash, USUAL)).state, USUAL), hash);
});

test("what the defaults say is left out", () => {
  assert.deepEqual(lessen(USUAL, USUAL), {});
  assert.deepEqual(Object.keys(lessen(recipe, USUAL)), ["messages", "seed", "sampler", "edits"]);
  assert.deepEqual(lessen(recipe, USUAL).sampler, { t_max: 1.5 });
});

test("a short link names a run; other anchors are not ours", async () => {
  assert.deepEqual(await decode("#run=Zm9v-_", USUAL), { run: "Zm9v-_" });
  assert.equal(await decode("", USUAL), null);
  assert.equal(await decode("#chapter", USUAL), null);
  await assert.rejects(decode("#run=../x", USUAL), BadLink);
});

test("a link that is cut, changed, old or new says so", async () => {
  const hash = await encode(state, USUAL);
  await assert.rejects(decode(hash.slice(0, -9), USUAL), /cut off or changed/);
  await assert.rejects(decode(`${hash.slice(0, 30)}%%`, USUAL), /cut off or changed/);
  await assert.rejects(decode("#s=", USUAL), /cut off or changed/);
  await assert.rejects(decode("#s=2.abc", USUAL), /newer version/);
  await assert.rejects(decode("#s=0.abc", USUAL), /older version/);
});

test("a link cannot put anything else on the page", async () => {
  const bad = [
    null, [], { mode: "x" }, { mode: "diffusion" },
    ...[
      { recipe: { sampler: { t_max: "1" } } }, { recipe: { sampler: { other: 1 } } }, { recipe: { messages: [] } }, { recipe: { messages: [{ content: 1 }] } },
      { recipe: { edits: [{ type: "script" }] } }, { recipe: { edits: [{ type: "pin", text: { a: 1 } }] } }, { recipe: { edits: [{ type: "set", sampler: "x" }] } }, { recipe: { edits: [{ type: "renoise", start: "1" }] } }, { recipe: { __other: 1 } }, { recipe: { seed: 0.5 } }, { runs: { diffusion: "a/b" }, recipe: {} }, { speed: "fast", recipe: {} },
      { at: { diffusion: "x" }, recipe: {} }, { chosen: { position: 1 }, recipe: {} },
    ].map((more) => ({ mode: "diffusion", ...more })),
  ];
  for (const value of bad) await assert.rejects(decode(await hashOf(value), USUAL), BadLink, JSON.stringify(value));
});

test("a link that unpacks to a flood is refused", async () => {
  await assert.rejects(decode(await hashOf({ mode: "diffusion", recipe: { messages: [{ role: "user", content: "a".repeat(2 << 20) }] } }), USUAL), /says more than one can say/);
});

test("links to rooms and lessons are read, and those that were cut off are refused", async () => {
  assert.deepEqual(await decode("#room=K7MX4", USUAL), { room: { code: "K7MX4", token: undefined } });
  assert.deepEqual(await decode("#room=K7MX4&teach=WyJL.a-b_c", USUAL), { room: { code: "K7MX4", token: "WyJL.a-b_c" } });
  assert.deepEqual(await decode("#lesson=noise", USUAL), { lesson: { name: "noise", part: 0, trim: false } });
  assert.deepEqual(await decode("#lesson=noise&part=3&trim", USUAL), { lesson: { name: "noise", part: 2, trim: true } });
  for (const hash of ["#room=K7M", "#room=K7MX4&teach=", "#lesson=../x", "#lesson=noise&part=x"]) {
    await assert.rejects(decode(hash, USUAL), BadLink);
  }
});
