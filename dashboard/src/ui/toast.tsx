/** Short messages at the top of the page after an action. What shows them loads with the first one. */
import { lazy, Suspense, useCallback, useSyncExternalStore } from 'react';
import type { Show } from './toaster.tsx';

const LazyToaster = lazy(() => import('./toaster.tsx'));

let show: Show | undefined;
let pending: Parameters<Show>[] = [];
let isWanted = false;
const listeners = new Set<() => void>();

export const toast = {
  success: (message: string) => request('success', message),
  error: (error: Error) => request('error', error.message),
};

function request(...message: Parameters<Show>): void {
  if (show) {
    show(...message);
    return;
  }
  pending.push(message);
  isWanted = true;
  for (const listener of listeners) listener();
}

/** Where toasts appear. Render it once. */
export function Toaster() {
  const isShown = useSyncExternalStore(subscribe, () => isWanted);
  const onReady = useCallback((ready: Show) => {
    show = ready;
    for (const message of pending) ready(...message);
    pending = [];
  }, []);
  if (!isShown) return null;
  return (
    <Suspense>
      <LazyToaster onReady={onReady} />
    </Suspense>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
