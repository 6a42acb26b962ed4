import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Webhook } from '../../../api/types.ts';
import { useRequest, useRequests } from '../../../features/webhooks/queries.ts';
import { generic } from '../templates/generic.ts';
import { TEMPLATES, templateOf } from '../templates/templates.ts';
import { type Sample, sampleOfRequest } from './sample.ts';

const route = getRouteApi('/webhooks/$id');

export interface Origin {
  kind: 'request' | 'template' | 'pasted';
  /** ID of the request or template. */
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
  /** @param id of a request or template */
  select(id: string): void;
}

/** The URL names the request or template. By default it is the latest request when the page was opened, or the first to arrive.
 *  Edits and pasted requests are not saved. */
export function useSample(webhook: Webhook): SampleState {
  const navigate = useNavigate();
  const { sample: sampleId } = route.useSearch();
  const { last, first, atOpening } = useNewest(webhook.id);
  const [localSample, setLocalSample] = useState<{ sample: Sample; origin: Origin }>();
  const urlOrigin = originOf(sampleId ?? first) ?? defaultOf(webhook);
  const request = useRequest(webhook.id, urlOrigin.kind === 'request' ? urlOrigin.id : undefined);
  const template = urlOrigin.kind === 'template' ? templateOf(urlOrigin.id)?.sample : undefined;
  const [loadedSample, setLoadedSample] = useState<Sample>(template ?? generic.sample);
  useEffect(() => {
    const found = template ?? (request.data && sampleOfRequest(request.data));
    if (found) setLoadedSample(found);
  }, [template, request.data]);

  const sample = localSample?.sample ?? loadedSample;
  const origin = localSample?.origin ?? urlOrigin;
  return {
    sample,
    origin,
    edited: localSample !== undefined && localSample.origin.kind !== 'pasted',
    loading: urlOrigin.kind === 'request' && request.isLoading && localSample === undefined,
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

/** Of requests with a stored body: the latest, the first seen on this page, and the latest when the page was opened. */
function useNewest(id: string) {
  const { data } = useRequests(id);
  const last = data?.pages[0]?.data.find(({ body_bytes }) => body_bytes !== null)?.id;
  const [opened, setOpened] = useState<{ last: string | undefined }>();
  const [first, setFirst] = useState(last);
  if (opened === undefined && data) setOpened({ last });
  if (first === undefined && last !== undefined) setFirst(last);
  return { last, first: first ?? last, atOpening: opened ? opened.last : last };
}

/** Request IDs are ULIDs, so they differ from template IDs. */
function originOf(id: string | undefined): Origin | undefined {
  if (id === undefined) return undefined;
  return { kind: templateOf(id) ? 'template' : 'request', id };
}

/** The template that the transform equals. */
function defaultOf({ transform }: Webhook): Origin {
  return { kind: 'template', id: TEMPLATES.find((template) => template.transform === transform)?.id ?? generic.id };
}
