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
  const { sample: wanted } = route.useSearch();
  const { last, first, atOpening } = useNewest(webhook.id);
  const [own, setOwn] = useState<{ sample: Sample; origin: Origin }>();
  const named = originOf(wanted ?? first) ?? defaultOf(webhook);
  const request = useRequest(webhook.id, named.kind === 'request' ? named.id : undefined);
  const template = named.kind === 'template' ? templateOf(named.id)?.sample : undefined;
  const [given, setGiven] = useState<Sample>(template ?? generic.sample);
  useEffect(() => {
    const found = template ?? (request.data && sampleOfRequest(request.data));
    if (found) setGiven(found);
  }, [template, request.data]);

  const sample = own?.sample ?? given;
  const origin = own?.origin ?? named;
  return {
    sample,
    origin,
    edited: own !== undefined && own.origin.kind !== 'pasted',
    loading: named.kind === 'request' && request.isLoading && own === undefined,
    error: own === undefined ? request.error : null,
    newRequestId: last !== atOpening && last !== origin.id ? last : undefined,
    edit: (change) => setOwn({ sample: { ...sample, ...change }, origin }),
    paste: (pasted) => setOwn({ sample: pasted, origin: { kind: 'pasted', id: '' } }),
    select(id) {
      setOwn(undefined);
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
