/** Opens a sent event once a worker has stored it. */
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { callApi } from '../../../api/client.ts';

/** Delays between checks: 3 seconds in total. */
const PAUSES_MS = [50, 100, 200, 400, 750, 1_500];

export interface SentEvent {
  /** Waiting for the event to be stored. */
  pending: boolean;
  /** ID of an event that was not stored in time. */
  lateId: string | undefined;
  /** @returns whether the event's page was opened */
  openWhenStored(id: string): Promise<boolean>;
  reset(): void;
}

export function useSentEvent(env: string): SentEvent {
  const navigate = useNavigate();
  const [pending, setPending] = useState(false);
  const [lateId, setLateId] = useState<string>();
  const waiting = useRef<AbortController>(undefined);
  const reset = useCallback(() => {
    waiting.current?.abort();
    setPending(false);
    setLateId(undefined);
  }, []);
  // After leaving this page, do not navigate.
  useEffect(() => () => waiting.current?.abort(), []);
  const openWhenStored = async (id: string) => {
    reset();
    waiting.current = new AbortController();
    const { signal } = waiting.current;
    setPending(true);
    const stored = await isStoredSoon(env, id, signal);
    if (signal.aborted) return false;
    if (stored) await navigate({ to: '/events/$id', params: { id } });
    else setLateId(id);
    setPending(false);
    return stored;
  };
  return { pending, lateId, openWhenStored, reset };
}

async function isStoredSoon(env: string, id: string, signal: AbortSignal): Promise<boolean> {
  for (const pauseMs of [0, ...PAUSES_MS]) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (signal.aborted) return false;
    if (await isStored(env, id, signal)) return true;
  }
  return false;
}

/** Uses the list, because the browser's console would show a 404 as an error. */
function isStored(env: string, id: string, signal: AbortSignal): Promise<boolean> {
  return callApi<unknown[]>('/v1/events', { env, signal, query: { id, limit: 1, exclude: 'data' } }).then(
    ({ data }) => data.length > 0,
    // The event was sent, even if this check fails.
    () => false,
  );
}
