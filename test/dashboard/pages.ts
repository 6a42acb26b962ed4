/** Paths of all dashboard pages, for tests that open each of them. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Pages that need no resource. */
export const STATIC_PAGES = [
  '/',
  '/events',
  '/runs',
  '/errors',
  '/alerts',
  '/alerts?tab=past',
  '/alerts?tab=rules',
  '/alerts?tab=channels',
  '/replays',
  '/functions',
  '/apps',
  '/webhooks',
  '/destinations',
  '/webhook-issues',
  '/held-events',
  '/keys',
  '/keys?tab=api-keys',
  '/keys?tab=signing-keys',
  '/environments',
  '/users',
  '/account',
  '/audit-log',
  '/audit-log?tab=refusals',
  '/settings',
  '/jobs',
];

/** IDs and names of resources, as paths of their pages need them. */
export interface Fixtures {
  eventId: string;
  /** Created by a webhook request. */
  webhookEventId: string;
  runId: string;
  /** Waits for its next attempt. */
  waitingRunId: string;
  sleepingRunId: string;
  failedRunId: string;
  /** The fingerprint of that run's error group. */
  fingerprint: string;
  replayId: string;
  whatIfId: string;
  functionId: string;
  /** The ID of its function. */
  destinationId: string;
  appName: string;
  webhookId: string;
  requestId: string;
  rejectedRequestId: string;
}

export function resourcePages(fixtures: Fixtures): string[] {
  return [
    `/events/${fixtures.eventId}`,
    `/events/${fixtures.eventId}?view=raw`,
    `/events/${fixtures.webhookEventId}?tab=source`,
    `/events/${fixtures.eventId}?tab=runs`,
    `/events/${fixtures.eventId}?tab=decisions`,
    `/events/${fixtures.eventId}?tab=code`,
    `/runs/${fixtures.runId}`,
    `/runs/${fixtures.waitingRunId}?entry=0`,
    `/runs/${fixtures.sleepingRunId}`,
    `/runs/${fixtures.failedRunId}`,
    `/errors/${fixtures.fingerprint}`,
    `/events?q=${encodeURIComponent('data.total > 10 && name.startsWith("order/")')}`,
    '/events?q=order',
    `/runs?q=${encodeURIComponent('event.data.total > 10')}`,
    `/replays/${fixtures.replayId}`,
    `/functions/${fixtures.functionId}`,
    `/functions/${fixtures.destinationId}`,
    `/apps/${fixtures.appName}`,
    `/apps/${fixtures.appName}/what-ifs/${fixtures.whatIfId}`,
    `/webhooks/${fixtures.webhookId}?request=${fixtures.requestId}`,
    `/webhooks/${fixtures.webhookId}?request=${fixtures.rejectedRequestId}`,
    `/webhooks/${fixtures.webhookId}?tab=requests`,
    `/webhooks/${fixtures.webhookId}?tab=requests&request=${fixtures.requestId}`,
    `/webhooks/${fixtures.webhookId}?tab=issues`,
    `/webhooks/${fixtures.webhookId}?tab=versions`,
    `/webhooks/${fixtures.webhookId}?tab=versions&version=1`,
    `/webhooks/${fixtures.webhookId}?tab=settings`,
  ];
}

/** Every declared route, such as `/runs/$id`. */
export function declaredPaths(): string[] {
  const file = resolve(import.meta.dirname, '../../dashboard/src/app/routes.tsx');
  return [...readFileSync(file, 'utf8').matchAll(/^ {2}path: '([^']+)'/gm)].map(([, path]) => path as string);
}
