/** The pages of the dashboard, for tests that hold of all of them. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Those that need nothing to be there. */
export const PLACES = [
  '/',
  '/events',
  '/runs',
  '/functions',
  '/apps',
  '/webhooks',
  '/held-events',
  '/keys',
  '/keys?tab=api-keys',
  '/keys?tab=signing-keys',
  '/environments',
  '/members',
  '/audit-log',
  '/audit-log?tab=refusals',
  '/settings',
  '/jobs',
];

/** Of things that there are: what their paths need to know. */
export interface Things {
  eventId: string;
  /** Of a webhook's request. */
  arrivedEventId: string;
  runId: string;
  /** Of one whose next try is still to come. */
  waitingRunId: string;
  sleepingRunId: string;
  failedRunId: string;
  functionId: string;
  appName: string;
  webhookId: string;
  requestId: string;
  rejectedRequestId: string;
}

export function pagesOf(things: Things): string[] {
  return [
    `/events/${things.eventId}`,
    `/events/${things.eventId}?view=raw`,
    `/events/${things.arrivedEventId}?tab=arrival`,
    `/events/${things.eventId}?tab=runs`,
    `/events/${things.eventId}?tab=code`,
    `/runs/${things.runId}`,
    `/runs/${things.waitingRunId}?entry=0`,
    `/runs/${things.sleepingRunId}`,
    `/runs/${things.failedRunId}`,
    `/functions/${things.functionId}`,
    `/apps/${things.appName}`,
    `/webhooks/${things.webhookId}?request=${things.requestId}`,
    `/webhooks/${things.webhookId}?request=${things.rejectedRequestId}`,
    `/webhooks/${things.webhookId}?tab=requests`,
    `/webhooks/${things.webhookId}?tab=requests&request=${things.requestId}`,
    `/webhooks/${things.webhookId}?tab=settings`,
  ];
}

/** Every path that the dashboard knows, such as `/runs/$id`, read from where it declares them. */
export function declaredPaths(): string[] {
  const file = resolve(import.meta.dirname, '../../dashboard/src/app/routes.tsx');
  return [...readFileSync(file, 'utf8').matchAll(/^ {2}path: '([^']+)'/gm)].map(([, path]) => path as string);
}
