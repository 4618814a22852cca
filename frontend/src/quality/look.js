// What all plots share: the page's own colours, which follow the theme, and how numbers are written.

export const INK = "var(--ink)";
export const QUIET = "var(--ink-3)";
export const RULE = "var(--rule)";
export const BASE = "var(--rule-strong)";
export const MAIN = "var(--accent)";
export const SECOND = "var(--incorrect)";

export const STYLE = { background: "none", color: "var(--ink-2)", fontFamily: "var(--ui)", fontSize: "12px", overflow: "visible" };

export function number(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "kappa") return value.toFixed(2).replace("-", "−");
  const text = unit === "points" ? (100 * value).toFixed(1) : String(Math.round(100 * value));
  return `${text.replace("-", "−")}${unit === "points" ? "" : " %"}`;
}

export function clipped(text, width) {
  const most = Math.max(10, Math.floor(width / 6.4));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
