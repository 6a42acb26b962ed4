/** What the cases of the topic `connect` say, for each runner in TypeScript. */
import { only } from './cases.ts';

/** What the gateway of a case does or gets next (clients/conformance/README.md#connections). */
export type TalkEntry = Record<string, unknown>;

export interface ConnectCase {
  title: string;
  client?: object;
  functions?: object[];
  program?: never[];
  connect?: { max_concurrency?: number; instance_id?: string; app_version?: string };
  talk: TalkEntry[];
  states?: string[];
  error?: { code: string | null; message: string[] };
}

/** Fields of a payload that are JSON in a text. */
const JSON_TEXTS = ['functions', 'body', 'requestPayload'];

const FUNCTION = {
  id: 'shop-fn',
  name: 'fn',
  triggers: [{ event: 'order/paid' }],
  steps: { step: { id: 'step', name: 'step', runtime: { type: 'ws' }, retries: { attempts: 4 } } },
};

/** Replaces the short forms. */
export function expanded(entry: TalkEntry, sdk: string): TalkEntry[] {
  if (entry.starts || entry.connects) return handshake(entry);
  if (entry.calls) {
    const { calls: requestId, lease: leaseId, function: functionSlug = 'shop-fn', call, ...rest } = entry;
    only(rest, []);
    return [
      { sends: 'gatewayExecutorRequest', requestId, leaseId, functionSlug, call },
      { gets: 'workerRequestAck', requestId },
    ];
  }
  if (!entry.replies) return [entry];
  const { replies: requestId, ...reply } = entry;
  return [{ gets: 'workerReply', requestId, noRetry: false, sdkVersion: sdk, ...reply }];
}

function handshake({ starts, connects }: TalkEntry): TalkEntry[] {
  const { headers = {}, ...given } = (starts ?? connects) as Record<string, unknown>;
  only(given, ['heartbeatInterval', 'extendLeaseInterval']);
  const body = { connectionId: '01CONNECTION', gatewayEndpoint: '{{gateway}}', sessionToken: 'once' };
  const entries: TalkEntry[] = [
    {
      request: { method: 'POST', path: '/v0/connect/start', body: {}, headers },
      reply: { status: 200, body },
    },
    { opens: 'v1.connect.tidegate' },
    { sends: 'gatewayHello' },
    {
      gets: 'workerConnect',
      instanceId: '{{any}}',
      apps: [{ appName: 'shop', functions: [FUNCTION] }],
      framework: 'connect',
      sdkLanguage: '{{language}}',
      sdkVersion: '{{version}}',
      connectionId: '01CONNECTION',
      authData: { sessionToken: 'once', syncToken: 'once' },
      workerManualReadinessAck: true,
    },
  ];
  const ready = { sends: 'gatewayConnectionReady', heartbeatInterval: '10s', extendLeaseInterval: '5s', ...given };
  return connects ? [...entries, ready] : entries;
}

/** A payload with the JSON of its texts. */
export function readTexts(value: unknown): unknown {
  return transformTexts(value, (text) => (typeof text === 'string' ? JSON.parse(text) : text));
}

/** A payload with its JSON as texts. */
export function writeTexts(value: unknown): unknown {
  return transformTexts(value, (json) => JSON.stringify(json));
}

function transformTexts(value: unknown, transform: (json: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => transformTexts(item, transform));
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value);
  return Object.fromEntries(
    fields.map(([name, item]) => [name, JSON_TEXTS.includes(name) ? transform(item) : transformTexts(item, transform)]),
  );
}

/** The names of the operations of a reply or a checkpoint. */
export function namesOf(body: unknown): string[] {
  const name = ({ displayName }: { displayName: string }) => displayName;
  if (Array.isArray(body)) return body.map(name);
  const { run_id: _, fn_id, qi_id, steps, ...rest } = body as Record<string, unknown>;
  only(rest, []);
  if (fn_id !== '01FUNCTION' || qi_id !== '01EXECUTION') throw new Error(`A checkpoint of ${fn_id}, ${qi_id}`);
  return (steps as { displayName: string }[]).map(name);
}
