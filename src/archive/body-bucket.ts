/** Large bodies of webhook requests in a bucket with the API of S3, instead of in Postgres. The bucket's own lifecycle rule deletes them. */
import { AwsClient } from 'aws4fetch';
import { ServiceError } from '../errors.ts';
import { LARGE_BODY_MAX_BYTES } from '../model/webhooks/large-bodies.ts';
import type { KeptBody, WebhookBodyStore } from './webhook-bodies.ts';

const DEFAULT_REGION = 'us-east-1';
const TIMEOUT_MS = 15_000;
const RETRIES = 2;
const RETRY_AFTER_SECONDS = 5;

export class BodyBucket implements WebhookBodyStore {
  readonly #client: AwsClient;
  /** Without a slash at its end. */
  readonly #url: string;

  /** @param address `https://<key ID>:<secret key>@<host>/<bucket>?region=<region>`, the value of LARGE_BODIES_BUCKET_URL */
  constructor(address: string) {
    const { origin, pathname, username, password, searchParams } = new URL(address);
    this.#client = new AwsClient({
      accessKeyId: decodeURIComponent(username),
      secretAccessKey: decodeURIComponent(password),
      region: searchParams.get('region') ?? DEFAULT_REGION,
      service: 's3',
      retries: RETRIES,
    });
    this.#url = origin + pathname.replace(/\/+$/, '');
  }

  /** Stores a body. Repeating this changes nothing. @throws ServiceError archive_unavailable */
  async add({ webhookId, requestId, body, sha256 }: KeptBody): Promise<void> {
    await this.#send(webhookId, requestId, {
      method: 'PUT',
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/octet-stream', 'x-amz-content-sha256': sha256 },
    });
  }

  /** @throws ServiceError archive_unavailable */
  async read(webhookId: string, requestId: string): Promise<Buffer | undefined> {
    const response = await this.#send(webhookId, requestId, { method: 'GET' });
    if (response.status === 404) return undefined;
    return this.#bodyOf(response);
  }

  async #bodyOf(response: Response): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const part of response.body ?? []) {
        bytes += part.length;
        // The bucket may not say beforehand how long the body is.
        if (bytes > LARGE_BODY_MAX_BYTES) break;
        parts.push(part);
      }
    } catch (error) {
      throw unavailable(`the bucket sent a part of the body: ${(error as Error).message}`);
    }
    if (bytes > LARGE_BODY_MAX_BYTES) throw unavailable('the bucket has a larger body than was put there');
    return Buffer.concat(parts, bytes);
  }

  async #send(webhookId: string, requestId: string, request: RequestInit): Promise<Response> {
    const url = `${this.#url}/webhook-bodies/${webhookId}/${requestId}`;
    let response: Response;
    try {
      response = await this.#client.fetch(url, {
        ...request,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      throw unavailable(`the bucket cannot be reached: ${(error as Error).message}`);
    }
    if (response.ok || (response.status === 404 && request.method === 'GET')) return response;
    await response.body?.cancel();
    throw unavailable(`the bucket answered ${response.status}`);
  }
}

function unavailable(detail: string): ServiceError {
  return new ServiceError('archive_unavailable', { detail, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
