/** An app whose runs are in every state there is: what a store must bring through an upgrade. */
import type { AppHost, FunctionSpec, Handler } from '../support/app-host.ts';

export const APP = 'upgraded';
export const SETTINGS = {
  SECRET_KEY: 'a-secret-key-of-stored-fixtures-0123456789abcdef',
  EVENT_KEYS: 'upgrade-event-key-0123456789',
  API_KEY: 'upgrade-api-key-0123456789',
  SIGNING_KEY: 'signkey-test-5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e',
  KEY_PREFIX: 'service',
  // The stores get old.
  RETENTION_DAYS: '3650',
  STALLED_AFTER_SECONDS: '1',
} as const;
export const LOGGED = 'logged before the upgrade';
export const VIEW = 'saved before the upgrade';
export const WEBHOOK_SECRET = 'whsec_of_a_stored_fixture';

export const FUNCTIONS: FunctionSpec[] = [
  { id: 'completed', triggers: [{ event: 'upgrade/completed' }] },
  { id: 'failed', triggers: [{ event: 'upgrade/failed' }], retries: 0 },
  { id: 'sleeping', triggers: [{ event: 'upgrade/sleeping' }] },
  { id: 'waiting', triggers: [{ event: 'upgrade/waiting' }] },
  { id: 'retrying', triggers: [{ event: 'upgrade/retrying' }] },
  { id: 'limited', triggers: [{ event: 'upgrade/limited' }], concurrency: [{ limit: 1, key: 'event.data.customer' }] },
  { id: 'debounced', triggers: [{ event: 'upgrade/debounced' }], debounce: { period: '30s' } },
  { id: 'batched', triggers: [{ event: 'upgrade/batched' }], batchEvents: { maxSize: 10, timeout: '30s' } },
  { id: 'queued', triggers: [{ event: 'upgrade/queued' }] },
  { id: 'held', triggers: [{ event: 'upgrade/held' }] },
  { id: 'rerun', triggers: [{ event: 'upgrade/rerun' }] },
  { id: 'scheduled', triggers: [{ cron: '0 0 1 1 *' }] },
  { id: 'paid', triggers: [{ event: 'stripe/invoice.paid' }] },
];

/** Runs that have not ended when the store is written, and the output with which each ends. */
export const UNFINISHED: Record<string, unknown> = {
  sleeping: 'slept after step 1',
  waiting: 'got 42',
  retrying: 'second attempt',
  limited: 'one at a time',
  debounced: 'last of 2',
  batched: 'both of 2',
  queued: 'from the queue',
};

const stepId = (character: string) => character.repeat(40);
const STEP = { id: stepId('1'), op: 'StepRun', name: 'first', displayName: 'first', data: 1 };
const SLEEP = { id: stepId('2'), op: 'Sleep', name: '30s', displayName: 'nap', opts: { duration: '30s' } };
const WAIT = {
  id: stepId('3'),
  op: 'WaitForEvent',
  name: 'upgrade/answer',
  displayName: 'answer',
  opts: { event: 'upgrade/answer', timeout: '1800d', if: 'async.data.customer == event.data.customer' },
};

/** @param isOld the app as it was when the store was written */
export function addHandlers(host: AppHost, isOld: boolean): void {
  const never = new Promise<never>(() => {});
  const handlers: Record<string, Handler> = {
    completed: () => ({ body: 'done' }),
    failed: () => ({ status: 400, headers: { 'x-service-no-retry': 'true' }, body: { name: 'Bad', message: 'no' } }),
    sleeping: ({ body: { steps } }) => {
      if (!(STEP.id in steps)) return { status: 206, body: [STEP] };
      if (!(SLEEP.id in steps)) return { status: 206, body: [SLEEP] };
      return { body: `slept after step ${steps[STEP.id].data}` };
    },
    waiting: ({ body: { steps } }) =>
      WAIT.id in steps
        ? { body: `got ${steps[WAIT.id].data.n ?? steps[WAIT.id].data.data.n}` }
        : { status: 206, body: [WAIT] },
    retrying: ({ body: { ctx } }) =>
      ctx.attempt === 0 ? { status: 500, body: { name: 'Busy', message: 'later' } } : { body: 'second attempt' },
    limited: () => (isOld ? never : { body: 'one at a time' }),
    debounced: ({ body: { event } }) => ({ body: `last of ${event.data.n}` }),
    batched: ({ body: { events } }) => ({ body: `both of ${events.length}` }),
    queued: () => ({ body: 'from the queue' }),
    held: () => ({ body: 'held' }),
    rerun: () => ({ body: 'again' }),
  };
  for (const [id, handler] of Object.entries(handlers)) host.on(id, handler);
}
