/** Whether this browser shows notifications; stored in it. */
import { useSyncExternalStore } from 'react';

const STORAGE_KEY = 'notifications';
const ON = 'on';
const listeners = new Set<() => void>();

/** `unsupported`: the browser has no notifications, or none for pages without TLS. `blocked`: the user has blocked them. */
export type Preference = 'on' | 'off' | 'blocked' | 'unsupported';

export function usePreference(): Preference {
  return useSyncExternalStore(subscribe, read);
}

/** Asks the user for permission. */
export async function turnOn(): Promise<void> {
  if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(STORAGE_KEY, ON);
  changed();
}

export function turnOff(): void {
  localStorage.removeItem(STORAGE_KEY);
  changed();
}

function read(): Preference {
  if (!('Notification' in window) || !('locks' in navigator)) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && localStorage.getItem(STORAGE_KEY) === ON ? 'on' : 'off';
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changed(): void {
  for (const listener of listeners) listener();
}

// Changed in another tab.
window.addEventListener('storage', ({ key }) => {
  if (key === STORAGE_KEY) changed();
});
