/** Parts that all figures share: axes, lines, legends, tips and marks. Figures are SVG. */

import { h, s, type Child } from "./dom";
import type { Shape } from "./colours";
import { short } from "./format";
import { linear, ticks, type Scale } from "./scale";

export interface Frame { width: number; height: number; left: number; right: number; top: number; bottom: number }
export interface Axes { svg: SVGSVGElement; x: Scale; y: Scale; frame: Frame }
export interface AxisOptions {
  width?: number; height?: number; left?: number; right?: number; top?: number; bottom?: number;
  x: [number, number]; y: [number, number]; xLabel: string; yLabel: string; xTicks?: number[]; yTicks?: number[];
  xFormat?: (value: number) => string; yFormat?: (value: number) => string; label: string;
}

/** Whether the page is as narrow as a phone: figures are then drawn smaller, and their text stays readable. */
export function narrow(): boolean {
  return innerWidth < 640;
}

/** Axes with ticks, a light grid and labels; the figure is drawn between them. */
export function axes(options: AxisOptions): Axes {
  const frame: Frame = {
    width: options.width ?? (narrow() ? 360 : 520), height: options.height ?? 300, left: options.left ?? 52,
      right: options.right ?? 14,
    top: options.top ?? 12, bottom: options.bottom ?? 42,
  };
  const x = linear(options.x, [frame.left, frame.width - frame.right]);
  const y = linear(options.y, [frame.height - frame.bottom, frame.top]);
  const svg = s("svg", { viewBox: `0 0 ${frame.width} ${frame.height}`, role: "img", "aria-label": options.label,
    class: "figure" });
  const format = (value: number) => short(value, 6);
  for (const tick of options.xTicks ?? ticks(Math.min(...options.x), Math.max(...options.x), narrow() ? 4 : 6)) {
    svg.append(s("text", { x: x(tick), y: frame.height - frame.bottom + 16, "text-anchor": "middle", class: "tick" },
      (options.xFormat ?? format)(tick)));
    svg.append(s("line", { x1: x(tick), x2: x(tick), y1: frame.height - frame.bottom,
      y2: frame.height - frame.bottom + 4, class: "axis" }));
  }
  for (const tick of options.yTicks ?? ticks(Math.min(...options.y), Math.max(...options.y), 5)) {
    svg.append(s("line", { x1: frame.left, x2: frame.width - frame.right, y1: y(tick), y2: y(tick), class: "grid" }));
    svg.append(s("text", { x: frame.left - 7, y: y(tick) + 4, "text-anchor": "end", class: "tick" },
      (options.yFormat ?? format)(tick)));
  }
  svg.append(s("line", { x1: frame.left, x2: frame.width - frame.right, y1: frame.height - frame.bottom,
    y2: frame.height - frame.bottom, class: "axis" }));
  svg.append(s("text", { x: (frame.left + frame.width - frame.right) / 2, y: frame.height - 6, "text-anchor": "middle",
    class: "axis-label" }, options.xLabel));
  const middle = (frame.top + frame.height - frame.bottom) / 2;
  svg.append(s("text", { x: 13, y: middle, "text-anchor": "middle", class: "axis-label",
    transform: `rotate(-90 13 ${middle})` }, options.yLabel));
  return { svg, x, y, frame };
}

export function path(points: [number, number][]): string {
  return points.map(([x, y], place) => `${place ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

export function figure(caption: Child, ...content: Child[]): HTMLElement {
  return h("figure", {}, caption ? h("figcaption", {}, caption) : null, ...content);
}

/** The mark of a class, as in a legend. */
export function mark(shape: Shape, colour: string, size = 5): SVGElement {
  const d: Record<Exclude<Shape, "circle">, string> = {
    square: `M${-size} ${-size}H${size}V${size}H${-size}Z`,
    triangle: `M0 ${-size * 1.2}L${size * 1.15} ${size}L${-size * 1.15} ${size}Z`,
    diamond: `M0 ${-size * 1.3}L${size * 1.3} 0L0 ${size * 1.3}L${-size * 1.3} 0Z`,
    cross: `M${-size} ${-size}L${size} ${size}M${size} ${-size}L${-size} ${size}`,
  };
  if (shape === "circle") return s("circle", { r: size, fill: colour });
  return s("path", { d: d[shape], fill: shape === "cross" ? "none" : colour, stroke: colour,
    "stroke-width": shape === "cross" ? 2.5 : 0 });
}

export function legendMark(shape: Shape, colour: string): SVGSVGElement {
  return s("svg", { viewBox: "-8 -8 16 16", class: "mark", "aria-hidden": "true" }, mark(shape, colour));
}

/** A bar from one value to another between two ends, with an optional interval and a line at zero. */
export function bar(from: number, to: number, within: [number, number], look: string,
  interval?: [number, number]): SVGSVGElement {
  const at = linear(within, [1, 119]);
  const left = Math.min(at(from), at(to));
  const zero = within[0] < 0 && within[1] > 0 ? s("line", { x1: at(0), x2: at(0), y1: 0, y2: 16, class: "axis" })
    : null;
  const whisker = interval
    ? s("line", { x1: at(Math.max(within[0], interval[0])), x2: at(Math.min(within[1], interval[1])), y1: 8, y2: 8,
      class: `whisker ${look}` })
    : null;
  return s("svg", { viewBox: "0 0 120 16", class: "bar", "aria-hidden": "true", preserveAspectRatio: "none" }, zero,
    s("rect", { x: left, y: 4, width: Math.max(1.5, Math.abs(at(to) - at(from))), height: 8, class: look }), whisker);
}

/** A dot with its standard error between two ends. */
export function dot(value: number, error: number, within: [number, number], look: string): SVGSVGElement {
  const width = narrow() ? 112 : 480;
  const at = linear(within, [5, width - 5]);
  return s("svg", { viewBox: `0 0 ${width} 16`, class: "dots", "aria-hidden": "true" },
    s("line", { x1: 0, x2: width, y1: 8, y2: 8, class: "grid" }),
    s("line", { x1: at(value - error), x2: at(value + error), y1: 8, y2: 8, class: `whisker ${look}` }),
      s("circle", { cx: at(value), cy: 8, r: 4.5, class: look }));
}

let box: HTMLElement | null = null;

/** Shows a line of text beside the pointer; nothing hides it. */
export function showTip(event: MouseEvent, text: string): void {
  box ??= document.body.appendChild(h("div", { id: "tip", role: "status" }));
  box.textContent = text;
  box.hidden = !text;
  box.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8))}px`;
  const below = event.clientY + 18;
  box.style.top = `${below + box.offsetHeight > innerHeight ? event.clientY - box.offsetHeight - 10 : below}px`;
}

export function hideTip(): void {
  if (box) box.hidden = true;
}

/** A part of a figure that says something at the pointer and can be chosen by pointer and keyboard. */
export function answering(part: SVGElement, text: string, choose?: () => void): void {
  part.addEventListener("mousemove", (event) => showTip(event as MouseEvent, text));
  part.addEventListener("mouseleave", hideTip);
  if (!choose) return;
  part.classList.add("clickable");
  part.addEventListener("click", choose);
}
