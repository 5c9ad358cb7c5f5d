/** Rows beside the cases of a study, read from the bytes that `whynear.report.page_cases` writes. */

import type { Further, PageData } from "./data";

interface Header { count: number; maps: Record<"before" | "after", [[number, number], [number, number]]>;
  values: [number, number] | null; names: "numbers" | "text" }

const STEPS = 65_535;

export function fromBase64(text: string): ArrayBuffer {
  const found = atob(text);
  const bytes = new Uint8Array(found.length);
  for (let place = 0; place < found.length; place += 1) bytes[place] = found.charCodeAt(place);
  return bytes.buffer;
}

/** The rows in the bytes; `total` is how many there are in the table. */
export function unpacked(bytes: ArrayBuffer, total: number): Further {
  const length = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as Header;
  const { count, maps, values } = header;
  let at = 4 + length;
  const next = () => {
    const found = new Uint16Array(bytes, at, count);
    at += 4 * Math.ceil(count / 2);
    return found;
  };
  const spread = (steps: Uint16Array, [least, most]: [number, number]) =>
    Float32Array.from(steps, (step) => least + (step * (most - least)) / STEPS);
  const before: Further["before"] = [spread(next(), maps.before[0]), spread(next(), maps.before[1])];
  const after: Further["after"] = [spread(next(), maps.after[0]), spread(next(), maps.after[1])];
  const truth = next();
  return { count, total, before, after, truth: values ? spread(truth, values) : truth,
    name: header.names === "numbers" ? numbered(new Int32Array(bytes, at, count)) : texts(bytes, at) };
}

function numbered(names: Int32Array): (place: number) => string {
  return (place) => String(names[place]);
}

/** Names that are text; they are taken apart when the first is needed. */
function texts(bytes: ArrayBuffer, at: number): (place: number) => string {
  let names: string[] | null = null;
  return (place) => {
    names ??= new TextDecoder().decode(new Uint8Array(bytes, at)).split("\n");
    return names[place] ?? "";
  };
}

/** Data that hold their further rows are given them as arrays. */
export function withFurther(data: PageData, bytes?: ArrayBuffer): PageData {
  const packed = bytes ?? (data.others?.packed ? fromBase64(data.others.packed) : null);
  return packed && data.others ? { ...data, further: unpacked(packed, data.others.total) } : data;
}
