import { expect } from 'chai';
import { CATALOGUE, type ErrorCode } from '../../src/errors.ts';
import type { HttpResponse } from '../support/http.ts';
import { type Service, startService } from '../support/service.ts';
import { eachCase } from './cases.ts';

interface Reply {
  status: number;
  headers?: Record<string, string>;
  body: Record<string, unknown>;
}

interface Case {
  title: string;
  replies: (Reply | 'hang up')[];
  requests: { path: string; headers: Record<string, string>; body: object }[];
  [ofTheClient: string]: unknown;
}

/** The environments of the cases' clients. */
const ENVIRONMENTS = ['pr-12', 'pr-13'];

const SEED = '1767225600000,ABEiM0RVZneImQ==';

/** Checks that the replies of the fake service match those of the real one. */
describe('The service conforms: sends', () => {
  let service: Service;
  let refusal: HttpResponse;
  before(async () => {
    service = await startService({ workers: 0 });
    for (const name of ENVIRONMENTS) await service.post('/v1/environments', { name });
    refusal = await service.post('/e/key', [{ name: '', data: {} }]);
  });
  after(() => service.stop());

  eachCase<Case>(
    'sends',
    Object.fromEntries(
      'client environment events seed random now delays_ms ids error replies requests'
        .split(' ')
        .map((field) => [field, true]),
    ),
    async ({ replies, requests }) => {
      for (const { headers, body } of requests) {
        const filled = Object.entries(headers).map(([name, value]) => [name, value.includes('{{') ? SEED : value]);
        const { status, body: responseBody } = await service.post('/e/key', body, Object.fromEntries(filled));
        expect(status).to.equal(200);
        for (const ok of replies.filter(isSuccess))
          expect(Object.keys(ok.body)).to.have.members(Object.keys(responseBody));
      }
      for (const { status, body, headers } of replies.filter(isRefusal)) {
        expect(CATALOGUE).to.have.property(body.code as string);
        const { index, field, limit_bytes, ...always } = body;
        if (limit_bytes !== undefined) expect(body.code).to.equal('body_too_large');
        expect(Object.keys(always)).to.have.members(['error', 'code', 'status']);
        expect({ ...refusal.body, limit_bytes }).to.include.keys(Object.keys(body));
        for (const name of Object.keys(headers ?? {})) {
          expect(name).to.be.oneOf(['retry-after', ...refusal.headers.keys()]);
        }
        expect([status, body.status]).to.deep.equal(Array(2).fill(CATALOGUE[body.code as ErrorCode][0]));
      }
    },
  );
});

function isSuccess(reply: Reply | 'hang up'): reply is Reply {
  return reply !== 'hang up' && Array.isArray(reply.body.ids);
}

/** With the messages of the service. */
function isRefusal(reply: Reply | 'hang up'): reply is Reply {
  return reply !== 'hang up' && typeof reply.body.code === 'string';
}
