/** Rows as points on a canvas, with zoom, lasso, keyboard and a list of points that lie on each other. */

import { isPrinted } from "./colours";
import { h } from "./dom";
import { hideTip, showTip } from "./figure";
import type { Point } from "./geometry";
import { Grid } from "./grid";
import { alike, HIDDEN, type Layer, type Looks } from "./looks";
import { linear, padded, extent } from "./scale";
import { drawCircle, drawFrame, drawOutline, drawPoints, type Frame } from "./scatter_drawing";

export interface ScatterOptions extends Frame {
  name: string; x: Float32Array; y: Float32Array; equal?: boolean;
  cases?: number; // how many of the points, the first ones, are cases; the others are drawn small and below them
  text: (place: number) => string; pick: (places: number[]) => void; lasso?: (places: number[]) => void;
}

const REACH = 9; // pixels from a point in which the pointer finds it
const RADIUS = 3.2;
const FULL = 1_000; // cases of the full size
const FEW = 5_000; // other points of the full size

export class Scatter {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly above = h("canvas", { class: "above", "aria-hidden": "true" });
  private readonly cases: number;
  private index: Grid | null = null; // made when it is first needed
  private looks: Looks;
  private chosen: number | null = null;
  private drawn = "";
  private version = 0;
  private view: { x: [number, number]; y: [number, number] };
  private readonly whole: { x: [number, number]; y: [number, number] };
  private at = { x: linear([0, 1], [0, 1]), y: linear([0, 1], [0, 1]) };
  private outline: Point[] | null = null;
  private lastPointer: Point | null = null;
  private cursor: number | null = null;
  mode: "move" | "lasso" = "move";

  constructor(private readonly options: ScatterOptions) {
    const n = options.x.length;
    this.canvas = h("canvas", {
      tabindex: 0, role: "application", "aria-roledescription": "map of cases",
      "aria-label": `${options.name}. Arrow keys go from case to case, Enter chooses, plus and minus zoom, Home shows all.`,
    });
    this.element = h("div", { class: "scatter" }, this.canvas, this.above);
    this.cases = options.cases ?? n;
    this.looks = alike(n, []);
    this.whole = { x: padded(extent(options.x), 0.05), y: padded(extent(options.y), 0.05) };
    this.view = { ...this.whole };
    this.listen();
    if (typeof ResizeObserver !== "undefined") new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Draws the points with other looks. */
  show(looks: Looks, chosen: number | null): void {
    if (looks !== this.looks) this.version += 1;
    [this.looks, this.chosen] = [looks, chosen];
    this.draw();
  }

  reset(): void {
    this.view = { ...this.whole };
    this.draw();
  }

  zoom(factor: number, centre?: Point): void {
    const { x, y } = this.at;
    const middle = centre ?? [x((this.view.x[0] + this.view.x[1]) / 2), y((this.view.y[0] + this.view.y[1]) / 2)];
    const around = (ends: [number, number], fixed: number): [number, number] =>
      [fixed + (ends[0] - fixed) * factor, fixed + (ends[1] - fixed) * factor];
    this.view = { x: around(this.view.x, x.invert(middle[0])), y: around(this.view.y, y.invert(middle[1])) };
    this.draw();
  }

  /** Draws the points if something about them has changed, and always what is above them. */
  draw(): void {
    if (this.cases < this.options.x.length && !this.element.isConnected) return; // its size is not known
    const width = this.element.clientWidth || 480;
    const height = Math.max(260, Math.min(460, Math.round(width * 0.78)));
    const ratio = Math.max(1, Math.min(3, globalThis.devicePixelRatio || 1));
    const style = getComputedStyle(this.element);
    this.place(width, height);
    const now = JSON.stringify([width, height, ratio, this.view, this.version, style.getPropertyValue("--soft")]);
    if (now !== this.drawn || isPrinted()) { // browsers print what was drawn last, and only that
      this.drawn = now;
      const context = cleared(sized(this.canvas, width, height, ratio), ratio);
      if (!context) return;
      drawFrame(context, this.at, this.options, width, height, style);
      drawPoints(context, this.at, this.options, this.looks, this.layers(), style.getPropertyValue("--wrong"));
    }
    this.drawAbove(cleared(sized(this.above, width, height, ratio), ratio), style);
  }

  /** The rows beside the cases below them; many points are small, and grow when they are looked at closely. */
  private layers(): Layer[] {
    const n = this.options.x.length;
    const closer = Math.sqrt((this.whole.x[1] - this.whole.x[0]) / (this.view.x[1] - this.view.x[0] || 1));
    const share = (FEW * Math.max(1, closer)) / Math.max(FEW, n - this.cases);
    const radius = Math.max(0.9, Math.min(2.2, 2.6 * share ** 0.25));
    return [{ from: this.cases, to: n, radius, opacity: 0.55, shaped: false },
      { from: 0, to: this.cases, radius: RADIUS * Math.min(1, FULL / this.cases) ** 0.2, opacity: 0.85, shaped: true }];
  }

  private drawAbove(context: CanvasRenderingContext2D | null, style: CSSStyleDeclaration): void {
    if (!context) return;
    const around = (place: number, radius: number, colour: string) => drawCircle(context,
      [this.at.x(this.options.x[place]!), this.at.y(this.options.y[place]!)], radius, colour, 2);
    if (this.chosen !== null && !this.isHidden(this.chosen)) {
      const own = alike(1, [this.looks.styles[this.looks.style[this.chosen]!] ?? { colour: "#98a4ae", shape: "circle" }]);
      const only = { x: this.options.x.subarray(this.chosen, this.chosen + 1),
        y: this.options.y.subarray(this.chosen, this.chosen + 1) };
      drawPoints(context, this.at, only, own, [{ from: 0, to: 1, radius: RADIUS * 1.6, opacity: 1, shaped: true }], "");
      around(this.chosen, RADIUS * 1.6 + 4.5, style.getPropertyValue("--ink"));
    }
    if (this.cursor !== null && document.activeElement === this.canvas) around(this.cursor, 10,
      style.getPropertyValue("--bar"));
    if (this.outline) drawOutline(context, this.outline, style.getPropertyValue("--bar"));
  }

  private place(width: number, height: number): void {
    const { equal, xLabel } = this.options;
    const room = xLabel === undefined ? { left: 6, right: 6, top: 6, bottom: 6 }
      : { left: 52, right: 10, top: 8, bottom: 38 };
    let { x, y } = this.view;
    if (equal) {
      const size = Math.max((x[1] - x[0]) / (width - room.left - room.right),
        (y[1] - y[0]) / (height - room.top - room.bottom));
      const grown = (ends: [number, number], pixels: number): [number, number] => {
        const middle = (ends[0] + ends[1]) / 2;
        return [middle - (size * pixels) / 2, middle + (size * pixels) / 2];
      };
      x = grown(x, width - room.left - room.right);
      y = grown(y, height - room.top - room.bottom);
    }
    this.at = { x: linear(x, [room.left, width - room.right]), y: linear(y, [height - room.bottom, room.top]) };
  }

  private get grid(): Grid {
    this.index ??= new Grid(this.options.x, this.options.y);
    return this.index;
  }

  private readonly isHidden = (place: number): boolean => ((this.looks.state[place] ?? 0) & HIDDEN) !== 0;

  private pointer(event: MouseEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private listen(): void {
    let dragged = false;
    let held = false;
    this.canvas.addEventListener("pointerdown", (event) => {
      held = true;
      dragged = false;
      this.lastPointer = this.pointer(event);
      if (this.mode === "lasso") {
        this.outline = [this.lastPointer];
        this.canvas.setPointerCapture(event.pointerId);
      }
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const now = this.pointer(event);
      if (!held || !this.lastPointer) return this.hover(event, now);
      if (Math.hypot(now[0] - this.lastPointer[0], now[1] - this.lastPointer[1]) > 3) dragged = true;
      if (!dragged) return;
      hideTip();
      if (this.outline) this.outline.push(now);
      else if (event.pointerType !== "touch") this.move(this.lastPointer, now);
      this.lastPointer = now;
      this.draw();
    });
    this.canvas.addEventListener("pointerup", (event) => {
      held = false;
      const outline = this.outline;
      this.outline = null;
      if (outline && dragged) this.options.lasso?.(this.grid.within(outline, this.at, this.isHidden));
      else if (!dragged) this.click(this.pointer(event));
      this.draw();
    });
    this.canvas.addEventListener("pointerleave", () => {
      hideTip();
      if (!this.outline) held = false;
    });
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      this.zoom((event.deltaY || event.deltaX) > 0 ? 1.2 : 1 / 1.2, this.pointer(event));
    }, { passive: false });
    this.canvas.addEventListener("dblclick", () => this.reset());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("focus", () => this.draw());
    this.canvas.addEventListener("blur", () => { hideTip(); this.draw(); });
  }

