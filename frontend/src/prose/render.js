// Puts blocks into the page. Text only ever enters as text nodes; KaTeX builds its own nodes from a capped source.

import katex from "katex";
import { toBlocks } from "./blocks.js";

const LONGEST_FORMULA = 2000;
const sources = new WeakMap();

// KaTeX paints what it does not know or trust in errorColor and goes on; the colour tells us that it did.
const OPTIONS = { trust: false, throwOnError: false, errorColor: "#cc0001", maxExpand: 200, maxSize: 20, strict: "ignore" };
const MULTLINE = /\\(begin|end)\{multline(\*?)\}/g; // KaTeX has none; gather is its nearest

/** Renders every [data-prose] under a root. Kinds: "" prose, "code" and "plain" as they are written. */
export function renderAll(root = document) {
  for (const element of root.querySelectorAll("[data-prose]")) renderProse(element);
  watchWideFormulas(root);
}

/** Renders one element from the text it arrived with; again at any time. */
export function renderProse(element) {
  const text = sourceOf(element);
  const kind = element.dataset.prose;
  const asWritten = kind === "plain" || (kind === "code" && !text.includes("```"));
  if (asWritten) element.replaceChildren(fence({ value: text }));
  else if (kind === "answer" && isBareFormula(text)) element.replaceChildren(formula(text, text, false));
  else element.replaceChildren(...toBlocks(text).map((block) => blockNode(block, element.classList.contains("clamp"))));
  element.classList.remove("is-source");
  element.classList.add("is-set");
}

// Final answers often come without dollar signs: \frac{1}{2}.
const isBareFormula = (text) => /\\[A-Za-z]|\^/.test(text) && !/\$|\\[([]|[A-Za-z]{3,} [A-Za-z]{2,}/.test(text);

/** Shows what was written, character by character. */
export function showSource(element) {
  element.replaceChildren(document.createTextNode(sourceOf(element)));
  element.classList.add("is-source");
}

/** Formulas that scroll in their own box can be reached by keyboard. */
export function watchWideFormulas(root = document) {
  for (const box of root.querySelectorAll(".display-math, .prose pre")) {
    const wide = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
    box.toggleAttribute("data-wide", wide);
    if (wide) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", box.tagName === "PRE" ? "Code, scrolls" : "Wide formula, scrolls");
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }
}

function sourceOf(element) {
  if (!sources.has(element)) sources.set(element, element.textContent);
  return sources.get(element);
}

function make(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

// compact: for a text folded to two lines, where a tall formula would take both.
function blockNode(block, compact) {
  switch (block.type) {
    case "heading":
      return make("p", `prose-heading level-${Math.min(block.level, 4)}`, ...inlineNodes(block.inline));
    case "list":
      return list(block);
    case "math":
      return make("div", "display-math", formula(block.tex, block.source, !compact || block.tex.startsWith("\\begin")));
    case "fence":
      return fence(block);
    default:
      return make("p", "", ...inlineNodes(block.inline));
  }
}

function list(block) {
  const items = block.items.map((item) => {
    const marker = make("span", "marker", item.marker);
    const node = make("li", `depth-${item.depth}`, marker, make("div", "", ...inlineNodes(item.inline)));
    return node;
  });
  return make(block.ordered ? "ol" : "ul", "prose-list", ...items);
}

function fence(block) {
  const node = make("pre", "", make("code", "", block.value));
  if (block.lang) node.dataset.lang = block.lang;
  return node;
}

function inlineNodes(spans) {
  return spans.map((span) => {
    if (span.type === "strong") return make("strong", "", ...inlineNodes(span.inline));
    if (span.type === "code") return make("code", "", span.value);
    if (span.type === "math") return formula(span.tex, span.source, false);
    return document.createTextNode(span.value);
  });
}

function formula(tex, source, display) {
  const box = document.createElement("span");
  try {
    if (tex.length > LONGEST_FORMULA) throw new RangeError(`longer than ${LONGEST_FORMULA} characters`);
    katex.render(tex.replace(MULTLINE, "\\$1{gather$2}"), box, {
      ...OPTIONS,
      displayMode: display,
      macros: {}, // fresh each time: a \gdef in one formula must not reach the next
    });
    const error = box.querySelector(".katex-error, [style*='rgb(204, 0, 1)']");
    if (error) return unreadable(source, error.title || `${error.textContent} is not known here`);
    return box;
  } catch (error) {
    return unreadable(source, error.message);
  }
}

function unreadable(source, why) {
  const node = make("code", "formula-error", source);
  node.title = `This formula could not be set: ${why}`;
  return node;
}
