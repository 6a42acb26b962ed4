import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { callApi } from '../../../api/client.ts';
import type { TransformResult } from '../../../api/types.ts';
import { parseQuery, type Sample } from './sample.ts';

const DEBOUNCE_MS = 250;

/** Runs the code on the sample, debounced. */
export function usePreview(code: string, sample: Sample, enabled: boolean) {
  const [input, setInput] = useState({ code, sample, revision: 0 });
  useEffect(() => {
    const timer = setTimeout(
      () =>
        setInput((before) =>
          before.code === code && before.sample === sample ? before : { code, sample, revision: before.revision + 1 },
        ),
      DEBOUNCE_MS,
    );
    return () => clearTimeout(timer);
  }, [code, sample]);
  const result = useQuery({
    // A revision number instead of code and body, because the key is serialized on every render.
    queryKey: ['transform-test', useRandom(), input.revision],
    queryFn: async ({ signal }) =>
      (await callApi<TransformResult>('/v1/transforms/test', { ...request(input), signal })).data,
    enabled: enabled && input.code.trim() !== '',
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const waiting = input.code !== code || input.sample !== sample || result.isFetching;
  return { ...result, waiting };
}

function useRandom(): string {
  return useState(() => crypto.randomUUID())[0];
}

function request({ code, sample }: { code: string; sample: Sample }) {
  const { body, headers, query } = sample;
  return { method: 'POST' as const, body: { transform: code, body, headers, query: parseQuery(query) } };
}