  private move(from: Point, to: Point): void {
    const { x, y } = this.at;
    const [right, up] = [x.invert(from[0]) - x.invert(to[0]), y.invert(from[1]) - y.invert(to[1])];
    this.view = { x: [this.view.x[0] + right, this.view.x[1] + right], y: [this.view.y[0] + up, this.view.y[1] + up] };
  }

  private hover(event: PointerEvent, at: Point): void {
    const found = this.grid.nearest(at, this.at, REACH, this.isHidden);
    this.canvas.classList.toggle("over", found !== null);
    if (found === null) hideTip();
    else showTip(event, this.options.text(found));
  }

  private click(at: Point): void {
    const found = this.grid.nearest(at, this.at, REACH, this.isHidden);
    if (found !== null) this.options.pick(this.grid.stacked(found, this.at, this.isHidden));
  }

  private key(event: KeyboardEvent): void {
    const towards: Record<string, Point> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1],
      ArrowDown: [0, 1] };
    const direction = towards[event.key];
    if (direction) {
      this.cursor = this.grid.towards(this.cursor, direction, this.at, this.isHidden);
      if (this.cursor !== null) this.say(this.cursor);
    } else if (event.key === "Enter" && this.cursor !== null) this.options.pick(this.grid.stacked(this.cursor, this.at,
      this.isHidden));
    else if (event.key === "+" || event.key === "=") this.zoom(1 / 1.4);
    else if (event.key === "-") this.zoom(1.4);
    else if (event.key === "Home") this.reset();
    else return;
    event.preventDefault();
    this.draw();
  }

  /** Says what the point is, beside it. */
  private say(place: number): void {
    const box = this.canvas.getBoundingClientRect();
    showTip(new MouseEvent("mousemove", { clientX: box.left + this.at.x(this.options.x[place]!),
      clientY: box.top + this.at.y(this.options.y[place]!) }), this.options.text(place));
  }
}

function sized(canvas: HTMLCanvasElement, width: number, height: number, ratio: number): HTMLCanvasElement {
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  canvas.style.height = `${height}px`;
  return canvas;
}

function cleared(canvas: HTMLCanvasElement, ratio: number): CanvasRenderingContext2D | null {
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, canvas.width, canvas.height);
  return context;
}
