/** The bulk actions that this tab shows: actions that the user started here and has not closed. They outlive pages and reloads. */
import { useSyncExternalStore } from 'react';

export interface TrackedBulk {
  env: string;
  id: string;
}

const STORAGE_KEY = 'bulk-actions';
const TRACKED_MAX = 5;
const listeners = new Set<() => void>();
let tracked: readonly TrackedBulk[] = read();

export function useTrackedBulks(): readonly TrackedBulk[] {
  return useSyncExternalStore(subscribe, () => tracked);
}

export function trackBulk(bulk: TrackedBulk): void {
  change([bulk, ...tracked].slice(0, TRACKED_MAX));
}

export function untrackBulk(id: string): void {
  change(tracked.filter((each) => each.id !== id));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(to: readonly TrackedBulk[]): void {
  tracked = to;
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(to));
  } catch {
    // Without storage, they last until the next reload.
  }
  for (const listener of listeners) listener();
}

function read(): readonly TrackedBulk[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isTracked).slice(0, TRACKED_MAX) : [];
  } catch {
    return [];
  }
}

function isTracked(value: unknown): value is TrackedBulk {
  const { env, id } = (value ?? {}) as Partial<TrackedBulk>;
  return typeof env === 'string' && typeof id === 'string';
}
