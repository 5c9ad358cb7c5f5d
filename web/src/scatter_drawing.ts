/** What is drawn on the canvas of a map: axes, lines and the marks of cases. */

import type { Shape } from "./colours";
import { divided, dots } from "./dots";
import type { At } from "./grid";
import { FADED, FAINT, HIDDEN, RING, type Layer, type Looks } from "./looks";
import { short } from "./format";
import type { Point } from "./geometry";
import { ticks, type Scale } from "./scale";

export interface Line { from: Point; to: Point; dashed: boolean }
export interface Frame { xLabel?: string; yLabel?: string; lines?: (at: { x: Scale; y: Scale }) => Line[] }

/** Draws ticks, labels and lines; a map without labels has neither ticks nor a grid. */
export function drawFrame(
  context: CanvasRenderingContext2D, at: { x: Scale; y: Scale }, options: Frame, width: number, height: number,
  style: CSSStyleDeclaration,
): void {
  const { xLabel, yLabel, lines } = options;
  context.lineWidth = 1;
  context.font = "12px system-ui, sans-serif";
  context.fillStyle = style.getPropertyValue("--soft");
  if (xLabel !== undefined) {
    const [bottom, left] = [height - 38, 52];
    const ends = (scale: Scale, first: number, last: number) =>
      ticks(Math.min(scale.invert(first), scale.invert(last)), Math.max(scale.invert(first), scale.invert(last)), 5);
    context.strokeStyle = style.getPropertyValue("--line");
    context.textAlign = "center";
    for (const tick of ends(at.x, left, width - 10)) context.fillText(short(tick, 6), at.x(tick), bottom + 15);
    context.fillText(xLabel, (left + width) / 2, height - 5);
    context.textAlign = "right";
    for (const tick of ends(at.y, bottom, 8)) {
      context.fillText(short(tick, 6), left - 6, at.y(tick) + 4);
      stroke(context, [left, at.y(tick)], [width - 10, at.y(tick)]);
    }
    context.save();
    context.translate(12, bottom / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(yLabel ?? "", 0, 0);
    context.restore();
  }
  context.strokeStyle = style.getPropertyValue("--soft");
  for (const { from, to, dashed } of lines?.(at) ?? []) {
    context.setLineDash(dashed ? [6, 4] : [2, 4]);
    stroke(context, from, to);
  }
  context.setLineDash([]);
}

function stroke(context: CanvasRenderingContext2D, from: Point, to: Point): void {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}

/** Traces the mark of a case, to be filled or stroked. */
export function trace(context: CanvasRenderingContext2D, shape: Shape, x: number, y: number, r: number): void {
  context.beginPath();
  if (shape === "circle") context.arc(x, y, r, 0, 2 * Math.PI);
  else if (shape === "square") context.rect(x - r, y - r, 2 * r, 2 * r);
  else if (shape === "cross") {
    context.moveTo(x - r, y - r);
    context.lineTo(x + r, y + r);
    context.moveTo(x + r, y - r);
    context.lineTo(x - r, y + r);
  } else {
    const up = 1.25 * r;
    context.moveTo(x, y - up);
    context.lineTo(x + up, shape === "triangle" ? y + r : y);
    if (shape === "diamond") context.lineTo(x, y + up);
    context.lineTo(x - up, shape === "triangle" ? y + r : y);
    context.closePath();
  }
}

/** Draws layers of points, faint ones first. */
export function drawPoints(
  context: CanvasRenderingContext2D, at: At, points: { x: Float32Array; y: Float32Array }, looks: Looks,
  layers: Layer[], wrong: string,
): void {
  for (const layer of layers) {
    if (layer.to <= layer.from) continue;
    if (layer.shaped) drawMarks(context, at, points, looks, layer, wrong);
    else drawDots(context, at, points, looks, layer);
  }
}

function drawDots(context: CanvasRenderingContext2D, at: At, points: { x: Float32Array; y: Float32Array },
  looks: Looks, layer: Layer): void {
  const { width, height } = context.canvas;
  const behind = document.createElement("canvas");
  [behind.width, behind.height] = [width, height];
  const ratio = context.getTransform().a;
  behind.getContext("2d")?.putImageData(divided(dots({ width, height }, at, points, looks, layer, ratio)), 0, 0);
  context.drawImage(behind, 0, 0, width / ratio, height / ratio);
}

function drawMarks(context: CanvasRenderingContext2D, at: At, points: { x: Float32Array; y: Float32Array },
  looks: Looks, { from, to, radius, opacity }: Layer, wrong: string): void {
  for (const faint of [FAINT, 0]) {
    for (let place = from; place < to; place += 1) {
      const state = looks.state[place]!;
      if ((state & (HIDDEN | FAINT)) !== faint) continue;
      const { colour, shape } = looks.styles[looks.style[place]!]!;
      const [x, y] = [at.x(points.x[place]!), at.y(points.y[place]!)];
      context.globalAlpha = faint ? opacity * FADED : opacity;
      context.fillStyle = colour;
      fillMark(context, shape, x, y, radius, colour);
      if ((state & RING) === 0) continue;
      context.globalAlpha = faint ? 0.2 : 1;
      drawCircle(context, [x, y], radius + 2, wrong, 1.3);
    }
  }
  context.globalAlpha = 1;
}

function fillMark(context: CanvasRenderingContext2D, shape: Shape, x: number, y: number, radius: number,
  colour: string): void {
  trace(context, shape, x, y, radius);
  if (shape !== "cross") return context.fill();
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.stroke();
}

export function drawCircle(context: CanvasRenderingContext2D, [x, y]: Point, radius: number, colour: string,
  width: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

export function drawOutline(context: CanvasRenderingContext2D, outline: Point[], colour: string): void {
  context.beginPath();
  outline.forEach(([x, y], place) => (place ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.setLineDash([5, 3]);
  context.stroke();
  context.setLineDash([]);
}
