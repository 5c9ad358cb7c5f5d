/** The alive page: start a study, follow it, and ask it questions. The address names the study, its hash the selection. */

import { rowName, type PageData } from "../data";
import { h, replace } from "../dom";
import { showStudy, type ExtraView } from "../page";
import { withFurther } from "../rows";
import type { Store } from "../selection";
import { bytes, get, part, type StudyInfo } from "./api";
import { leaveOutView } from "./leave_out";
import { LockedModel } from "./locked";
import { PythonPart, Said } from "./parts";
import { Running } from "./running";
import { Runs } from "./runs";
import { Start } from "./start";
import { teachView } from "./teach";
import { whatIfView } from "./what_if";
import { forAPage } from "./words";

const IN_PYTHON = ["features", "sets", "errors", "map", "case"]; // views of a study that have code

export function openStudio(root: HTMLElement): void {
  const body = h("div", {});
  let running: Running | null = null;
  const go = (study: string | null, view = "") => {
    history.pushState(null, "", study === null ? `/${view}` : `/?study=${part(study)}`);
    show();
  };
  const show = () => {
    running?.close();
    running = null;
    const study = new URLSearchParams(location.search).get("study");
    if (study !== null) return void openStudy(study);
    document.title = "whynear studio";
    replace(body, h("header", {}, h("h1", {}, "Which features truly decide?"), h("p", {},
      "Drop a table and choose what to predict. You get the few features that suffice, what each of them is worth, and why single cases are predicted as they are. Everything stays on this machine.")), new Start((info) => go(info.id)).element,
      new Runs((id) => go(id)).element);
  };
  const openStudy = async (study: string) => {
    const said = new Said();
    replace(body, h("p", {}, said.element));
    const info = await said.while("Reading the study …", () => get<StudyInfo>(`/studies/${part(study)}`));
    if (!info) return;
    document.title = `${info.name || info.source}: whynear studio`;
    if (info.state !== "finished") {
      running = new Running(info, () => void openStudy(study));
      return replace(body, running.element);
    }
    const data = await said.while("Reading the results …", async () => {
      const found = await get<PageData>(`/studies/${part(study)}/page`);
      return found.others ? withFurther(found, await bytes(`/studies/${part(study)}/points`)) : found;
    });
    if (data) showAlive(body, forAPage(data), study);
  };
  addEventListener("popstate", show);
  const home = h("a", { href: "/", click: (event) => { event.preventDefault(); go(null); } }, "All studies");
  replace(root, h("p", { class: "home" }, "whynear studio · ", home), body);
  show();
}

/** The views of a finished study, with those that ask the server. */
function showAlive(body: HTMLElement, data: PageData, study: string): void {
  const locked = new LockedModel(study);
  const extra: ExtraView[] = [
    { id: "leave-out", title: "Leave out", after: "sets", make: leaveOutView(study, locked) },
    { id: "what-if", title: "What if", after: "case", make: whatIfView(study, locked) },
    { id: "teach", title: "Marks", after: "what-if", make: teachView(study) },
  ];
  const rowOf = (store: Store) => (store.now.case === null ? null : rowName(data, store.now.case));
  const below = (view: string, store: Store) => (IN_PYTHON.includes(view)
    ? new PythonPart(study, () => ({ view, row: rowOf(store) })).element : null);
  showStudy(body, data, { extra, below });
}
