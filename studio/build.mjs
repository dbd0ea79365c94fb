// Builds the page of rex studio: one script, one style sheet, and the licences of what is in them. Run by `make studio`.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const out = "../src/sparkrex/studio/page";
const read = (path) => readFileSync(path, "utf8");

// What the page is built from, as a test computes it too: a page that is older than its sources is found out.
const sources = ["build.mjs", "package.json", "package-lock.json", ...readdirSync("src").sort().map((name) => `src/${name}`)];
const hash = createHash("sha256");
for (const path of sources) hash.update(`${path}\n${read(path)}`);
const banner = `/* Built by \`make studio\` from ${hash.digest("hex")}. Licences: licences.txt */`;

const common = { bundle: true, minify: true, legalComments: "none", target: "es2022", metafile: true, charset: "utf8" };
const script = await build({
  ...common, entryPoints: ["src/main.js"], outfile: `${out}/app.js`, format: "iife", banner: { js: banner },
});
await build({ ...common, entryPoints: ["src/app.css"], outfile: `${out}/app.css`, banner: { css: banner } });

const packages = new Set();
for (const path of Object.keys(script.metafile.inputs)) {
  const found = path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (found) packages.add(found[1]);
}
const texts = [...packages].sort().map((name) => {
  const { version, license } = JSON.parse(read(`node_modules/${name}/package.json`));
  const file = readdirSync(`node_modules/${name}`).find((one) => /^licen[cs]e/i.test(one));
  if (!file) throw new Error(`${name} has no licence text`);
  return `${name} ${version} (${license})\n\n${read(`node_modules/${name}/${file}`).trim()}\n`;
});
writeFileSync(`${out}/licences.txt`, `app.js contains these packages.\n\n${texts.join(`\n${"-".repeat(80)}\n\n`)}`);
