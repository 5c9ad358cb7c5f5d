import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";

const OUT = "../src/whynear/report/static";
const SETTINGS = ["package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"];

/** The digest of all sources, which a test of the package compares with the sources that it finds. */
function digest(): string {
  const inFolder = (folder: string) => readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).replaceAll("\\", "/"));
  const files = [...SETTINGS, ...inFolder("public"), ...inFolder("src")].sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

const writeDigest: Plugin = {
  name: "write-digest",
  closeBundle: () => writeFileSync(join(OUT, "sources.sha256"), `${digest()}\n`),
};

export default defineConfig({
  plugins: [writeDigest],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: "es2022",
    cssMinify: true,
    lib: { entry: "src/main.ts", name: "whynear", formats: ["iife"], fileName: () => "page.js", cssFileName: "page" },
  },
});
