import assert from "node:assert/strict";
import { test } from "node:test";

import { findSpans, regions } from "../src/mathtext.js";
import { cutPlaces, toCharacters, toUnits } from "../src/prose/sentences.js";

const pieces = (text) => {
  const ends = [0, ...cutPlaces(text), text.length];
  return ends.slice(1).map((end, i) => text.slice(ends[i], end));
};

test("sentences are parted, and lines", () => {
  assert.deepEqual(pieces("So $x=2$. Then y.\nDone"), ["So $x=2$. ", "Then y.\n", "Done"]);
});

test("a formula and code are never cut", () => {
  assert.deepEqual(pieces("By $a. B$ and `c. D` it holds."), ["By $a. B$ and `c. D` it holds."]);
});

test("abbreviations and list numbers end no sentence", () => {
  assert.deepEqual(pieces("See e.g. Theorem 2. Now\n2. Second"), ["See e.g. Theorem 2. ", "Now\n", "2. Second"]);
  assert.deepEqual(pieces("1. First"), ["1. First"]);
});

test("places are counted in characters for the server", () => {
  const text = "𝔽 is a field. So";
  assert.equal(toCharacters(text, cutPlaces(text)[0]), 14);
  assert.equal(toUnits(text, 14), 15);
});

test("regions cover the text without gaps", () => {
  const text = "a \\$5 $x$ `c`\n```\nq\n``` [l](https://x.org)";
  assert.equal(regions(text).map(({ start, end }) => text.slice(start, end)).join(""), text);
});

test("a link is a link only with an address", () => {
  assert.deepEqual(findSpans("[a](https://x.org) f[x](t)").map((s) => s.type), ["link", "text"]);
});
