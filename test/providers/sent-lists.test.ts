import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { jwtVerify } from 'jose';
import { PRESETS, presetOf } from '../../src/providers/catalog.ts';
import { ownId } from '../../src/providers/default-id.ts';
import { ProviderRequest } from '../../src/providers/provider-request.ts';
import type { SentList } from '../../src/providers/sent-list.ts';
import {
  accountProblem,
  itemUrl,
  listUrl,
  pageOf,
  requestOf,
  SentListError,
  sentHeaders,
} from '../../src/providers/sent-requests.ts';

const SPAN = { from: Date.parse('2026-11-29T09:00:00.500Z'), to: Date.parse('2026-11-29T10:00:00.500Z') };

describe('Lists of what providers sent', () => {
  const lists = PRESETS.flatMap(({ id, sent }) => (sent && !('none' in sent) ? [[id, sent] as const] : []));
  const listOf = (id: string) => new Map(lists).get(id) as SentList;

  it('each needs an account with the fields of exactly one of its lists, and asks at its own API alone', () => {
    expect(lists.map(([id]) => id)).to.deep.equal(['github', 'paddle', 'stripe']);
    const accounts = [
      ['github', { repository: 'octo/harbour', hook: '7' }],
      ['github', { organization: 'octo', hook: '7' }],
      ['github', { app: 'Iv1.abc' }],
      ['paddle', { destination: 'ntfset_01a' }],
      ['stripe', { endpoint: 'we_1' }],
    ] as const;
    for (const [id, fields] of accounts) {
      const list = listOf(id);
      expect(accountProblem(list, fields), id).to.equal(undefined);
      const account = { fields, key: 'key' };
      for (const url of [listUrl(list, account, SPAN, 'last'), itemUrl(list, account, '../9')]) {
        expect(new URL(url).origin).to.equal(list.api);
        expect(url).not.to.match(/[{}]/);
      }
      expect(accountProblem(list, { ...fields, other: '1' })).to.include('"other" is unknown');
      expect(accountProblem(list, {})).to.be.a('string');
    }
    expect(accountProblem(listOf('stripe'), { endpoint: 'we_1/../x' })).to.include('Endpoint ID');
    expect(
      new URL(listUrl(listOf('paddle'), { fields: { destination: 'ntfset_1' }, key: 'pdl_sdbx_x' }, SPAN, undefined))
        .host,
    ).to.equal('sandbox-api.paddle.com');
  });

  it('the span is asked for in the unit of the provider, and never narrower', () => {
    const asked = new URL(listUrl(listOf('stripe'), { fields: { endpoint: 'we_1' }, key: '' }, SPAN, undefined))
      .searchParams;
    expect([asked.get('created[gte]'), asked.get('created[lte]')]).to.deep.equal(['1795942800', '1795946401']);
  });

  it('a GitHub App asks with a token that its private key signs', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const key = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const { authorization = '' } = sentHeaders(listOf('github'), { fields: { app: 'Iv23' }, key }, Date.now());
    const { payload } = await jwtVerify(authorization.replace('Bearer ', ''), publicKey, { issuer: 'Iv23' });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).to.be.at.most(600);
  });

  it('IDs that are larger than numbers of JavaScript stay as they are, and items that are none of the provider are counted', () => {
    const guid = '72d3162e-cc78-11e3-81ab-4c9367dc0958';
    const item = `{"id": 123456789012345678901, "guid": "${guid}", "delivered_at": "2026-11-29T09:30:00Z"}`;
    const link =
      '<https://elsewhere.example/x?per_page=100&cursor=v1_2>; rel="next", <https://api.github.com/x>; rel="prev"';
    const text = `[${item}, {"id": 1, "guid": "../..", "delivered_at": "2026-11-29T09:30:00Z"}, {"id": 2, "guid": "${guid}"}, 7]`;
    expect(pageOf(listOf('github'), text, { link }, undefined)).to.deep.equal({
      items: [{ id: guid, ref: '123456789012345678901', at: Date.parse('2026-11-29T09:30:00Z') }],
      next: 'v1_2',
      invalid: 3,
      oldestAt: Date.parse('2026-11-29T09:30:00Z'),
    });
  });

  it('a response that does not say whether more follows is no end of the list', () => {
    for (const text of ['{"data": []}', '{"data": [], "has_more": true}', '{"error": {}}', '<html>', '[]']) {
      expect(() => pageOf(listOf('stripe'), text, {}, undefined), text).to.throw(SentListError);
    }
  });

  it('the request that would have come has the ID of its item, as JSON and as a form', () => {
    const id = '72d3162e-cc78-11e3-81ab-4c9367dc0958';
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      const headers = { 'X-GitHub-Delivery': id, 'content-type': type };
      const made = requestOf(
        listOf('github'),
        JSON.stringify({ id: 1, request: { headers, payload: { ref: 'a&b' } } }),
      );
      const { body = Buffer.alloc(0), headers: given = {} } = made ?? {};
      const request = new ProviderRequest({ method: 'POST', urls: () => [], headers: given, search: '', body });
      expect(ownId(presetOf('github') ?? {}, request)).to.equal(id);
      expect(request.form?.get('payload') ?? body.toString()).to.equal('{"ref":"a&b"}');
    }
    expect(requestOf(listOf('github'), '{"request": {"headers": {}, "payload": null}}')).to.equal(undefined);
  });
});
