/** An index of points on a plane: which are near, which lie on each other, which lie in a loop. */

import { inside, type Point } from "./geometry";
import { extent, type Scale } from "./scale";

export interface At { x: Scale; y: Scale }

const PER_CELL = 4; // points, on average
const MOST_CELLS = 1024; // along each side

export class Grid {
  private readonly side: number;
  private readonly first: [number, number];
  private readonly size: [number, number];
  private readonly start: Uint32Array;
  private readonly order: Uint32Array;

  constructor(private readonly x: Float32Array, private readonly y: Float32Array) {
    const n = x.length;
    this.side = Math.max(1, Math.min(MOST_CELLS, Math.ceil(Math.sqrt(n / PER_CELL))));
    const [left, right] = extent(x);
    const [low, high] = extent(y);
    this.first = [left, low];
    this.size = [(right - left) / this.side || 1, (high - low) / this.side || 1];
    const cells = new Int32Array(n);
    this.start = new Uint32Array(this.side * this.side + 1);
    for (let place = 0; place < n; place += 1) {
      const cell = this.column(x[place]!) + this.side * this.line(y[place]!);
      cells[place] = cell;
      this.start[cell + 1]! += 1;
    }
    for (let cell = 0; cell < this.side * this.side; cell += 1) this.start[cell + 1]! += this.start[cell]!;
    const next = this.start.slice();
    this.order = new Uint32Array(n);
    cells.forEach((cell, place) => { this.order[next[cell]!++] = place; });
  }

  private column(x: number): number {
    return Math.max(0, Math.min(this.side - 1, Math.floor((x - this.first[0]) / this.size[0])));
  }

  private line(y: number): number {
    return Math.max(0, Math.min(this.side - 1, Math.floor((y - this.first[1]) / this.size[1])));
  }

  private of(cell: number): Uint32Array {
    return this.order.subarray(this.start[cell]!, this.start[cell + 1]!);
  }

  /** The points in the cells around a pixel. */
  private *around([px, py]: Point, reach: number, at: At): Generator<number> {
    const columns = [px - reach, px + reach].map((pixel) => this.column(at.x.invert(pixel)));
    const lines = [py - reach, py + reach].map((pixel) => this.line(at.y.invert(pixel)));
    for (let line = Math.min(...lines); line <= Math.max(...lines); line += 1) {
      for (let column = Math.min(...columns); column <= Math.max(...columns); column += 1) {
        yield* this.of(column + this.side * line);
      }
    }
  }

  /** The nearest point within so many pixels; of equally near ones the first. Null where there is none. */
  nearest(to: Point, at: At, reach: number, hidden: (place: number) => boolean): number | null {
    let best: number | null = null;
    let least = reach * reach;
    for (const place of this.around(to, reach, at)) {
      const distance = (at.x(this.x[place]!) - to[0]) ** 2 + (at.y(this.y[place]!) - to[1]) ** 2;
      if (distance > least || hidden(place) || (distance === least && best !== null && place > best)) continue;
      [best, least] = [place, distance];
    }
    return best;
  }

  /** The point and all others less than a pixel from it, which no pointer can tell apart. */
  stacked(own: number, at: At, hidden: (place: number) => boolean): number[] {
    const to: Point = [at.x(this.x[own]!), at.y(this.y[own]!)];
    const others: number[] = [];
    for (const place of this.around(to, 1, at)) {
      const far = Math.hypot(at.x(this.x[place]!) - to[0], at.y(this.y[place]!) - to[1]);
      if (place !== own && far < 1 && !hidden(place)) others.push(place);
    }
    return [own, ...others.sort((a, b) => a - b)];
  }

  /** The points inside a closed outline, in their order. Cells that no edge comes near are taken or left as a whole. */
  within(outline: Point[], at: At, hidden: (place: number) => boolean): number[] {
    const loop = outline.map(([px, py]): Point => [at.x.invert(px), at.y.invert(py)]);
    const edged = new Uint8Array(this.side * this.side);
    loop.forEach(([x, y], place) => {
      const [toX, toY] = loop[(place + 1) % loop.length]!;
      for (let line = this.line(Math.min(y, toY)); line <= this.line(Math.max(y, toY)); line += 1) {
        const first = this.side * line;
        edged.fill(1, first + this.column(Math.min(x, toX)), first + this.column(Math.max(x, toX)) + 1);
      }
    });
    const found: number[] = [];
    for (let cell = 0; cell < edged.length; cell += 1) {
      const own = this.of(cell);
      if (!own.length) continue;
      const whole = !edged[cell] && inside([this.x[own[0]!]!, this.y[own[0]!]!], loop);
      if (!edged[cell] && !whole) continue;
      for (const place of own) {
        if (!hidden(place) && (whole || inside([this.x[place]!, this.y[place]!], loop))) found.push(place);
      }
    }
    return found.sort((a, b) => a - b);
  }

  /** The nearest point in a direction, distance across it counting twice; the first point where none is known. */
  towards(from: number | null, direction: Point, at: At, hidden: (place: number) => boolean): number | null {
    if (from === null || hidden(from)) {
      return this.order.reduce<number | null>((first, place) => (hidden(place)
        || (first !== null && first < place) ? first : place), null);
    }
    const own: Point = [at.x(this.x[from]!), at.y(this.y[from]!)];
    let best = from;
    let least = Infinity;
    for (const place of this.order) {
      const [right, down] = [at.x(this.x[place]!) - own[0], at.y(this.y[place]!) - own[1]];
      const along = right * direction[0] + down * direction[1];
      if (along <= 0.01 || hidden(place)) continue;
      const size = along + 2 * (Math.abs(right * direction[1]) + Math.abs(down * direction[0]));
      if (size < least || (size === least && place < best)) [best, least] = [place, size];
    }
    return best;
  }
}
