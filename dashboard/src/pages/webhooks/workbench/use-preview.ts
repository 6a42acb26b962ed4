import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { callApi } from '../../../api/client.ts';
import type { TransformResult } from '../../../api/types.ts';
import { parseQuery, type Sample } from './sample.ts';

const PAUSE_MS = 250;

/** What the service makes of the sample by this code: asked whenever neither has changed for a moment. */
export function usePreview(code: string, sample: Sample, enabled: boolean) {
  const [asked, setAsked] = useState({ code, sample, revision: 0 });
  useEffect(() => {
    const timer = setTimeout(
      () =>
        setAsked((before) =>
          before.code === code && before.sample === sample ? before : { code, sample, revision: before.revision + 1 },
        ),
      PAUSE_MS,
    );
    return () => clearTimeout(timer);
  }, [code, sample]);
  const result = useQuery({
    // A number in place of code and body: the key is turned into text at every turn.
    queryKey: ['transform-test', useRandom(), asked.revision],
    queryFn: async ({ signal }) =>
      (await callApi<TransformResult>('/v1/transforms/test', { ...request(asked), signal })).data,
    enabled: enabled && asked.code.trim() !== '',
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const waiting = asked.code !== code || asked.sample !== sample || result.isFetching;
  return { ...result, waiting };
}

function useRandom(): string {
  return useState(() => crypto.randomUUID())[0];
}

function request({ code, sample }: { code: string; sample: Sample }) {
  const { body, headers, query } = sample;
  return { method: 'POST' as const, body: { transform: code, body, headers, query: parseQuery(query) } };
}
