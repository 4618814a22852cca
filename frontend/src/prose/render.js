// Puts blocks into the page. Text only ever enters as text nodes; KaTeX builds its own nodes from a capped source.

import katex from "katex";
import { fill, gettext } from "../i18n.js";
import { toBlocks } from "./blocks.js";
import { colourCode } from "./code.js";

const LONGEST_FORMULA = 2000;
const LONG_PLAIN = 8000; // characters from which plain text is laid out piece by piece
const sources = new WeakMap();
let ownMacros = {};

// KaTeX paints what it does not know or trust in errorColor and goes on; the colour tells us that it did.
const OPTIONS = { trust: false, throwOnError: false, errorColor: "#cc0001", maxExpand: 200, maxSize: 20, strict: "ignore" };
const MULTLINE = /\\(begin|end)\{multline(\*?)\}/g; // KaTeX has none; gather is its nearest

/** The project's macros, name → body, for every formula set from now on. */
export function useMacros(macros) {
  ownMacros = macros;
}

/** Renders every [data-prose] under a root. Kinds: "" prose, "code" and "plain" as they are written. */
export function renderAll(root = document) {
  for (const element of root.querySelectorAll("[data-prose]")) renderProse(element);
  watchWideFormulas(root);
}

/** Renders one element from the text it arrived with; again at any time. badges: see checks.js. */
export function renderProse(element, { text = textOf(element), badge } = {}) {
  const kind = element.dataset.prose;
  const asWritten = kind === "plain" || (kind === "code" && !text.includes("```"));
  if (asWritten && kind === "plain" && text.length > LONG_PLAIN) element.replaceChildren(longPlain(text));
  else if (asWritten) element.replaceChildren(fence({ value: text, lang: kind === "code" ? (element.dataset.lang ?? "") : null }));
  else if (kind === "answer" && isBareFormula(text)) element.replaceChildren(formula(text, text, false));
  else {
    const compact = element.classList.contains("clamp");
    element.replaceChildren(...toBlocks(text).map((block) => blockNode(block, { compact, badge })));
  }
  element.classList.remove("is-source");
  element.classList.add("is-set");
}

