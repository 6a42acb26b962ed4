import { expect } from 'chai';
import { Documents } from '../../../src/providers/verification/documents.ts';
import { FetchBudget } from '../../../src/providers/verification/fetch-budget.ts';
import type { FetchDocument } from '../../../src/providers/verification/verification.ts';

const URL_1 = 'https://example.com/1.pem';
const DAY_MS = 86_400_000;
const nextTurn = () => new Promise(setImmediate);

describe('Documents of providers', () => {
  const asked: string[] = [];
  let respond: FetchDocument;
  let documents: Documents<{ text: string }>;
  let budget: FetchBudget;
  beforeEach(() => {
    asked.length = 0;
    respond = async (url) => `text of ${url}`;
    documents = new Documents((text) => {
      if (text.includes('bad')) throw new Error('it is no certificate');
      return { text };
    });
    budget = new FetchBudget();
  });
  const fetchDocument: FetchDocument = (url) => {
    asked.push(url);
    return respond(url);
  };
  const get = (url: string, nowMs: number, maxAgeMs = DAY_MS) =>
    documents.get(url, maxAgeMs, { nowMs, fetchDocument }, budget);

  it('are fetched once until they are too old', async () => {
    expect(await get(URL_1, 0)).to.deep.equal({ text: `text of ${URL_1}` });
    await get(URL_1, DAY_MS - 1);
    expect(asked).to.have.length(1);
    await get(URL_1, 2 * DAY_MS);
    expect(asked).to.have.length(2);
  });

  it('stay in use while they are fetched again, and for a while when they cannot be fetched', async () => {
    const known = await get(URL_1, 0);
    let resolve = (_: string) => {};
    respond = () => new Promise((done) => (resolve = done));
    expect(await get(URL_1, DAY_MS)).to.equal(known);
    resolve('newer');
    await nextTurn();
    expect(await get(URL_1, DAY_MS)).to.deep.equal({ text: 'newer' });
    respond = async () => {
      throw new Error('503');
    };
    for (const ms of [2 * DAY_MS, 3 * DAY_MS - 1]) {
      expect(await get(URL_1, ms)).to.deep.equal({ text: 'newer' });
      await nextTurn();
    }
    expect(await get(URL_1, 3 * DAY_MS)).to.deep.include({ reason: 'certificate_unavailable' });
    expect(asked).to.have.length(4);
  });

  it('that were valid are fetched again, however many others a stranger names', async () => {
    await get(URL_1, 0);
    respond = async () => {
      throw new Error('404');
    };
    const nameOthers = async (nowMs: number) => {
      for (let i = 0; i < 12; i++) await get(`https://example.com/stranger-${nowMs}-${i}.pem`, nowMs);
    };
    await nameOthers(DAY_MS);
    expect(await get(URL_1, DAY_MS)).to.have.property('text');
    await nameOthers(5 * DAY_MS);
    respond = async () => 'newer';
    expect(await get(URL_1, 5 * DAY_MS)).to.deep.equal({ text: 'newer' });
  });

  it('that are new are fetched in the next minute, however many others a stranger names in each minute', async () => {
    const minute = async (nowMs: number) => {
      for (let i = 0; i < 12; i++) await get(`https://example.com/stranger-${nowMs}-${i}.pem`, nowMs);
      return get(URL_1, nowMs);
    };
    expect(await minute(0)).to.deep.include({ reason: 'certificate_unavailable' });
    expect(await minute(60_000)).to.deep.equal({ text: `text of ${URL_1}` });
  });

  it('are fetched once for concurrent requests', async () => {
    let resolve = (_: string) => {};
    respond = () => new Promise((done) => (resolve = done));
    const results = Array.from({ length: 50 }, () => get(URL_1, 0));
    resolve('text');
    expect(new Set(await Promise.all(results)).size).to.equal(1);
    expect(asked).to.have.length(1);
  });

  it('that cannot be fetched are not requested again for half a minute', async () => {
    respond = async () => {
      throw new Error('connect ECONNREFUSED');
    };
    const first = await get(URL_1, 0);
    expect(first).to.deep.include({ result: 'failed', reason: 'certificate_unavailable' });
    expect(await get(URL_1, 29_999)).to.equal(first);
    expect(asked).to.have.length(1);
    respond = async () => 'good again';
    expect(await get(URL_1, 30_000)).to.deep.equal({ text: 'good again' });
    respond = async () => 'bad';
    const other = await get('https://example.com/2.pem', 30_000);
    expect(other).to.deep.include({ result: 'failed', reason: 'certificate_untrusted' });
  });

  it('are limited to 10 new ones per minute for one webhook; known ones are unlimited', async () => {
    const reasons = [];
    await get(URL_1, 0);
    for (let i = 0; i < 50; i++) {
      const result = await get(`https://example.com/stranger-${i}.pem`, 1_000);
      reasons.push('reason' in result ? result.reason : 'fetched');
    }
    expect(reasons.filter((reason) => reason === 'fetched')).to.have.length(9);
    expect(new Set(reasons.slice(9))).to.deep.equal(new Set(['certificate_unavailable']));
    expect(await get(URL_1, 2_000)).to.have.property('text');
    expect(asked).to.have.length(10);
    budget = new FetchBudget();
    expect(await get('https://example.com/of-another-webhook.pem', 2_000)).to.have.property('text');
  });

  it('that fail and were named by strangers do not displace valid ones', async () => {
    await get(URL_1, 0);
    respond = async () => {
      throw new Error('404');
    };
    for (let i = 0; i < 500; i++) {
      budget = new FetchBudget();
      await get(`https://example.com/stranger-${i}.pem`, 1_000);
    }
    asked.length = 0;
    await get(URL_1, 2_000);
    expect(asked).to.deep.equal([]);
  });
});
