import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { SearchKind } from '../../../../src/model/search/syntax.ts';
import { callApi } from '../../api/client.ts';
import { useEnv } from '../../api/environment.ts';
import { fetchAllPages } from '../../api/fetch-all-pages.ts';
import type { EventName, ListedFunction, SearchField } from '../../api/types.ts';
import type { Known } from './completions.ts';

const NAMES_SHOWN = 200;
const STALE_MS = 60_000;

/** Completions of the search box: fields of stored payloads, event names and functions. @param enabled false: do not load yet */
export function useKnown(of: SearchKind, name: string | undefined, enabled: boolean): Known {
  const env = useEnv();
  const fields = useQuery({
    queryKey: ['search-fields', env, of, name],
    queryFn: ({ signal }) => callApi<SearchField[]>('/v1/search/fields', { env, signal, query: { of, name } }),
    enabled,
    staleTime: STALE_MS,
    retry: false,
  }).data?.data;
  const names = useQuery({
    queryKey: ['events', env, 'names'],
    queryFn: ({ signal }) => callApi<EventName[]>('/v1/events/names', { env, signal, query: { limit: NAMES_SHOWN } }),
    enabled,
    staleTime: STALE_MS,
  }).data?.data;
  const functions = useQuery({
    queryKey: ['functions', env, 'all', false],
    queryFn: ({ signal }) => fetchAllPages<ListedFunction>('/v1/functions', { env, signal }),
    enabled: enabled && of === 'runs',
  }).data;
  return useMemo(
    () => ({
      fields: (fields ?? []).map(({ path, type, sample }) => ({
        path,
        type,
        detail: detailOf(type, sample),
        // A text with one of these characters would change in quotes.
        ...(typeof sample === 'string' && !/["\\\n]/.test(sample) && { sample }),
      })),
      eventNames: (names ?? []).map((each) => each.name),
      functionIds: (functions ?? []).map(({ id }) => id),
    }),
    [fields, names, functions],
  );
}

const DETAIL_CHARS = 32;

/** A value of a recent event, or the type. */
function detailOf(type: string, sample: SearchField['sample']): string {
  if (sample === undefined || sample === null) return type;
  const text = JSON.stringify(sample);
  return text.length > DETAIL_CHARS ? `${text.slice(0, DETAIL_CHARS)}…` : text;
}
