/** Very many small points, written as pixels: a million take less time than a canvas needs for ten thousand marks. */

import type { Style } from "./colours";
import type { At } from "./grid";
import { FAINT, FADED, HIDDEN, type Layer, type Looks } from "./looks";

/** Pixels with colours multiplied by their opacity, as bytes: red, green, blue, opacity. */
export interface Pixels { width: number; height: number; data: Uint8ClampedArray<ArrayBuffer> }

/** Pixels on which all points of a layer lie as squares, faint ones below; `ratio` is the number of pixels per unit. */
export function dots(size: { width: number; height: number }, at: At, points: { x: Float32Array; y: Float32Array },
  looks: Looks, layer: Layer, ratio: number): Pixels {
  const { width, height } = size;
  const pixels: Pixels = { width, height, data: new Uint8ClampedArray(4 * width * height) };
  const side = Math.max(1, Math.round(2 * layer.radius * ratio));
  const [kx, ky] = [(at.x(1) - at.x(0)) * ratio, (at.y(1) - at.y(0)) * ratio];
  const [ox, oy] = [at.x(0) * ratio - side / 2 + 0.5, at.y(0) * ratio - side / 2 + 0.5];
  const colours = looks.styles.map(rgb);
  const { x, y } = points;
  for (const faint of [FAINT, 0]) {
    const opacity = Math.round(256 * layer.opacity * (faint ? FADED : 1));
    for (let place = layer.from; place < layer.to; place += 1) {
      if ((looks.state[place]! & (HIDDEN | FAINT)) !== faint) continue;
      const column = Math.floor(x[place]! * kx + ox);
      const line = Math.floor(y[place]! * ky + oy);
      if (column < 0 || line < 0 || column + side > width || line + side > height) continue;
      blend(pixels, column, line, side, colours[looks.style[place]!]!, opacity);
    }
  }
  return pixels;
}

/** Lays a square of a colour over the pixels; opacity from 0 to 256. */
function blend({ data, width }: Pixels, column: number, line: number, side: number, colour: [number, number, number],
  opacity: number): void {
  for (let down = line; down < line + side; down += 1) {
    for (let k = 4 * (down * width + column), end = k + 4 * side; k < end; k += 4) {
      data[k]! += ((colour[0] - data[k]!) * opacity) >> 8;
      data[k + 1]! += ((colour[1] - data[k + 1]!) * opacity) >> 8;
      data[k + 2]! += ((colour[2] - data[k + 2]!) * opacity) >> 8;
      data[k + 3]! += ((255 - data[k + 3]!) * opacity) >> 8;
    }
  }
}

/** Divides colours by their opacity, as a canvas takes them. */
export function divided({ data, width, height }: Pixels): ImageData {
  for (let k = 0; k < data.length; k += 4) {
    const opacity = data[k + 3]!;
    if (opacity === 0 || opacity === 255) continue;
    for (let channel = k; channel < k + 3; channel += 1) data[channel] = (data[channel]! * 255) / opacity;
  }
  return new ImageData(data, width, height);
}

/** A colour such as #1f5f8b as numbers from 0 to 255. */
function rgb({ colour }: Style): [number, number, number] {
  const value = Number.parseInt(colour.trim().replace("#", ""), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}
