/** The tests that each provider preset passes, over HTTP: genuine, tampered, stale, replayed requests, and a rotated secret. */
import { expect } from 'chai';
import { presetOf } from '../../src/providers/catalog.ts';
import type { Preset } from '../../src/providers/preset.ts';
import type { HttpResponse } from './http.ts';
import type { Service } from './service.ts';
import { until } from './until.ts';

export interface SignedRequest {
  method?: string;
  headers: Record<string, string>;
  /** Without question mark. */
  query?: string;
  body: string;
}

export interface ProviderCase {
  /** ID of the preset. */
  id: string;
  /** The present one, and one that replaces it. */
  secrets: readonly [string, string];
  settings?: Record<string, string>;
  /** For a generic preset. */
  verification?: object;
  /** Signs as the provider does: with its official library where there is one.
   *  @param url of the webhook @param nowMs when the provider sends it */
  sign(secret: string, url: string, nowMs: number): SignedRequest | Promise<SignedRequest>;
  /** Changes what is signed. Default: adds a space to the body. */
  tamper?(request: SignedRequest): SignedRequest;
  /** false: the provider signs no time, so an old request is as good as a new one. */
  hasAge: boolean;
  /** false: nothing of a request identifies it, so a repeat is a new event. */
  hasId?: boolean;
  /** Default: that of the preset's sample. */
  eventName?: string;
}

/** @param service in dev or production mode, already started */
export function itVerifies(given: ProviderCase, service: () => Service): void {
  const preset = presetOf(given.id) as Preset;
  const [current, next] = given.secrets;
  const { tamper = (request) => ({ ...request, body: `${request.body} ` }), eventName = preset.sample.eventName } =
    given;

  async function create(): Promise<{ id: string; url: string }> {
    const { status, body } = await service().post('/v1/webhooks', {
      name: `Tests of ${given.id}`,
      provider: given.id,
      secrets: [current],
      ...(given.settings && { settings: given.settings }),
      ...(given.verification && { verification: given.verification }),
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  }

  describe(`provider ${given.id}`, () => {
    it(`${given.id}: a genuine request makes a verified event`, async () => {
      const webhook = await create();
      const { status, body } = await send(webhook.url, await given.sign(current, webhook.url, Date.now()));
      expect(status, JSON.stringify(body)).to.equal(200);
      const [id = ''] = body.ids ?? (await loggedIds(service(), webhook.id, 1));
      const event = await storedEvent(service(), id);
      expect(event.name).to.equal(eventName);
      expect(event.verified).to.equal(true);
    });

    it(`${given.id}: a tampered request gets 401, is logged with the reason, and makes no event`, async () => {
      const webhook = await create();
      const { status, body } = await send(webhook.url, tamper(await given.sign(current, webhook.url, Date.now())));
      expect(status).to.equal(401);
      expect(body.code).to.equal('verification_failed');
      expect(body.reason).to.be.oneOf(['signature_mismatch', 'certificate_untrusted', 'body_malformed']);
      expect(JSON.stringify(body)).not.to.include(current);
      const logged = await lastLogged(service(), webhook.id);
      expect(logged.verification.result).to.equal('failed');
      expect(logged.verification.reason).to.equal(body.reason);
      expect(logged.ids).to.deep.equal([]);
    });

    it(`${given.id}: a request signed with another secret gets 401`, async () => {
      const webhook = await create();
      const { status } = await send(webhook.url, await given.sign(next, webhook.url, Date.now()));
      expect(status).to.equal(401);
    });

    if (given.hasAge) {
      it(`${given.id}: a request from two days ago gets 401 with its age`, async () => {
        const webhook = await create();
        const { status, body } = await send(
          webhook.url,
          await given.sign(current, webhook.url, Date.now() - 2 * 86_400_000),
        );
        expect(status).to.equal(401);
        expect(body.reason).to.equal('timestamp_too_old');
      });
    }

    if (given.hasId !== false) {
      it(`${given.id}: a replayed request counts once`, async () => {
        const webhook = await create();
        const request = await given.sign(current, webhook.url, Date.now());
        const first = await send(webhook.url, request);
        const second = await send(webhook.url, request);
        expect([first.status, second.status]).to.deep.equal([200, 200]);
        const firstIds = first.body.ids ?? (await loggedIds(service(), webhook.id, 1));
        const secondIds = second.body.ids ?? (await loggedIds(service(), webhook.id, 2));
        expect(secondIds).to.deep.equal(firstIds);
      });
    }

    it(`${given.id}: both secrets count during a rotation, and the old one no longer after it`, async () => {
      const webhook = await create();
      const rotate = (secret: string, keep: number) =>
        service().post(`/v1/webhooks/${webhook.id}/secrets`, { secret, keep_old_seconds: keep });
      expect((await rotate(next, 3_600)).status).to.equal(200);
      const statusOf = async (secret: string) =>
        (await send(webhook.url, await given.sign(secret, webhook.url, Date.now()))).status;
      await until(async () => (await statusOf(next)) === 200, { describe: 'the new secret counts' });
      expect(await statusOf(current)).to.equal(200);
      const [, old] = (await service().get(`/v1/webhooks/${webhook.id}`)).body.data.secrets;
      expect((await service().request('DELETE', `/v1/webhooks/${webhook.id}/secrets/${old.id}`)).status).to.equal(200);
      await until(async () => (await statusOf(current)) === 401, { describe: 'the old secret counts no longer' });
    });
  });
}

export async function send(
  url: string,
  { method = 'POST', headers, query, body }: SignedRequest,
): Promise<Pick<HttpResponse, 'status' | 'body'>> {
  const target = query ? `${url}?${query}` : url;
  const response = await fetch(target, { method, headers, ...(method !== 'GET' && { body }) });
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    return { status: response.status, body: text };
  }
}

export async function storedEvent(service: Service, id: string) {
  return until(async () => (await service.get(`/v1/events/${id}`)).body.data, { describe: 'the event is stored' });
}

/** IDs of the events of the nth request: a response that a transform chose has none. */
async function loggedIds(service: Service, webhookId: string, nth: number): Promise<string[]> {
  const path = `/v1/webhooks/${webhookId}/requests?limit=10`;
  const logged = await until(async () => (await service.get(path)).body.data.at(-nth), {
    describe: 'the request is logged',
  });
  return logged.ids;
}

export async function lastLogged(service: Service, webhookId: string) {
  return until(async () => (await service.get(`/v1/webhooks/${webhookId}/requests?limit=1`)).body.data[0], {
    describe: 'the request is logged',
  });
}
