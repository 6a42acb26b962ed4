/** Going to an event that was just sent: its page shows it only once a worker has stored it. */
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { callApi } from '../../../api/client.ts';

/** Between one look and the next: 3 seconds in all. */
const PAUSES_MS = [50, 100, 200, 400, 750, 1_500];

export interface SentEvent {
  /** It is waited for now. */
  pending: boolean;
  /** ID of the one that was not stored in time: the reader is given a link to it. */
  lateId: string | undefined;
  /** @returns whether the reader has been brought there */
  openWhenStored(id: string): Promise<boolean>;
  /** Neither waited for nor spoken of any more. */
  reset(): void;
}

export function useSentEvent(env: string): SentEvent {
  const navigate = useNavigate();
  const [onItsWay, setOnItsWay] = useState(false);
  const [late, setLate] = useState<string>();
  const waiting = useRef<AbortController>(undefined);
  const forget = useCallback(() => {
    waiting.current?.abort();
    setOnItsWay(false);
    setLate(undefined);
  }, []);
  // Whoever has gone elsewhere is not fetched back.
  useEffect(() => () => waiting.current?.abort(), []);
  const goTo = async (id: string) => {
    forget();
    waiting.current = new AbortController();
    const { signal } = waiting.current;
    setOnItsWay(true);
    const stored = await isStoredSoon(env, id, signal);
    if (signal.aborted) return false;
    if (stored) await navigate({ to: '/events/$id', params: { id } });
    else setLate(id);
    setOnItsWay(false);
    return stored;
  };
  return { pending: onItsWay, lateId: late, openWhenStored: goTo, reset: forget };
}

async function isStoredSoon(env: string, id: string, signal: AbortSignal): Promise<boolean> {
  for (const pauseMs of [0, ...PAUSES_MS]) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (signal.aborted) return false;
    if (await isStored(env, id, signal)) return true;
  }
  return false;
}

/** A list that is empty is a good answer: for an event that is missing, the browser's console would show an error. */
function isStored(env: string, id: string, signal: AbortSignal): Promise<boolean> {
  return callApi<unknown[]>('/v1/events', { env, signal, query: { id, limit: 1, exclude: 'data' } }).then(
    ({ data }) => data.length > 0,
    // It was sent, whatever becomes of this question.
    () => false,
  );
}
