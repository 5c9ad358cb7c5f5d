/** The page of one study: its sections in order, a contents bar, and the selection in the address. */

import { caseView } from "./case";
import { counted } from "./format";
import { rowName, type PageData } from "./data";
import { doneView } from "./done";
import { button, h, replace, type Child } from "./dom";
import { errorsView } from "./errors";
import { featuresView } from "./features";
import { hideTip } from "./figure";
import { findingView } from "./finding";
import { mapView } from "./map";
import { asHash, describeGroup, fromHash, NOTHING, Store } from "./selection";
import { setsView } from "./sets";

/** A section that only some pages have, put after another. */
export interface ExtraView { id: string; title: string; after: string; make: (data: PageData, store: Store) =>
  HTMLElement }

export function title(data: PageData): string {
  return data.kind === "numbers" ? `Which features decide “${data.target}”?`
    : "Which features decide that two cases are near?";
}

/** What a page has besides its views: further sections, and something below each view. */
export interface Additions { extra?: ExtraView[]; below?: (view: string, store: Store) => HTMLElement | null }

let shown: AbortController | undefined; // ends what the page that was shown before listens to

/** Fills an element with the page of a study. */
export function showStudy(root: HTMLElement, data: PageData, additions: Additions = {}): Store {
  shown?.abort();
  shown = new AbortController();
  const { signal } = shown;
  const store = new Store(fromHash(location.hash, data));
  const views: [string, string, (data: PageData, store: Store) => HTMLElement][] = [
    ["finding", "Finding", findingView], ["features", data.noun === "band" ? "Bands" : "Features", featuresView],
      ["sets", "Sets", setsView],
    ["errors", "Errors", errorsView], ["map", "Map", mapView], ["case", "Case", caseView],
      ["done", "How it was done", doneView],
  ];
  for (const one of additions.extra ?? []) views.splice(views.findIndex(([id]) => id === one.after) + 1, 0,
    [one.id, one.title, one.make]);
  const links = views.map(([id, name]) => h("a", { href: `#${id}` }, name));
  const chosen = h("div", { class: "chosen-now", "aria-live": "polite" });
  const sections = views.map(([id, name, make]) => h("section",
    { id, class: "view", "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, name), make(data, store),
    additions.below?.(id, store)));
  replace(root, h("header", {}, h("p", {},
    `whynear study of ${data.source}: ${counted(data.cases.rows.length, "case")}, ${counted(data.features.names.length, data.noun)}`),
    h("h1", {}, title(data))),
    h("nav", { class: "contents", "aria-label": "Contents" }, h("div", { class: "links" }, links), chosen),
      h("main", {}, sections),
    h("footer", {}, `Made by whynear ${data.version}. This page needs no other file and no network; its figures and tables are also files beside it.`));
  store.follow((now, before) => {
    replace(chosen, chips(data, store));
    if (now !== before) remember(asHash(now));
    if (now.view && now !== before && now.view !== before.view) show(now.view);
  });
  root.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    const { view, ...chosen } = fromHash(link.getAttribute("href")!, data);
    const change = Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== null));
    store.set({ view: "" });
    store.set({ view, ...change });
  }, { signal });
  addEventListener("hashchange", () => store.set(fromHash(location.hash, data)), { signal });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hideTip();
    store.set({ ...NOTHING, view: store.now.view });
  }, { signal });
  addEventListener("beforeprint", () => root.querySelectorAll("details").forEach(unfold), { signal });
  if (typeof matchMedia === "function") {
    matchMedia("print").addEventListener("change", () => store.set({}), { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => showStudy(root, data, additions),
      { signal });
  }
  markCurrent(sections, links);
  store.set({}); // what depends on the width of the page is drawn now
  if (store.now.view) show(store.now.view);
  return store;
}

/** Opens what is folded; what it holds is made at once. */
function unfold(part: HTMLDetailsElement): void {
  part.open = true;
  part.dispatchEvent(new Event("toggle"));
}

let waiting: ReturnType<typeof setTimeout> | undefined;

/** Writes the selection into the address, once after several changes: browsers refuse hundreds in a row. */
function remember(hash: string): void {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (location.hash.replace(/^#/, "") !== hash) history.replaceState(null, "", hash ? `#${hash}`
      : location.pathname + location.search);
  }, 100);
}

function show(id: string): void {
  const part = document.getElementById(id);
  if (!part) return;
  part.scrollIntoView({ block: "start" });
  const heading = part.querySelector<HTMLElement>("h2, h3");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
}

/** What is selected, with a button that undoes it. */
function chips(data: PageData, store: Store): Child[] {
  const { feature, case: chosen, group } = store.now;
  const chip = (text: string, view: string, undo: () => void) => h("span", { class: "chip" },
    h("a", { href: `#${view}` }, text), button("×", undo, { "aria-label": `Undo the choice: ${text}` }));
  return [
    feature !== null && chip(data.features.names[feature] ?? "", "features", () => store.set({ feature: null })),
    group !== null && chip(describeGroup(group, data), "case", () => store.set({ group: null })),
    chosen !== null && chip(`row ${rowName(data, chosen)}`, "case", () => store.chooseCase(null)),
  ];
}

/** Marks the link of the section that is read. */
function markCurrent(sections: HTMLElement[], links: HTMLElement[]): void {
  if (typeof IntersectionObserver === "undefined") return;
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => (link.getAttribute("href") === `#${entry.target.id}`
        ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  sections.forEach((section) => watch.observe(section));
}
