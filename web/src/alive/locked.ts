/** The model of fewer features that was locked, for all views that may answer with it. */

import { get, part, post, remove, type Locked } from "./api";

type Listener = (now: Locked | null) => void;

export class LockedModel {
  private current: Locked | null = null;
  private readonly listeners: Listener[] = [];

  constructor(private readonly study: string) {}

  get now(): Locked | null {
    return this.current;
  }

  /** Calls the listener now and whenever a set is locked or unlocked. */
  follow(listener: Listener): void {
    this.listeners.push(listener);
    listener(this.current);
  }

  async read(): Promise<void> {
    this.tell(await get<Locked | null>(this.path));
  }

  async lock(features: string[]): Promise<void> {
    this.tell(await post<Locked>(this.path, { features }));
  }

  async unlock(): Promise<void> {
    await remove(this.path);
    this.tell(null);
  }

  private get path(): string {
    return `/studies/${part(this.study)}/lock`;
  }

  private tell(found: Locked | null): void {
    this.current = found;
    for (const listener of this.listeners) listener(found);
  }
}
