/** Parts that the alive views share: what is being done, what went wrong, and the Python of a view. */

import { isWrong, rowName, type PageData } from "../data";
import { button, h, replace, type Child } from "../dom";
import { code } from "../done";
import type { Store } from "../selection";
import { isAbort, part, post } from "./api";

/** A line that says what is being done or what went wrong. */
export class Said {
  readonly element = h("p", { class: "said", role: "status" });
  private last: Promise<unknown> = Promise.resolve();

  tell(...content: Child[]): void {
    this.element.classList.remove("failed");
    replace(this.element, ...content);
  }

  fail(error: unknown): void {
    if (isAbort(error)) return;
    this.element.classList.add("failed");
    replace(this.element, error instanceof Error ? error.message : String(error));
  }

  /** Does something, and says so meanwhile and if it fails. */
  async while<T>(text: string, work: () => Promise<T>): Promise<T | undefined> {
    this.tell(text);
    try {
      const made = await work();
      this.tell();
      return made;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  /** The same once all that was queued before is done: the server is asked in the order of the clicks. */
  queue<T>(text: string, work: () => Promise<T>): Promise<T | undefined> {
    const done = this.last.then(() => this.while(text, work));
    this.last = done;
    return done;
  }
}

/** The Python code of a view behind a button; `query` says what the view shows at that moment. */
export class PythonPart {
  readonly element: HTMLElement;
  private readonly said = new Said();
  private readonly place = h("div", {});
  private open = false;

  constructor(private readonly study: string, private readonly query: () => Record<string, unknown>) {
    const toggle = button("Show the Python", () => {
      this.open = !this.open;
      toggle.textContent = this.open ? "Hide the Python" : "Show the Python";
      this.renew();
    });
    this.element = h("div", { class: "python" }, toggle, this.said.element, this.place);
  }

  /** Shows the code of what the view shows now, if the code is shown. */
  renew(): void {
    if (!this.open) {
      this.said.tell();
      return replace(this.place);
    }
    void this.said.while("…", async () => {
      const { code: lines } = await post<{ code: string }>(`/studies/${part(this.study)}/python`, this.query());
      if (this.open) replace(this.place, code("this view in Python", lines));
    });
  }
}

/** Which case a view is about: its name, and a field to choose another one by. */
export function casePicker(data: PageData, store: Store, id: string): HTMLElement {
  const said = new Said();
  const places = new Map(data.cases.rows.map((row, place) => [row, place]));
  const field = h("input", { id, size: 10, placeholder: "name of a row", change: () => {
    const place = places.get(field.value.trim());
    said.tell();
    if (!field.value.trim()) store.chooseCase(null);
    else if (place === undefined) said.fail(new Error(`There is no row “${field.value}”.`));
    else store.chooseCase(place);
  } });
  const wrong = data.cases.rows.map((_, place) => place).filter((place) => isWrong(data, place));
  const next = () => store.chooseCase(wrong[(wrong.indexOf(store.now.case ?? -1) + 1) % wrong.length] ?? null);
  store.follow(({ case: chosen }) => { field.value = chosen === null ? "" : rowName(data, chosen); });
  return h("div", { class: "tools" }, h("label", {}, "Row ", field),
    wrong.length > 0 && button("Next wrong case", next, { class: "next-wrong" }), said.element);
}

export function seconds(value: number): string {
  if (value < 90) return `${Math.max(1, Math.round(value))} s`;
  return value < 5400 ? `${Math.round(value / 60)} min` : `${(value / 3600).toFixed(1)} h`;
}
