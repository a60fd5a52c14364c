import assert from "node:assert/strict";
import { test } from "node:test";
import { STOPS, nearest } from "../bound.js";

test("the slider has every stop, and goes to the nearest for a value between", () => {
  STOPS.forEach((stop, at) => assert.equal(nearest(stop), at));
  assert.equal(STOPS[nearest(0.12)], 0.1);
  assert.equal(STOPS[nearest(8.6)], 10);
  assert.equal(STOPS[nearest(1e6)], 10);
  assert.equal(STOPS[nearest(0.001)], 0);
});
