import { BraintreeGateway, Environment } from 'braintree';
import { expect } from 'chai';
import { assert, asyncProperty, constantFrom, integer, nat } from 'fast-check';
import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import { braintreeVerifier } from '../../../src/providers/verification/schemes/braintree.ts';
import { twilioVerifier } from '../../../src/providers/verification/schemes/twilio.ts';
import { type GivenRequest, resultOf, verifyRequest } from '../../support/provider-requests.ts';

const URL = 'https://events.example.com/e/abc';

function formOf(fields: Record<string, string>): string {
  return new URLSearchParams(fields).toString();
}

function contentOf(form: string): string {
  const fields = [...new URLSearchParams(form)].map(([name, value]) => name + value);
  return fields.sort().join('');
}

describe('The verification scheme twilio', () => {
  const TOKEN = '0123456789abcdef0123456789abcdef';
  const verifier = twilioVerifier([TOKEN]);
  const signed = (fields: Record<string, string>, search = '', url = URL): GivenRequest => ({
    headers: {
      'x-twilio-signature': getExpectedTwilioSignature(TOKEN, search === '' ? url : `${url}?${search}`, fields),
    },
    search,
    body: formOf(fields),
    urls: [URL],
  });

  it('verifies forms with any characters, and the query string unchanged', async () => {
    const forms = [{}, { Body: 'Zoë 🐦 & = + %' }, { a: '', b: ' ', A: '1' }, { x: 'y'.repeat(100_000) }];
    for (const fields of forms) expect(await resultOf(verifier, signed(fields))).to.equal('verified');
    expect(await resultOf(verifier, signed({ a: '1' }, 'x-service-env=b%20c&q=%27'))).to.equal('verified');
  });

  it('tries every URL under which the provider may know the webhook, with and without its port', async () => {
    const urls = ['http://internal:8288/e/abc', 'https://[::1]:8443/e/abc', URL];
    const known = [
      URL,
      'https://events.example.com:443/e/abc',
      'http://internal:8288/e/abc',
      'http://internal/e/abc',
      'https://[::1]/e/abc',
    ];
    for (const url of known) {
      expect(await resultOf(verifier, { ...signed({ a: '1' }, '', url), urls }), url).to.equal('verified');
    }
    for (const url of ['https://events.example.com:8443/e/abc', 'https://example.com/e/abc', `${URL}/`]) {
      expect(await resultOf(verifier, { ...signed({ a: '1' }, '', url), urls }), url).to.equal('signature_mismatch');
    }
    expect(await resultOf(verifier, { ...signed({}), urls: [] })).to.equal('signature_mismatch');
  });

  it('tells what is missing or malformed', async () => {
    const request = signed({ a: '1' });
    const result = (signature: string) =>
      resultOf(verifier, { ...request, headers: { 'x-twilio-signature': signature } });
    expect(await resultOf(verifier, { ...request, headers: {} })).to.equal('signature_missing');
    for (const text of ['', 'x', 'AAAA', `${request.headers?.['x-twilio-signature']} `, 'é'.repeat(28)]) {
      expect(await result(text), text).to.equal('signature_malformed');
    }
    expect(await result('A'.repeat(100_000))).to.equal('signature_missing');
  });

  it('requires a hash of the body in the query string to match, and then ignores form fields', async () => {
    const search = `bodySHA256=${'0'.repeat(64)}`;
    expect(await resultOf(verifier, { ...signed({}, search), body: '{}' })).to.equal('signature_mismatch');
    for (const hash of ['', 'x'.repeat(64), 'é']) {
      const query = `bodySHA256=${hash}`;
      expect(await resultOf(verifier, { ...signed({}, query), body: '{}' })).to.equal('signature_mismatch');
    }
  });

  it('rejects a signed form in a body that is parsed as JSON', async () => {
    // Whoever chooses the text of a message chooses where the JSON begins.
    const fields = { AccountSid: 'AC1', Body: 'x"}{"SmsStatus":["failed"],"z":"', From: '+49' };
    const body = '{"SmsStatus":["failed"],"z":"From%2B49&AccountSidAC1Bodyx"}';
    expect(contentOf(body)).to.equal(contentOf(formOf(fields)));
    expect(JSON.parse(body).SmsStatus).to.deep.equal(['failed']);
    expect(await resultOf(verifier, { ...signed(fields), body })).to.equal('body_malformed');
  });

  it('rejects every form with another value, field or character', async () => {
    const fields = { Body: 'Paid 49', From: '+4917612345678', MessageSid: 'SM1' };
    const request = signed(fields);
    const body = request.body as string;
    const changed = asyncProperty(nat(body.length - 1), integer({ min: 33, max: 126 }), async (at, code) => {
      const mutant = body.slice(0, at) + String.fromCharCode(code) + body.slice(at + 1);
      // Twilio signs names and values without separators: "ab=c" is the same as "a=bc".
      return (
        contentOf(mutant) === contentOf(body) || (await resultOf(verifier, { ...request, body: mutant })) !== 'verified'
      );
    });
    await assert(changed, { numRuns: 500 });
    for (const more of ['&x=1', '&Body=']) {
      expect(await resultOf(verifier, { ...request, body: body + more })).to.equal('signature_mismatch');
    }
  });
});

