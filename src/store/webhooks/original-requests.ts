/** Webhook requests that destinations forward. They are written before their events are accepted, because the log of
 *  a webhook is written later, and drops requests. */
import type { IncomingHttpHeaders } from 'node:http';
import { replies, type ScriptedRedis } from '../redis/connection/connection.ts';
import { Repository } from '../redis/repository.ts';

export interface StoredOriginal {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** ID of the request with which the archive keeps the body, if the body is too large to be here. */
  storedBody?: string | undefined;
  /** Size of that body; undefined if an earlier version wrote it. */
  bodyBytes?: number | undefined;
}

export class OriginalRequests extends Repository<ScriptedRedis, { ttlMs: number }> {
  async save(
    webhookId: string,
    requestId: string,
    { headers, body, storedBody }: Omit<StoredOriginal, 'bodyBytes'>,
  ): Promise<void> {
    const key = this.keys.of(webhookId).originalRequest(webhookId, requestId);
    const fields = storedBody === undefined ? { body } : { body: '', storedBody, bodyBytes: body.length };
    const writing = this.redis.multi().hset(key, { headers: JSON.stringify(headers), ...fields });
    replies(await writing.pexpire(key, this.deps.ttlMs).exec());
  }

  async read(webhookId: string, requestId: string): Promise<StoredOriginal | undefined> {
    const { headers, body, storedBody, bodyBytes } = await this.redis.hgetallBuffer(
      this.keys.of(webhookId).originalRequest(webhookId, requestId),
    );
    if (!headers || !body) return undefined;
    return {
      headers: JSON.parse(headers.toString()) as IncomingHttpHeaders,
      body,
      storedBody: storedBody?.toString(),
      bodyBytes: bodyBytes && Number(bodyBytes),
    };
  }
}
