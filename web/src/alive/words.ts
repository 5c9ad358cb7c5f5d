/** Sentences of the library without the options of the command line, which a page does not have. */

import type { PageData } from "../data";

const QUOTED = "'(?:[^'\\\\]|\\\\.)*'";
const IN_BRACKETS = new RegExp(`\\s*\\((?:--|whynear )(?:${QUOTED}|[^()'])*\\)`, "g");
const GROUP = new RegExp(`use --group (${QUOTED})`, "g");
const CLAUSE = new RegExp(`;\\s+--[\\w-]+(?:${QUOTED}|[^;.'])*`, "g");

/** The sentence without what only helps at a command line, such as (--drop 'x') or ; --encoding names another.
 *  The group of rows is chosen on the page too. */
export function withoutOptions(text: string): string {
  return text.replace(IN_BRACKETS, "").replace(CLAUSE, "").replace(GROUP, "choose $1 as the group");
}

/** The data of a page whose caveats name no options. */
export function forAPage(data: PageData): PageData {
  return { ...data, finding: { ...data.finding, caveats: data.finding.caveats.map(withoutOptions) } };
}

const DONE: Record<string, (value: unknown) => string> = {
  number: (names) => `Read ${names} as numbers; what is no number is missing`,
  category: (names) => `Read ${names} as categories`,
  date: (names) => `Read ${names} as dates`,
  drop: (names) => `Leave out ${names}`,
  missing: (names) => `Take ${names} as missing`,
  drop_missing_target: () => "Leave out the rows without a target",
  index: (name) => `Take ${name} as the names of the rows`,
  group: (name) => `Hold out the rows of one ${name} together`,
  bins: (size) => `Divide the target into ${size} classes of equal size`,
  encoding: (name) => `Read the file as ${name}`,
};

/** What settings do, as the text of a button. */
export function inWords(settings: Record<string, unknown>): string {
  const words = Object.entries(settings).map(([name, value]) => {
    const shown = Array.isArray(value) ? value.map((one) => `“${one}”`).join(", ") : typeof value === "string" ? `“${value}”` : value;
    return DONE[name]?.(shown) ?? `Set ${name} to ${String(shown)}`;
  });
  return words.join("; ");
}
