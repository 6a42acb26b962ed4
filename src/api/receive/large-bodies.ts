/** Large bodies of webhook requests: memory for reading them, the thread that parses them, and where they are kept. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Piscina } from 'piscina';
import type { KeptBody, WebhookBodyStore } from '../../archive/webhook-bodies.ts';
import { ServiceError } from '../../errors.ts';
import type { MemoryBudget, Release } from '../../model/capacity/memory-budget.ts';
import { Composed } from '../../model/values/composed.ts';
import { loadOnce } from '../../model/values/load-once.ts';
import { type BodyReference, LARGE_BODY_MAX_BYTES } from '../../model/webhooks/large-bodies.ts';
import type { LoggedRequest } from '../../model/webhooks/request-log.ts';
import type { WebhookInUse } from '../../store/webhooks/webhook-in-use.ts';
import type { LargeBodyTask, ParsedLargeBody, UnreadableLargeBody } from './large-body-thread.ts';
import type { WebhookRequest } from './webhook-request.ts';

/** How long a request with a large body, or a reader of a stored one, waits for memory. */
const WAIT_MAX_MS = 10_000;
/** Maximum size of the fields of one body, as JSON. */
const FIELDS_MAX_BYTES = 524_288;
/** Memory of the thread: 25 MB of JSON in short values take about 400 MB as objects. */
const THREAD_MB = 1_024;
const PARSE_TIMEOUT_MS = 10_000;
const QUEUE_MAX = 16;
const IDLE_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;
/** Locations in the JSON body, as presets and verification schemes have them. */
const BODY_LOCATION = /body:([\w.*-]+)/g;

/** The parts of a large body that are read. */
export interface LargeBodyParts {
  /** What the transform gets. */
  body: unknown;
  /** What verification and handshakes get. */
  json: unknown;
  reference: BodyReference;
}

/** A body, and the memory that is reserved for it. */
export interface ReservedBody {
  /** undefined: it is not kept. */
  body: Buffer | undefined;
  release: Release;
}

export class LargeBodies extends Composed<{
  /** All large bodies of this process share it. */
  memory: MemoryBudget;
  /** undefined without an archive and a bucket. */
  bodies: WebhookBodyStore | undefined;
  publicUrl: string | undefined;
  /** RETENTION_DAYS. */
  retentionDays: number;
}> {
  readonly #threads = loadOnce(startThread);

  get canKeep(): boolean {
    return this.deps.bodies !== undefined;
  }

  /** Reserves memory for a body before it is read, first come, first served.
   *  @returns releases the memory
   *  @throws ServiceError overloaded */
  async reserve(webhookId: string, bytes: number): Promise<Release> {
    const release = await this.deps.memory.reserve(webhookId, bytes, WAIT_MAX_MS);
    if (!release) throw overloaded('large bodies of other requests fill the memory for them; try again later');
    return release;
  }

  /** @param storedAs ID of the request with which the body is kept
   *  @throws ServiceError body_too_large, body_invalid, too_many_fields, overloaded */
  async parse(
    { id, largeBodies, preset, verification }: WebhookInUse,
    { body, headers }: Pick<WebhookRequest, 'body' | 'headers'>,
    storedAs: string,
  ): Promise<LargeBodyParts> {
    const result = await this.#run({
      body,
      contentType: headers['content-type'],
      fields: largeBodies?.fields ?? [],
      providerFields: Array.from(
        JSON.stringify([preset, verification]).matchAll(BODY_LOCATION),
        ([, path]) => path as string,
      ),
    });
    if ('code' in result) throw new ServiceError(result.code, { detail: result.detail });
    const { fields, providerFields, sha256 } = result;
    if (fields.length > FIELDS_MAX_BYTES) {
      throw new ServiceError('body_too_large', {
        detail: `the fields that "large_bodies" of the webhook selects have ${fields.length} characters; select at most ${FIELDS_MAX_BYTES}`,
        facts: { limit_bytes: FIELDS_MAX_BYTES },
      });
    }
    const url = `${this.deps.publicUrl ?? ''}/v1/webhooks/${id}/requests/${storedAs}/body`;
    return {
      body: JSON.parse(fields),
      json: JSON.parse(providerFields),
      reference: { bytes: body.length, sha256, url },
    };
  }

  async #run(task: LargeBodyTask): Promise<ParsedLargeBody | UnreadableLargeBody> {
    const threads = await this.#threads();
    try {
      return await threads.run(task, { signal: AbortSignal.timeout(PARSE_TIMEOUT_MS) });
    } catch (error) {
      const { name, code, message } = error as Error & { code?: string };
      if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
        throw new ServiceError('body_too_large', {
          detail: `parsing it needs more than ${THREAD_MB} MB`,
          cause: error,
        });
      }
      if (name === 'AbortError') throw overloaded(`it could not be parsed within ${PARSE_TIMEOUT_MS} ms`);
      throw overloaded(message);
    }
  }

  /** Keeps a body: it is on disk when this resolves. Idempotent.
   *  @throws ServiceError archive_unavailable */
  async keep(kept: KeptBody): Promise<void> {
    const { bodies, retentionDays } = this.deps;
    if (!bodies) {
      throw new ServiceError('archive_unavailable', {
        detail:
          'this installation has neither an archive (DATABASE_URL) nor a bucket (LARGE_BODIES_BUCKET_URL) any more',
      });
    }
    await bodies.add(kept, retentionDays);
  }

  /** Uses the body of a logged request, wherever it is kept; undefined: it is not kept. The memory for a large body stays reserved
   *  meanwhile.
   *  @throws ServiceError archive_unavailable, overloaded */
  async withBodyOf<T>(
    webhookId: string,
    logged: LoggedRequest,
    use: (body: Buffer | undefined) => Promise<T>,
  ): Promise<T> {
    const { body, release } = await this.bodyOf(webhookId, logged);
    try {
      return await use(body);
    } finally {
      release();
    }
  }

  /** The body of a logged request. `release` must follow.
   *  @throws ServiceError archive_unavailable, overloaded */
  async bodyOf(webhookId: string, { summary, body }: LoggedRequest): Promise<ReservedBody> {
    if (summary.storedBody === undefined) return { body, release: () => {} };
    return this.read(webhookId, summary.storedBody, summary.bodyBytes);
  }

  /** Reads a large body. `release` must follow.
   *  @throws ServiceError archive_unavailable, overloaded */
  async read(webhookId: string, requestId: string, bytes = LARGE_BODY_MAX_BYTES): Promise<ReservedBody> {
    const release = await this.reserve(webhookId, bytes);
    try {
      return { body: await this.deps.bodies?.read(webhookId, requestId), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async close(): Promise<void> {
    await (await this.#threads.loaded)?.destroy();
  }
}

async function startThread(): Promise<Piscina<LargeBodyTask, ParsedLargeBody | UnreadableLargeBody>> {
  const { Piscina } = await import('piscina');
  return new Piscina({
    filename: fileURLToPath(new URL(`./large-body-thread${extname(import.meta.filename)}`, import.meta.url)),
    minThreads: 0,
    maxThreads: 1,
    maxQueue: QUEUE_MAX,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MB },
    recordTiming: false,
  });
}

function overloaded(detail: string): ServiceError {
  return new ServiceError('overloaded', { detail, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
