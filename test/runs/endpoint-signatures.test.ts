/** What the service signs of the request with which it calls an endpoint again. */
import { expect } from 'chai';
import { endpointRequest } from '../../src/functions/endpoint-request.ts';
import { isSignedWith } from '../../src/functions/signing.ts';
import { endpointRequestOf } from '../../src/model/runs/endpoint.ts';

const KEY = 'signkey-test-0123456789abcdef';
const url = 'https://shop.example.com/pay';

function signs(endpoint: 'signed-body' | 'signed-run-id', body: string, method = 'POST') {
  const data = { domain: 'https://shop.example.com', path: '/pay', method, body };
  const context = { run: { id: '01M7Z7A7B6FJ7DZJVGC757486T' }, event: { data } } as never;
  const { headers } = endpointRequest({ dialect: 'inngest', endpoint, url }, context, KEY);
  return (text: string) => isSignedWith(headers['x-inngest-signature'], text, KEY, Date.now());
}

describe('Requests to endpoints', () => {
  it('have no path that a URL parser reads as another one', () => {
    const data = (path: string) => ({ domain: 'https://shop.example.com', method: 'GET', path });
    for (const path of ['/../api', '/%2e%2E/api', '/a/.%2e', '/a/./b', '/a\\..\\api', '/a/%2e']) {
      expect(() => endpointRequestOf(data(path)), path).to.throw('segment');
    }
    for (const path of ['/', '/a/..b', '/.well-known/x', '/a.../b', '/%2e%2eb']) {
      expect(endpointRequestOf(data(path)).url).to.equal(new URL(path, 'https://shop.example.com').href);
    }
  });
});

describe('Signatures of requests to endpoints', () => {
  it('cover the body in canonical form, or nothing if the SDK verifies nothing', () => {
    expect(signs('signed-body', '{"b":1,"a":2}')('{"a":2,"b":1}')).to.equal(true);
    expect(signs('signed-body', '{"b":1}', 'PATCH')('')).to.equal(true);
    expect(signs('signed-run-id', '{"b":1}')('')).to.equal(true);
  });

  it('never cover a body that an SDK could accept as a call, for any spelling of its fields', () => {
    for (const body of [
      ...['{"event":{}}', '{"EVENT":{}}', '{"event\u017f":[{}]}', '{"a":1,"events":[]}', '{"event":null}'],
      ...['{"event":{}}00', '"{}"', 'a=b'],
    ]) {
      expect(() => signs('signed-body', body), body)
        .to.throw()
        .with.property('name', 'EndpointRefused');
    }
    for (const body of [
      '{"event":{}}',
      '{"event":{},"event":1}',
      '{"Event\u017f" : [1]}',
      '{"\\u0065vent":{},"x":1,"x":2}',
    ]) {
      for (const sent of [() => signs('signed-run-id', body), () => signs('signed-body', body, 'PATCH')]) {
        expect(sent, body).to.throw().with.property('name', 'EndpointRefused');
      }
    }
    expect(signs('signed-run-id', '{"event":"click"}')('')).to.equal(true);
    expect(signs('signed-body', '{"event":"click"}')('{"event":"click"}')).to.equal(true);
  });
});
