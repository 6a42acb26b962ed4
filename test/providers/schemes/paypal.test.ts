import { generateKeyPairSync, type KeyObject, sign, type X509Certificate } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { assert, asyncProperty, integer, nat } from 'fast-check';
import { rootsOf } from '../../../src/providers/verification/certificate-chain.ts';
import { paypalVerifier } from '../../../src/providers/verification/schemes/paypal.ts';
import type { VerifyOptions } from '../../../src/providers/verification/verification.ts';
import { createVerifier } from '../../../src/providers/verification/verifier.ts';
import { type CertificateOptions, makeCertificate } from '../../support/certificates.ts';
import { documentsFrom, type GivenRequest, resultOf, verifyRequest } from '../../support/provider-requests.ts';

const URL = 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270';
const HOST = 'messageverificationcerts.paypal.com';
const SETTINGS = { webhook_id: '8PT597110X687430L' };
const BODY = '{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED","summary":"Zoë"}';

const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2_048 });

describe('The verification scheme paypal', () => {
  const keys = { root: rsa(), middle: rsa(), leaf: rsa(), stranger: rsa() };
  const made = (subject: keyof typeof keys, issuer: keyof typeof keys, more: Partial<CertificateOptions> = {}) =>
    makeCertificate({
      subject,
      issuer,
      publicKey: keys[subject].publicKey,
      issuerKey: keys[issuer].privateKey,
      isAuthority: subject !== 'leaf',
      ...(subject === 'leaf' && { hosts: [HOST], usage: 'serverAuth' as const }),
      ...more,
    });
  const root = made('root', 'root');
  const middle = made('middle', 'root');
  const leaf = made('leaf', 'middle');
  const roots = rootsOf([made('stranger', 'stranger'), root]);
  const pemOf = (...chain: X509Certificate[]) => chain.map(String).join('\n');

  function signed(key: KeyObject = keys.leaf.privateKey, changes: Record<string, string> = {}, body = BODY) {
    const headers: Record<string, string> = {
      'paypal-auth-algo': 'SHA256withRSA',
      'paypal-cert-url': URL,
      'paypal-transmission-id': '3a8e1f20-f12b-11f0-9c4d-8b2a6d1e7f53',
      'paypal-transmission-time': new Date().toISOString(),
      ...changes,
    };
    const content = `${headers['paypal-transmission-id']}|${headers['paypal-transmission-time']}|${SETTINGS.webhook_id}|${crc32(body)}`;
    headers['paypal-transmission-sig'] ??= sign('sha256', Buffer.from(content), key).toString('base64');
    return { headers, body };
  }
  const result = (request: GivenRequest, text = pemOf(leaf, middle), options: Partial<VerifyOptions> = {}) =>
    resultOf(paypalVerifier(SETTINGS, roots), request, {
      fetchDocument: documentsFrom({ [URL]: text }).fetchDocument,
      ...options,
    });

  it('verifies a transmission whose certificate leads to a trusted root, in any order of the chain', async () => {
    expect(await result(signed())).to.equal('verified');
    expect(await result(signed(), pemOf(leaf, root, middle))).to.equal('verified');
    expect(await result(signed(), pemOf(made('leaf', 'root')))).to.equal('verified');
    expect(await result(signed(undefined, {}, 'x'.repeat(500_000)))).to.equal('verified');
  });

  it('trusts only the public roots outside of tests', async () => {
    const verifier = createVerifier({ scheme: 'paypal' }, [], SETTINGS);
    const { fetchDocument } = documentsFrom({ [URL]: pemOf(leaf, middle, root) });
    expect(await resultOf(verifier, signed(), { fetchDocument })).to.equal('certificate_untrusted');
  });

  it('does not trust a chain that is broken, expired or weak, or has another host or purpose', async () => {
    const past = { until: new Date(Date.now() - 1_000) };
    const short = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const untrusted: [string, string][] = [
      ['it is not a certificate', 'no certificate'],
      ['does not lead to a trusted root', pemOf(leaf)],
      ['does not lead to a trusted root', pemOf(made('leaf', 'leaf'))],
      // By a stranger who calls himself like the root.
      ['does not lead to a trusted root', pemOf(made('leaf', 'root', { issuerKey: keys.stranger.privateKey }))],
      ['does not lead to a trusted root', pemOf(leaf, made('middle', 'root', { isAuthority: false }))],
      ['does not lead to a trusted root', pemOf(leaf, leaf, leaf, leaf, leaf, leaf, middle)],
      ['one of an authority', pemOf(made('leaf', 'root', { isAuthority: true }))],
      [
        'of another host',
        pemOf(made('leaf', 'middle', { hosts: ['paypal.com.example.com', 'evilpaypal.com'] }), middle),
      ],
      ['not one of a server', pemOf(made('leaf', 'middle', { usage: 'clientAuth' }), middle)],
      ['not valid at this time', pemOf(made('leaf', 'middle', past), middle)],
      ['not valid at this time', pemOf(made('leaf', 'middle', { from: new Date(Date.now() + 60_000) }), middle)],
      ['not valid at this time', pemOf(leaf, made('middle', 'root', past))],
      ['weak signature', pemOf(made('leaf', 'middle', { hash: 'sha1' }), middle)],
      ['weak key', pemOf(made('leaf', 'middle', { publicKey: short.publicKey }), middle)],
    ];
    for (const [message, text] of untrusted) {
      const { fetchDocument } = documentsFrom({ [URL]: text });
      const verifier = paypalVerifier(SETTINGS, roots);
      const failure = await verifyRequest(verifier, signed(), { fetchDocument });
      expect(failure).to.include({ result: 'failed', reason: 'certificate_untrusted' });
      expect('message' in failure && failure.message).to.include(message);
    }
  });

  it('fetches only certificates of PayPal, and only when everything else is valid', async () => {
    const { fetchDocument, asked } = documentsFrom({});
    const refused = [
      '',
      'https://example.com/v1/notifications/certs/CERT-1',
      'http://api.paypal.com/v1/notifications/certs/CERT-1',
      'https://api.paypal.com.example.com/v1/notifications/certs/CERT-1',
      'https://api.paypal.com@example.com/v1/notifications/certs/CERT-1',
      'https://evilpaypal.com/v1/notifications/certs/CERT-1',
      'https://api.paypal.com:444/v1/notifications/certs/CERT-1',
      'https://api.paypal.com/v1/notifications/certs/../../oauth2/token',
      'https://api.paypal.com/v1/notifications/certs/CERT-1?x',
      'https://www.paypal.com/redirect',
    ];
    for (const url of refused) {
      const request = signed(undefined, { 'paypal-cert-url': url });
      expect(await result(request, '', { fetchDocument }), url).to.equal('certificate_untrusted');
    }
    const old = signed(undefined, { 'paypal-transmission-time': new Date(Date.now() - 5 * 86_400_000).toISOString() });
    expect(await result(old, '', { fetchDocument })).to.equal('timestamp_too_old');
    expect(asked).to.deep.equal([]);
    expect(await result(signed(), '', { fetchDocument })).to.equal('certificate_unavailable');
    expect(asked).to.deep.equal([URL]);
  });

  it('says what is missing or malformed', async () => {
    expect(await resultOf(paypalVerifier({}, roots), signed())).to.equal('secret_missing');
    expect(await result({ body: BODY })).to.equal('signature_missing');
    const malformed = (changes: Record<string, string>) => result(signed(undefined, changes));
    expect(await malformed({ 'paypal-transmission-sig': 'AAAA' })).to.equal('signature_malformed');
    expect(await malformed({ 'paypal-transmission-sig': 'é'.repeat(400) })).to.equal('signature_malformed');
    expect(await malformed({ 'paypal-auth-algo': 'SHA1withRSA' })).to.equal('signature_malformed');
    expect(await malformed({ 'paypal-transmission-id': 'a|b' })).to.equal('signature_malformed');
    expect(await malformed({ 'paypal-transmission-time': '' })).to.equal('timestamp_malformed');
    expect(await malformed({ 'paypal-transmission-time': '2026-01-14|x' })).to.equal('timestamp_malformed');
  });

  it('rejects signatures of other keys, and transmissions to other webhooks', async () => {
    expect(await result(signed(keys.middle.privateKey))).to.equal('signature_mismatch');
    const other = paypalVerifier({ webhook_id: '1AB23456CD789012E' }, roots);
    const { fetchDocument } = documentsFrom({ [URL]: pemOf(leaf, middle) });
    expect(await resultOf(other, signed(), { fetchDocument })).to.equal('signature_mismatch');
  });

  it('rejects every transmission with a changed byte of body, signature, ID or time', async () => {
    const genuine = signed();
    const { fetchDocument } = documentsFrom({ [URL]: pemOf(leaf, middle) });
    const names = ['paypal-transmission-sig', 'paypal-transmission-id', 'paypal-transmission-time'];
    const verifier = paypalVerifier(SETTINGS, roots);
    const changed = asyncProperty(nat(3), nat(10_000), integer({ min: 1, max: 127 }), async (part, at, change) => {
      const headers = { ...genuine.headers };
      const name = names[part];
      const text = Buffer.from(name === undefined ? BODY : (headers[name] as string));
      text[at % text.length] = (text[at % text.length] as number) ^ change;
      if (name !== undefined) headers[name] = text.toString();
      const request = { headers, body: name === undefined ? text : BODY };
      return (await resultOf(verifier, request, { fetchDocument })) !== 'verified';
    });
    await assert(changed, { numRuns: 300 });
  });
});
