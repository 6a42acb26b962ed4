import { expect } from 'chai';
import { LENGTH_MAX, SEARCH_LIMITS } from '../../src/model/search/parse.ts';
import { VARIABLES } from '../../src/model/search/syntax.ts';
import { type Service, startService } from '../support/service.ts';
import { blocksOf, expectLike, pageOf, runCurl } from './examples.ts';

const PAGE = pageOf('search.md');
const CONDITIONS = /^## Conditions$.*?^Values are/ms.exec(PAGE)?.[0] ?? '';

describe('docs/search.md', () => {
  let service: Service;
  before(async () => {
    service = await startService();
    const sent = blocksOf(PAGE)[0]?.code.split('\n\n')[0] ?? '';
    await runCurl(sent, service.url, {});
    await service.waitFor('/v1/events?name=order/paid', ({ body }) => body.data.length === 1);
  });
  after(() => service?.stop());

  it('finds the event that it sends', async () => {
    const search = blocksOf(PAGE)[0]?.code.split('\n\n')[1] ?? '';
    const { status, body } = await runCurl(search, service.url, {});
    expect([status, body.data.length], JSON.stringify(body)).to.deep.equal([200, 1]);
  });

  const examples = [...CONDITIONS.matchAll(/^\| `(.+?)` \|/gm)].map(([, code = '']) => code.replaceAll('\\|', '|'));
  it('has examples', () => expect(examples).to.have.length(10));
  for (const search of examples) {
    it(`finds the event with ${search}`, async () => {
      const { status, body } = await service.get(`/v1/events?search=${encodeURIComponent(search)}`);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.data).to.have.length(1);
    });
  }

  it('shows the response to an invalid condition', async () => {
    const [, wrong, response] = blocksOf(PAGE);
    const { status, body } = await runCurl(wrong?.code ?? '', service.url, {});
    expect(status).to.equal(400);
    expectLike(body, JSON.parse(response?.code ?? ''), service.url);
  });

  it('names every variable and every limit', () => {
    for (const variable of [...VARIABLES.events.keys(), ...VARIABLES.runs.keys()]) {
      if (!variable.startsWith('event.')) expect(PAGE).to.contain(`\`${variable}\``);
    }
    const bounds = [LENGTH_MAX, SEARCH_LIMITS.maxAstNodes, SEARCH_LIMITS.maxDepth, SEARCH_LIMITS.maxListElements];
    const text = /A condition has at most [^.]*\./.exec(PAGE)?.[0] ?? '';
    expect(text.match(/\d[\d,]*(?= )/g)?.map((item) => Number(item.replaceAll(',', '')))).to.deep.equal(bounds);
  });
});