describe('The verification scheme braintree', () => {
  const SECRET = 'public_key:private_key';
  const gateway = new BraintreeGateway({
    environment: Environment.Sandbox,
    merchantId: 'merchant',
    publicKey: 'public_key',
    privateKey: 'private_key',
  });
  const genuine = gateway.webhookTesting.sampleNotification('check', 'id');
  const verifier = braintreeVerifier([SECRET]);
  const result = (fields: Record<string, string>) => resultOf(verifier, { body: formOf({ ...genuine, ...fields }) });

  it('verifies with the key pair of the signature among any other pairs', async () => {
    expect(await result({})).to.equal('verified');
    expect(await result({ bt_payload: genuine.bt_payload.trim() })).to.equal('verified');
    expect(await result({ bt_signature: `other|${'0'.repeat(40)}&${genuine.bt_signature}` })).to.equal('verified');
    const both = braintreeVerifier(['next_key:private', SECRET]);
    expect(await verifyRequest(both, { body: formOf(genuine) })).to.deep.equal({ result: 'verified', secretIndex: 1 });
  });

  it('tells what is missing or malformed', async () => {
    expect(await resultOf(verifier, { body: '' })).to.equal('signature_missing');
    expect(await resultOf(verifier, { body: '{"bt_signature":"x"}' })).to.equal('body_malformed');
    expect(await result({ bt_payload: '' })).to.equal('body_malformed');
    expect(await result({ bt_payload: '<xml/>' })).to.equal('body_malformed');
    expect(await result({ bt_signature: 'public_key' })).to.equal('signature_malformed');
    expect(await result({ bt_signature: 'public_key|123' })).to.equal('signature_malformed');
    expect(await result({ bt_signature: `other|${'0'.repeat(40)}` })).to.equal('signature_mismatch');
    expect(await result({ bt_signature: 'x|y&'.repeat(10_000) })).to.equal('signature_mismatch');
  });

  it('rejects a signed form inside JSON or a multipart body', async () => {
    const form = formOf(genuine);
    const json = `{"x":"&${form}&","bt_payload":["Zm9yZ2Vk"]}`;
    expect(JSON.parse(json).bt_payload).to.deep.equal(['Zm9yZ2Vk']);
    const part = '--b\r\nContent-Disposition: form-data; name="bt_payload"\r\n\r\nZm9yZ2Vk\r\n--b--\r\n';
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', json],
      ['application/json', json],
      ['', json],
      ['multipart/form-data; boundary=b', `${part}&${form}`],
      ['Multipart/Form-Data; boundary=b', `${part}&${form}`],
    ] as const) {
      const headers = type === '' ? {} : { 'content-type': type };
      expect(await resultOf(verifier, { headers, body }), type).to.equal('body_malformed');
    }
  });

  it('rejects secrets that are not a key pair', () => {
    for (const secret of ['', 'public', ':private', 'public:', 'a|b:private', 'a&b:private', 'a b']) {
      expect(() => braintreeVerifier([secret]), secret).to.throw('public_key:private_key');
    }
  });

  it('rejects every notification with a changed character', async () => {
    const names = constantFrom('bt_payload' as const, 'bt_signature' as const);
    const changed = asyncProperty(names, nat(5_000), integer({ min: 33, max: 126 }), async (name, at, code) => {
      const text = genuine[name].trim();
      const index = at % text.length;
      const mutant = text.slice(0, index) + String.fromCharCode(code) + text.slice(index + 1);
      return mutant.toLowerCase() === text.toLowerCase() || (await result({ [name]: mutant })) !== 'verified';
    });
    await assert(changed, { numRuns: 500 });
  });
});
