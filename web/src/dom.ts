/** Elements made of tags, attributes and children. Text is always set as text, never as markup. */

export type Child = Node | string | number | null | undefined | false | Child[];
type Handler = (event: Event) => void;
type Value = string | number | boolean | null | undefined | Handler | Record<string, string>;
export type Attributes = Record<string, Value>;

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element & ElementCSSInlineStyle, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (typeof value === "object") for (const [key, text] of Object.entries(value)) element.style.setProperty(key,
      text);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
}

export function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined
      && child !== false) parent.appendChild(document.createTextNode(String(child)));
  }
}

/** An HTML element; attributes whose value is a function are listeners, `style` takes an object. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {},
  ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {},
  ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  fill(element, attributes, children);
  return element;
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

export function button(text: string, click: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", click, ...attributes }, text);
}

/** A labelled choice among values. */
export function choice(label: string, options: [string, string][], change: (value: string) => void,
  attributes: Attributes = {}): HTMLLabelElement {
  const select = h("select", { change: (event) => change((event.target as HTMLSelectElement).value), ...attributes },
    options.map(([value, text]) => h("option", { value }, text)));
  return h("label", {}, `${label} `, select);
}

/** A table with a heading line; columns whose name starts with # hold numbers. */
export function table(columns: string[], lines: Child[][], attributes: Attributes = {}): HTMLElement {
  const isNumber = columns.map((name) => name.startsWith("#"));
  const head = columns.map((name, place) => h("th", { scope: "col", class: isNumber[place] ? "number" : null },
    name.replace(/^#/, "")));
  const body = lines.map((line) => h("tr", {},
    line.map((cell, place) => h("td", { class: isNumber[place] ? "number" : null }, cell))));
  return scrolled(h("table", attributes, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)));
}

/** A wide thing that scrolls sideways in its own box, also by keyboard. */
export function scrolled(content: HTMLElement): HTMLElement {
  const box = h("div", { class: "scroll" }, content);
  const focusable = () => (box.scrollWidth > box.clientWidth ? box.setAttribute("tabindex", "0")
    : box.removeAttribute("tabindex"));
  if (typeof ResizeObserver !== "undefined") new ResizeObserver(focusable).observe(box);
  return box;
}

export function note(...children: Child[]): HTMLParagraphElement {
  return h("p", { class: "note" }, ...children);
}