// Final answers often come without dollar signs: \frac{1}{2}.
const isBareFormula = (text) => /\\[A-Za-z]|\^|_[{\d]/.test(text) && !/\$|\\[([]|[A-Za-z]{3,} [A-Za-z]{2,}/.test(text);

/** Shows what was written, character by character. */
export function showSource(element) {
  element.replaceChildren(document.createTextNode(textOf(element)));
  element.classList.add("is-source");
}

/** The text an element arrived with. */
export function textOf(element) {
  if (!sources.has(element)) sources.set(element, element.textContent);
  return sources.get(element);
}

/** What is wider than its column scrolls in its own box and can be reached by keyboard. */
export function watchWideFormulas(...roots) {
  const all = (selector) => (roots.length > 0 ? roots : [document]).flatMap((root) => [...root.querySelectorAll(selector)]);
  const boxes = all(".display-math, .prose pre, .table-box, .formula.is-wide");
  for (const line of all(".prose.is-set")) {
    if (line.scrollWidth > line.clientWidth + 1) boxes.push(...line.querySelectorAll(".formula:not(.display-math *, .is-wide)"));
  }
  // All reads before the first write, so that the page is laid out once.
  const wide = boxes.map((box) => isWide(box));
  boxes.forEach((box, i) => markWide(box, wide[i]));
}

function isWide(box) {
  if (!box.classList.contains("formula") || box.classList.contains("is-wide")) {
    return box.scrollWidth > box.clientWidth + 1 || (box.tagName === "PRE" && box.scrollHeight > box.clientHeight + 1);
  }
  return box.getBoundingClientRect().width > (box.closest("p, li, .prose")?.clientWidth ?? Infinity) + 1;
}

function markWide(box, wide) {
  if (wide === box.hasAttribute("data-wide")) return;
  box.toggleAttribute("data-wide", wide);
  if (box.classList.contains("formula")) box.classList.toggle("is-wide", wide);
  if (wide) {
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", nameOf(box));
  } else {
    for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
  }
}

function nameOf(box) {
  if (box.tagName === "PRE") return gettext("Code, scrolls");
  return box.classList.contains("table-box") ? gettext("Wide table, scrolls") : gettext("Wide formula, scrolls");
}

function make(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

// compact: for a text folded to two lines, where a tall formula would take both.
function blockNode(block, context) {
  switch (block.type) {
    case "heading":
      return make("p", `prose-heading level-${Math.min(block.level, 4)}`, ...inlineNodes(block.inline, context));
    case "list":
      return list(block, context);
    case "table":
      return table(block, context);
    case "math":
      return make("div", "display-math", formula(block.tex, block.source, !context.compact || block.tex.startsWith("\\begin")));
    case "fence":
      return fence(block);
    default:
      return make("p", "", ...inlineNodes(block.inline, context));
  }
}

function list(block, context) {
  const items = block.items.map((item) => {
    const marker = make("span", "marker", item.marker);
    return make("li", `depth-${item.depth}`, marker, make("div", "", ...inlineNodes(item.inline, context)));
  });
  return make(block.ordered ? "ol" : "ul", "prose-list", ...items);
}

function table(block, context) {
  const row = (cells, tag) =>
    make("tr", "", ...cells.map((inline, i) => {
      const cell = make(tag, "", ...inlineNodes(inline, context));
      if (tag === "th") cell.scope = "col";
      if (block.align[i]) cell.dataset.align = block.align[i];
      return cell;
    }));
  const head = make("thead", "", row(block.head, "th"));
  const body = make("tbody", "", ...block.rows.map((cells) => row(cells, "td")));
  return make("div", "table-box", make("table", "", head, body));
}

// lang: what the writer said, "" to be found out, null for text that is no code.
function fence(block) {
  const code = make("code", "", block.value);
  const node = make("pre", "", code);
  if (block.lang) node.dataset.lang = block.lang;
  if (block.lang !== null) colourCode(code, block.lang);
  return node;
}

// A long output in pieces, of which the browser lays out those in sight.
function longPlain(text) {
  const code = make("code", "");
  let at = 0;
  while (at < text.length) {
    let end = Math.min(text.length, at + LONG_PLAIN / 2);
    if (end < text.length) end = text.lastIndexOf("\n", end) > at ? text.lastIndexOf("\n", end) + 1 : end;
    code.append(make("span", "piece", text.slice(at, end).replace(/\n$/, "")));
    at = end;
  }
  return make("pre", "is-long", code);
}

function inlineNodes(spans, context) {
  return spans.flatMap((span) => {
    if (span.type === "strong") return [make("strong", "", ...inlineNodes(span.inline, context))];
    if (span.type === "code") return [make("code", "", span.value)];
    if (span.type === "math") return [formula(span.tex, span.source, false)];
    if (span.type === "link") return [link(span)];
    return context.badge ? context.badge(span.value) : [document.createTextNode(span.value)];
  });
}

// Shown with its address, never followed: what a model wrote must not lead a person anywhere.
function link(span) {
  const text = span.image ? fill(gettext("picture: %(name)s"), { name: span.value }) : span.value;
  const node = make("span", "inert-link", make("span", "", text));
  if (span.href !== span.value) node.append(" ", make("code", "", span.href));
  return node;
}

/** A formula, or its source where it can't be set. */
export function formula(tex, source, display) {
  const box = make("span", "formula");
  box.dataset.tex = source;
  try {
    if (tex.length > LONGEST_FORMULA) throw new RangeError(fill(gettext("longer than %(n)s characters"), { n: LONGEST_FORMULA }));
    katex.render(tex.replace(MULTLINE, "\\$1{gather$2}"), box, {
      ...OPTIONS,
      displayMode: display,
      macros: { ...ownMacros }, // fresh each time: a \gdef in one formula must not reach the next
    });
    const error = box.querySelector(".katex-error, [style*='rgb(204, 0, 1)'], [style*='#cc0001']");
    if (error) return unreadable(source, error.title || fill(gettext("%(command)s is not known here"), { command: error.textContent }));
    return box;
  } catch (error) {
    return unreadable(source, error.message);
  }
}

function unreadable(source, why) {
  const node = make("code", "formula-error", source);
  node.title = fill(gettext("This formula could not be set: %(why)s"), { why });
  return node;
}
