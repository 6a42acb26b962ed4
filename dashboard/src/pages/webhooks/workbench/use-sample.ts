import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useProvider } from '../../../features/webhooks/providers.ts';
import { useRequest, useRequests } from '../../../features/webhooks/queries.ts';
import { PLAIN, PLAIN_SAMPLE, presentId, sampleOfProvider } from './provider-sample.ts';
import { type Sample, sampleOfRequest } from './sample.ts';

const route = getRouteApi('/webhooks/$id');

export interface Origin {
  kind: 'request' | 'provider' | 'pasted';
  /** ID of the request or the provider, or PLAIN. */
  id: string;
}

export interface SampleState {
  sample: Sample;
  origin: Origin;
  edited: boolean;
  loading: boolean;
  error: Error | null;
  /** A request that arrived after the page was opened and is not selected. */
  newRequestId: string | undefined;
  edit(change: Partial<Sample>): void;
  paste(sample: Sample): void;
  /** @param id of a request or a provider, or PLAIN */
  select(id: string): void;
}

/** The URL names the request or the provider. By default it is the latest request when the page was opened, or the first to arrive.
 *  Edits and pasted requests are not saved. */
export function useSample(webhook: Webhook): SampleState {
  const navigate = useNavigate();
  const { sample: sampleId } = route.useSearch();
  const { last, first, atOpening } = useNewest(webhook.id);
  const [localSample, setLocalSample] = useState<{ sample: Sample; origin: Origin }>();
  const urlOrigin = originOf(sampleId ?? first) ?? defaultOf(webhook);
  const request = useRequest(webhook.id, urlOrigin.kind === 'request' ? urlOrigin.id : undefined);
  const isOfProvider = urlOrigin.kind === 'provider' && urlOrigin.id !== PLAIN;
  const provider = useProvider(isOfProvider ? urlOrigin.id : undefined);
  const isPlain = urlOrigin.kind === 'provider' && (!isOfProvider || provider.isError);
  const [loadedSample, setLoadedSample] = useState<Sample>(PLAIN_SAMPLE);
  useEffect(() => {
    if (isPlain) setLoadedSample(PLAIN_SAMPLE);
    else if (isOfProvider && provider.data) setLoadedSample(sampleOfProvider(provider.data));
    else if (!isOfProvider && request.data) setLoadedSample(sampleOfRequest(request.data));
  }, [isPlain, isOfProvider, provider.data, request.data]);

  const sample = localSample?.sample ?? loadedSample;
  const origin = localSample?.origin ?? urlOrigin;
  return {
    sample,
    origin,
    edited: localSample !== undefined && localSample.origin.kind !== 'pasted',
    loading: (request.isLoading || provider.isLoading) && localSample === undefined,
    error: localSample === undefined ? request.error : null,
    newRequestId: last !== atOpening && last !== origin.id ? last : undefined,
    edit: (change) => setLocalSample({ sample: { ...sample, ...change }, origin }),
    paste: (pasted) => setLocalSample({ sample: pasted, origin: { kind: 'pasted', id: '' } }),
    select(id) {
      setLocalSample(undefined);
      void navigate({ to: '.', search: (before: object) => ({ ...before, sample: id }) as never, replace: true });
    },
  };
}

/** Three requests with a stored body: the latest, the first seen on this page, and the latest when the page was opened. */
function useNewest(id: string) {
  const { rows } = useRequests(id);
  const last = rows?.find(({ body_bytes }) => body_bytes !== null)?.id;
  const [opened, setOpened] = useState<{ last: string | undefined }>();
  const [first, setFirst] = useState(last);
  if (opened === undefined && rows) setOpened({ last });
  if (first === undefined && last !== undefined) setFirst(last);
  return { last, first: first ?? last, atOpening: opened ? opened.last : last };
}

const REQUEST_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

function originOf(id: string | undefined): Origin | undefined {
  if (id === undefined) return undefined;
  return REQUEST_ID.test(id) ? { kind: 'request', id } : { kind: 'provider', id: presentId(id) };
}

function defaultOf({ provider }: Webhook): Origin {
  return { kind: 'provider', id: provider ?? PLAIN };
}
