import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import aws4 from 'aws4';
import { expect } from 'chai';
import { BodyBucket } from '../../src/archive/body-bucket.ts';
import { LARGE_BODY_MAX_BYTES } from '../../src/model/webhooks/large-bodies.ts';
import { request } from '../support/http.ts';
import { startService } from '../support/service.ts';

const CREDENTIALS = { accessKeyId: 'AKID', secretAccessKey: 'a/secret+key' };
const REGION = 'eu-central-1';

/** A bucket that checks signatures with another library than the service's. */
class FakeBucket {
  readonly objects = new Map<string, Buffer>();
  status: number | undefined;
  sendsInParts = false;
  requests = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (req, res) => {
      const body = await buffer(req);
      this.requests++;
      res.statusCode = this.status ?? this.#statusFor(req, body);
      const object = res.statusCode === 200 && req.method === 'GET' ? this.objects.get(req.url as string) : undefined;
      // Without a length.
      if (object && this.sendsInParts) res.write(object.subarray(0, 1));
      res.end(object?.subarray(this.sendsInParts ? 1 : 0));
    });
  }

  static async start(): Promise<FakeBucket> {
    const fake = new FakeBucket();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  url(secret = CREDENTIALS.secretAccessKey): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://${CREDENTIALS.accessKeyId}:${encodeURIComponent(secret)}@127.0.0.1:${port}/bucket/?region=${REGION}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #statusFor({ method = '', url = '', headers }: IncomingMessage, body: Buffer): number {
    const [, signed = ''] = /SignedHeaders=([^,]+)/.exec(String(headers.authorization)) ?? [];
    const own = Object.fromEntries(signed.split(';').map((name) => [name, String(headers[name])]));
    const expected = aws4.sign(
      { method, path: url, host: String(headers.host), service: 's3', region: REGION, headers: own },
      CREDENTIALS,
    );
    if (expected.headers?.Authorization !== headers.authorization) return 403;
    if (method === 'GET') return this.objects.has(url) ? 200 : 404;
    if (headers['x-amz-content-sha256'] !== createHash('sha256').update(body).digest('hex')) return 400;
    this.objects.set(url, body);
    return 200;
  }
}

describe('A bucket for large bodies', () => {
  let bucket: FakeBucket;
  beforeEach(async () => {
    bucket = await FakeBucket.start();
  });
  afterEach(() => bucket.stop());

  const body = Buffer.from(`{"action":"pushed","text":"${'x'.repeat(600_000)}"}`);
  const kept = { webhookId: 'w', requestId: 'r', body, sha256: createHash('sha256').update(body).digest('hex') };
  const rejection = async (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
    );

  it('keeps what it is given, and says what it does not have', async () => {
    const store = new BodyBucket(bucket.url());
    expect(await store.read('w', 'r')).to.equal(undefined);
    await store.add(kept);
    await store.add(kept);
    expect([...bucket.objects.keys()]).to.deep.equal(['/bucket/webhook-bodies/w/r']);
    expect(body.equals((await store.read('w', 'r')) as Buffer)).to.equal(true);
  });

  it('is not read beyond the largest body, whether or not it says how long that is', async () => {
    const store = new BodyBucket(bucket.url());
    const object = '/bucket/webhook-bodies/w/r';
    for (const sendsInParts of [false, true]) {
      bucket.sendsInParts = sendsInParts;
      bucket.objects.set(object, Buffer.alloc(LARGE_BODY_MAX_BYTES, 'x'));
      expect((await store.read('w', 'r'))?.length).to.equal(LARGE_BODY_MAX_BYTES);
      bucket.objects.set(object, Buffer.alloc(LARGE_BODY_MAX_BYTES + 1, 'x'));
      expect(await rejection(store.read('w', 'r'))).to.match(/^archive_unavailable: .*larger body/);
    }
  });

  it('is unavailable with wrong credentials, while it fails, and when it is gone', async () => {
    expect(await rejection(new BodyBucket(bucket.url('wrong')).add(kept))).to.include('the bucket answered 403');
    bucket.status = 503;
    const before = bucket.requests;
    expect(await rejection(new BodyBucket(bucket.url()).add(kept))).to.match(/^archive_unavailable: .*answered 503/);
    expect(bucket.requests - before).to.equal(3);
    const url = bucket.url();
    await bucket.stop();
    expect(await rejection(new BodyBucket(url).read('w', 'r'))).to.include('the bucket cannot be reached');
    bucket = await FakeBucket.start();
  });

  it('is used instead of the archive', async () => {
    const service = await startService({ env: { LARGE_BODIES_BUCKET_URL: bucket.url() } });
    try {
      const large_bodies = { max_bytes: 1_000_000, fields: ['action'] };
      const transform = 'const transform = (evt, headers, query, raw) => ({ name: "got/large", data: { evt, raw } })';
      const { body: made } = await service.post('/v1/webhooks', { name: 'w', transform, large_bodies });
      bucket.status = 500;
      const refused = await request('POST', made.data.url, { body });
      expect([refused.status, refused.body.code]).to.deep.equal([503, 'archive_unavailable']);
      bucket.status = undefined;
      const { body: responseBody } = await request('POST', made.data.url, { body });
      const { evt, raw } = (await service.stored(responseBody.ids[0])).body.data.data;
      expect(evt).to.deep.equal({ action: 'pushed' });
      const response = await fetch(new URL(raw.url, service.url));
      expect(body.equals(Buffer.from(await response.arrayBuffer()))).to.equal(true);
      const settings = JSON.stringify((await service.get('/v1/settings')).body);
      expect(settings)
        .to.include('LARGE_BODIES_BUCKET_URL')
        .and.not.include(encodeURIComponent(CREDENTIALS.secretAccessKey));
    } finally {
      await service.stop();
    }
  });
});
