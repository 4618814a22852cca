// The highlighter, loaded on the first code of a page. Its output is rebuilt from text nodes and class names.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";

const LANGUAGES = { bash, c, cpp, go, java, javascript, json, python, rust, sql, typescript };
for (const [name, grammar] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, grammar);

const GUESSED_AMONG = ["python", "javascript", "cpp", "java", "json", "bash", "sql"];
const LONGEST = 50_000; // beyond it, colour costs more than it gives

globalThis.stepmarkHighlight = (code, lang) => {
  const text = code.textContent;
  if (text.length > LONGEST || code.dataset.coloured !== undefined) return;
  code.dataset.coloured = "";
  const known = hljs.getLanguage(lang?.toLowerCase() ?? "");
  if (lang && !known) return;
  const { value } = known ? hljs.highlight(text, { language: lang, ignoreIllegals: true }) : hljs.highlightAuto(text, GUESSED_AMONG);
  // highlight.js escapes the text it is given; a template's content runs nothing.
  const template = document.createElement("template");
  template.innerHTML = value;
  if (template.content.textContent === text) code.replaceChildren(template.content);
};
