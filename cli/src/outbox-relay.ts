/** `tidegate outbox relay`: sends what is in the outbox of an app, in a process of its own. */
import { Tidegate } from 'tidegate';
import { databaseOf, type RelayOptions, type Sender, senderOf, startRelay } from 'tidegate/postgres';
import type { ApiClient, Json } from './api-client.ts';
import type { Context } from './context.ts';
import { usageError } from './exit-codes.ts';
import { CONNECT_MS, library, withOutbox } from './outbox.ts';
import { printable } from './output.ts';

const CONNECTIONS = 4;
/** In dev mode any key works. */
const ANY_KEY = 'dev';

export interface RelayCommandOptions extends RelayOptions {
  databaseUrl: string | undefined;
  /** Ends the relay. */
  signal: AbortSignal;
}

/** Resolves when the signal has ended it, after the send under way. @throws CliError if it cannot begin */
export async function runRelay(context: Context, options: RelayCommandOptions): Promise<void> {
  const { databaseUrl, signal, ...relayOptions } = options;
  const { url, eventKey, apiKey, environment } = context.settings();
  if (!eventKey && apiKey) throw usageError('The event key is missing', 'Set TIDEGATE_EVENT_KEY');
  // Reports problems of the database or its tables at once.
  await withOutbox(databaseUrl, (outbox) => outbox.list(['waiting'], 1));
  const { Pool } = await library();
  const pool = new Pool({ connectionString: databaseUrl, max: CONNECTIONS, connectionTimeoutMillis: CONNECT_MS });
  pool.on('error', () => {});
  const tell = (text: string) => context.stderr.write(`${printable(text)}\n`);
  const logger = { debug() {}, info: tell, warn: tell, error: tell };
  const client = new Tidegate({
    id: 'tidegate-outbox-relay',
    baseUrl: url,
    eventKey: eventKey ?? ANY_KEY,
    env: environment,
    isDev: false,
    logger,
  });
  const sender = telling(lookingUp(senderOf(client), context.api()), context);
  const relay = startRelay(databaseOf(pool), sender, logger, { ...relayOptions, lock: false });
  context.output().note(`Sends to ${url} what transactions add to the outbox`);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await relay.close();
  await pool.end();
}

/** Apps look up with their signing key, the command line with its API key. */
function lookingUp({ send }: Sender, api: ApiClient): Sender {
  const lookUp = async (path: string, ids: readonly string[]) => {
    const { data } = await api.post(path, { ids });
    const told = data as { id: string; found: boolean }[];
    if (!Array.isArray(told) || told.length < new Set(ids).size)
      throw new Error('The service did not tell of every ID');
    return new Set(told.filter(({ found }) => found).map(({ id }) => id));
  };
  return {
    send,
    findEvents: (ids) => lookUp('/v1/events/lookup', ids),
    findRuns: (ids) => lookUp('/v1/runs/lookup', ids),
  };
}

function telling(sender: Sender, context: Context): Sender {
  const output = context.output();
  return {
    ...sender,
    async send(events, seed) {
      const sent = await sender.send(events, seed);
      for (const [n, internalId] of sent.ids.entries()) {
        const { name, id }: Json = events[n];
        output.item({ name, id, internal_id: internalId }, () =>
          output.line(printable(`${name}  ${id}  ${internalId}`)),
        );
      }
      return sent;
    },
  };
}
