import assert from "node:assert/strict";
import { test } from "node:test";
import { splitPiece } from "../lane/canvas.js";
import { number, visible } from "../parts/element.js";
import { parseTrace } from "../run/wire.js";

test("a piece splits into spaces, word and breaks, and nothing is lost", () => {
  assert.deepEqual(splitPiece(" fox"), [" ", "fox", ""]);
  assert.deepEqual(splitPiece(".\n"), ["", ".", "\n"]);
  assert.deepEqual(splitPiece("\n"), ["", "", "\n"]);
  assert.deepEqual(splitPiece(" "), ["", " ", ""]);
  assert.deepEqual(splitPiece(""), ["", "", ""]);
  for (const piece of ["  a b ", "\t\n x", "<img src=x onerror=alert(1)>", "${alert(1)}"]) assert.equal(splitPiece(piece).join(""), piece);
});

test("what cannot be seen is spelled", () => {
  assert.equal(visible("\n"), "⏎");
  assert.equal(visible(" "), "␣");
  assert.equal(visible(""), "∅");
  assert.equal(visible(" fox"), " fox");
});

test("numbers have fixed places, a true minus and no negative zero", () => {
  assert.equal(number(0.23, 3), "0.230");
  assert.equal(number(-1.5, 2), "−1.50");
  assert.equal(number(-0.0001, 3), "0.000");
  assert.equal(number(null, 2), "–");
});

test("a trace that is broken says where", () => {
  assert.equal(parseTrace('{"seq":0}\n\n{"seq":1}\n').length, 2);
  assert.throws(() => parseTrace('{"seq":0}\n{"se'), /Line 2/);
});
