// Bundles src/ into dist/, where Django's staticfiles find it. Run by `make setup` after `npm ci`.
import { existsSync, renameSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
// A page loads theme.js and app.js, and one of workbench.js, practice.js, adjudicate.js or prose.js, which all carry KaTeX;
// quality.js draws plots and is the only one that carries the chart library.
const needed = ["src/theme.js", "src/app.js", "src/app.css", "src/workbench.js", "src/practice.js", "src/adjudicate.js", "src/prose.js", "src/highlight.js", "src/quality.js"];

for (const entry of needed) {
  if (!existsSync(here + entry)) {
    console.error(`frontend/${entry} is missing: restore it (git checkout frontend/src).`);
    process.exit(2);
  }
}

// Beside the old bundles first: a build that fails, or pages served meanwhile, still find them.
rmSync(here + "dist.new", { recursive: true, force: true });
await build({
  absWorkingDir: here,
  entryPoints: needed,
  outdir: "dist.new",
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022", "chrome110", "firefox115", "safari16"],
  charset: "utf8",
  legalComments: "eof", // the licences of what is bundled go where the code goes
  assetNames: "fonts/[name]-[hash]",
  // Every browser that we serve reads woff2. KaTeX's stylesheet also names woff and ttf: the empty loader keeps
  // the manifest storage from looking for files that nobody needs.
  loader: { ".woff2": "file", ".woff": "empty", ".ttf": "empty" },
  logLevel: "warning",
});
rmSync(here + "dist", { recursive: true, force: true });
renameSync(here + "dist.new", here + "dist");
