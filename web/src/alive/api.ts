/** The server behind the page: requests, answers, and refusals as sentences. */

import { short } from "../format";

export interface TableInfo { id: string; name: string; bytes: number; created: number }
export interface Example { name: string; rows: number | null; features: number | null; classes: number | null;
  origin: string }
export interface ColumnInfo { name: string; kind: string; missing: number; distinct: number; role: string;
  examples: string[] }
export interface Consequence { setting: string; text: string; warning: boolean }
export interface Preview {
  source: string; rows: number; columns: ColumnInfo[]; head: (string | null)[][]; targets: string[];
    target: string | null;
  target_kind: "classes" | "numbers" | null; classes: [string, number][]; range: [number, number] | null;
    summary: string;
  consequences: Consequence[]; cost: { seconds: number; bytes: number; text: string } | null;
    refusal: { message: string; suggestion: Settings } | null;
}
export type Settings = Record<string, unknown>;
export interface Progress { step: string; share: number; seconds: number; seconds_left: number | null;
  learners: { name: string; folds: number; current: boolean }[] }
export type State = "waiting" | "running" | "finished" | "failed" | "cancelled" | "interrupted";
export interface StudyInfo {
  id: string; name: string; source: string; target: string | null; settings: Settings; state: State; created: number;
    ended: number | null;
  progress: Progress | null; parts: string[]; message: string; finding: string; can_resume: boolean; revision: number;
}
export type Value = number | string | null;
export interface Feature { name: string; kind: "number" | "whole number" | "date" | "date and time" | "category";
  low: Value; high: Value; usual: Value; deviation: number | null; categories: string[] }
export interface Neighbor { name: number | string; kind: string; label: unknown; distance: number; vote: number;
  for_prediction: boolean; values: Record<string, Value>; contributions: Record<string, number>;
  nearest_row?: number | string | null }
export interface WhatIf {
  prediction: unknown; true: unknown; interval: [number, number] | null; probabilities: Record<string, number>;
    support: Record<string, number>;
  values: Record<string, Value>; neighbors: Neighbor[]; contributions: Record<string, number>;
  remark?: string;
    unusual: { column: string; kind: string; text: string }[]; sentence: string; seconds: number;
}
export interface Flips { prediction: unknown;
  flips: { changes: { feature: string; before: Value; after: Value; deviations: number }[]; size: number;
  prediction: unknown; sentence: string }[]; seconds: number }
export interface LeaveOutAnswer {
  features: string[]; kept: string[]; measure: string; with_all: number; with_all_error: number; without: number;
    without_error: number; lost: number; lost_error: number; sentence: string; seconds: number;
}
export interface Locked { features: string[]; answer: LeaveOutAnswer | null }
export interface Judged { verdict: string; loss: number | null; error: number | null; stand_ins: string[] }
export interface Move { feature: string; before: Judged; after: Judged }
export interface Moves { features: Move[]; sufficient_before: string[]; sufficient_after: string[]; sentence: string }
export interface Relearning {
  number: number; features: string[]; state: "running" | "finished" | "failed" | "cancelled" | "interrupted";
    step: string; share: number; score: LeaveOutAnswer | null; moves: Moves | null; message: string;
}
export interface Found { row: number | string; label: unknown; distance: number; rank_before: number;
  rank_after: number | null; alike: boolean | null; values: Record<string, Value> }
export interface Ranking { query: number | string; values: Record<string, Value>; label: unknown; found: Found[]; marks: number; triples: number;
  agreeing_before: number | null; agreeing_after: number | null; weights: Record<string, number> | null; kept: boolean }
export interface Kept { file: string; cases: number; python: string }
export interface Differences {
  differences: {
    finding: string; changed: { feature: string; first: string; second: string }[];
      gained: { feature: string; verdict: string }[]; lost: { feature: string; verdict: string }[];
    settings: { setting: string; first: unknown; second: unknown }[]; caveats: { first: string[]; second: string[] };
  };
}

const SILENT = "The studio does not answer. Start it again with whynear studio; nothing that is finished is lost.";

/** Whether a request was given up for a newer one, which can happen while its answer is being read. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Why the server refused a request, as it says it. */
export class Refusal extends Error {}

async function sent(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = { method, ...(signal ? { signal } : {}) };
  if (body instanceof Blob) init.body = body;
  else if (body !== undefined) Object.assign(init, { body: JSON.stringify(body),
    headers: { "content-type": "application/json" } });
  try {
    return await fetch(`/api${path}`, init);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Refusal(SILENT);
  }
}

async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await sent(method, path, body, signal);
  if (response.status === 204) return undefined as T;
  const answer: unknown = await response.json().catch((error: unknown) => {
    if (isAbort(error)) throw error;
    if (response.ok) throw new Refusal(SILENT); // it ended while it answered
    return {};
  });
  if (!response.ok) throw new Refusal(String((answer as { detail?: unknown })
    .detail ?? `The studio answered ${response.status}.`));
  return answer as T;
}

export const get = <T>(path: string, signal?: AbortSignal) => ask<T>("GET", path, undefined, signal);
export async function bytes(path: string): Promise<ArrayBuffer> {
  const response = await sent("GET", path);
  if (!response.ok) throw new Refusal(`The studio answered ${response.status}.`);
  return response.arrayBuffer();
}

export const post = <T>(path: string, body: unknown = {}, signal?: AbortSignal) => ask<T>("POST", path, body, signal);
export const patch = <T>(path: string, body: unknown) => ask<T>("PATCH", path, body);
export const remove = <T>(path: string) => ask<T>("DELETE", path);
export const part = encodeURIComponent;

/** Follows a study until it is over; returns what ends this. */
export function follow(study: string, changed: (info: StudyInfo) => void): () => void {
  const events = new EventSource(`/api/studies/${part(study)}/events`);
  events.onmessage = (event) => {
    const info = JSON.parse(String(event.data)) as StudyInfo;
    if (isOver(info.state)) events.close();
    changed(info);
  };
  return () => events.close();
}

export function isOver(state: State): boolean {
  return state !== "waiting" && state !== "running";
}

/** A value of a table as text. */
export function textOf(value: Value): string {
  return value === null ? "missing" : typeof value === "number" ? short(value) : String(value);
}
