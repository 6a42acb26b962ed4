import { expect } from 'chai';
import { ConfigError, SendError, type Tidegate } from 'tidegate';
import { eachCase, only } from '../../../../test/conformance/cases.ts';
import { expectMatch, fill, type Names } from '../../../../test/conformance/match.ts';
import type { Clock } from '../../src/post.ts';
import { sendEvents } from '../../src/send.ts';
import { useCleanEnv, useServers } from '../servers.ts';
import { type ClientCase, clientOf, setEnvironment } from './options.ts';
import { expectRequests, REGISTERED, type ReplyCase, type RequestCase } from './wire.ts';

type Event = { name: string; data: object };

interface ErrorCase {
  kind: 'send' | 'config';
  [field: string]: unknown;
}

interface Case {
  title: string;
  client: ClientCase;
  environment: Record<string, string>;
  events: Event | Event[];
  seed?: string;
  replies: ReplyCase[];
  random?: number;
  now?: string;
  requests: RequestCase[];
  delays_ms?: number[];
  ids?: string[];
  error?: ErrorCase;
}

const FIELDS = {
  client: true,
  environment: true,
  events: true,
  seed: true,
  replies: true,
  random: true,
  now: true,
  requests: true,
  delays_ms: true,
  ids: true,
  error: true,
} as const;

describe('TypeScript conforms: sends', () => {
  useCleanEnv();
  const { startService } = useServers();

  eachCase<Case>('sends', FIELDS, async (raw) => {
    const service = await startService(...raw.replies);
    const names = { ...REGISTERED, service: service.url };
    const given = fill(raw, names);
    setEnvironment(given.environment);
    const delays: number[] = [];
    const sent = send(clientOf(given.client), given, delays);
    const outcome = await sent.then(({ ids }) => ({ ids }), outcomeOf);
    expectRequests(service.requests, given.requests, names);
    expect(delays).to.deep.equal(given.delays_ms ?? []);
    expectOutcome(outcome, given, names);
  });
});

/** With the client's public method, or with its internals if the case controls time. */
function send(client: Tidegate, { events, seed, random, now, delays_ms }: Case, delays: number[]) {
  const options = seed === undefined ? {} : { seed };
  if (random === undefined && now === undefined && delays_ms === undefined) return client.send(events, options);
  const clock: Clock = {
    nowMs: () => (now === undefined ? Date.now() : Date.parse(now)),
    random: () => random ?? 0,
    sleep: async (ms) => delays.push(ms),
  };
  return sendEvents([events].flat(), client.settings(), options, clock);
}

function outcomeOf(error: Error): { error: Record<string, unknown> } {
  if (error instanceof ConfigError) return { error: { kind: 'config', message: error.message } };
  if (!(error instanceof SendError)) throw error;
  const { message, status = null, code = null, requestId = null, acceptedIds, seed = null } = error;
  return { error: { kind: 'send', message, status, code, request_id: requestId, accepted_ids: acceptedIds, seed } };
}

function expectOutcome(outcome: { ids: string[] } | { error: Record<string, unknown> }, given: Case, names: Names) {
  if (!given.error) {
    expect(outcome).to.deep.equal({ ids: given.ids });
    return;
  }
  only(given.error, ['kind', 'status', 'code', 'message', 'request_id', 'accepted_ids', 'seed']);
  const error = 'error' in outcome ? outcome.error : {};
  const named = Object.keys(given.error).map((field) => [field, error[field]]);
  expectMatch(Object.fromEntries(named), given.error, names);
}
