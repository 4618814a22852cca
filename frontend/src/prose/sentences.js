// Where a text can be cut: between sentences and lines, never inside a formula or code. Plain data, no DOM.

import { regions } from "../mathtext.js";

const BREAK = /(?:[.!?]["'”’)\]]*[ \t]+(?=[\p{Lu}\p{Lo}\d(*\uE000])|\n\s*(?=\S))/gu;
const ABBREVIATION = /(?:\b(?:e\.g|i\.e|cf|vs|eq|fig|thm|resp|approx|Dr|Mr|Ms|Mrs|St)|(?:^|\n)\s*\d{1,3})\.$/;
const FORMULA = "\uE000"; // stands for every character of a formula or of code

/** Offsets (in UTF-16 units, as JavaScript counts) at which another sentence begins. */
export function cutPlaces(text) {
  let masked = "";
  for (const { type, start, end } of regions(text)) masked += type === "text" ? text.slice(start, end) : FORMULA.repeat(end - start);
  const places = [];
  for (const found of masked.matchAll(BREAK)) {
    const end = found.index + found[0].length;
    if (!ABBREVIATION.test(masked.slice(0, found.index + 1)) && masked.slice(0, end).trim() !== "") places.push(end);
  }
  return places;
}

/** The server counts characters, not UTF-16 units. */
export const toCharacters = (text, units) => Array.from(text.slice(0, units)).length;

/** And back. */
export const toUnits = (text, characters) => Array.from(text).slice(0, characters).join("").length;
