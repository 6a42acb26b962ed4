import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { NonRetriableError, verifyWebhook, WebhookVerificationError } from 'tidegate';

const RAW = '{"id":"evt_1","café":"ü"}';
const SECRET = 'a secret';
const AT_MS = 1_700_000_000_000;
const AT = String(AT_MS / 1_000);

const hmac = (text: string, encoding: 'hex' | 'base64' = 'hex', key: string | Buffer = SECRET) =>
  createHmac('sha256', key).update(text).digest(encoding);

function refused(verify: () => void): string {
  try {
    verify();
  } catch (error) {
    expect(error).to.be.instanceOf(WebhookVerificationError).and.instanceOf(NonRetriableError);
    return (error as Error).message;
  }
  throw new Error('It was expected to be refused');
}

describe('verifyWebhook', () => {
  it('accepts an HMAC in hex or base64, with or without prefix', () => {
    verifyWebhook.hmac({ raw: RAW, sig: hmac(RAW) }, SECRET);
    verifyWebhook.hmac({ raw: RAW, sig: hmac(RAW).toUpperCase() }, SECRET);
    verifyWebhook.hmac({ raw: RAW, sig: hmac(RAW, 'base64') }, SECRET, { encoding: 'base64' });
    verifyWebhook.hmac({ raw: RAW, sig: `v0=${hmac(RAW)}` }, SECRET, { prefix: 'v0=' });
    const sha1 = createHmac('sha1', SECRET).update(RAW).digest('hex');
    verifyWebhook.hmac({ raw: RAW, sig: sha1 }, SECRET, { algorithm: 'sha1' });
  });

  it('rejects a changed, truncated, wrongly signed or unsigned webhook', () => {
    expect(refused(() => verifyWebhook.hmac({ raw: `${RAW} `, sig: hmac(RAW) }, SECRET))).to.include('is wrong');
    expect(refused(() => verifyWebhook.hmac({ raw: RAW, sig: hmac(RAW).slice(0, -2) }, SECRET))).to.include('is wrong');
    expect(refused(() => verifyWebhook.hmac({ raw: RAW, sig: hmac(RAW) }, 'another'))).to.include('is wrong');
    expect(refused(() => verifyWebhook.hmac({ raw: RAW, sig: '' }, SECRET))).to.include('there is no sig');
    expect(refused(() => verifyWebhook.hmac({ raw: RAW, sig: hmac(RAW, 'hex', '') }, ''))).to.include('no secret');
    expect(refused(() => verifyWebhook.github({ raw: RAW, sig: hmac(RAW) }, SECRET))).to.include('sha256=');
    // biome-ignore lint/suspicious/noExplicitAny: fields of a webhook can be missing
    expect(refused(() => verifyWebhook.github({} as any, SECRET))).to.include('there is no raw');
  });

  it("accepts GitHub's own example", () => {
    const sig = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    verifyWebhook.github({ raw: 'Hello, World!', sig }, "It's a Secret to Everybody");
  });

  it('accepts any v1 signature of Stripe', () => {
    const good = hmac(`${AT}.${RAW}`);
    const now = { receivedAtMs: AT_MS };
    verifyWebhook.stripe({ raw: RAW, sig: `t=${AT},v1=${good},v0=00` }, SECRET, now);
    verifyWebhook.stripe({ raw: RAW, sig: `t=${AT},v1=${'00'.repeat(32)},v1=${good}` }, SECRET, now);
    expect(refused(() => verifyWebhook.stripe({ raw: RAW, sig: `t=${AT},v0=${good}` }, SECRET, now))).to.include(
      'wrong',
    );
    expect(refused(() => verifyWebhook.stripe({ raw: RAW, sig: 'hello' }, SECRET, now))).to.include('wrong');
    expect(refused(() => verifyWebhook.stripe({ raw: RAW, sig: `t=1,v1=${good}` }, SECRET, now))).to.include('wrong');
  });

  it('accepts the example of the Standard Webhooks specification', () => {
    const webhook = {
      raw: '{"test": 2432232314}',
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: '1614265330',
      sig: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const at = { receivedAtMs: 1_614_265_330_000 };
    verifyWebhook.standard(webhook, secret, at);
    verifyWebhook.standard({ ...webhook, sig: `v1a,AAAA v1,AAAA ${webhook.sig}` }, secret, at);
    expect(refused(() => verifyWebhook.standard({ ...webhook, id: 'other' }, secret, at))).to.include('wrong');
    expect(refused(() => verifyWebhook.standard(webhook, 'whsec_', at))).to.include('whsec_');
    expect(refused(() => verifyWebhook.standard(webhook, secret))).to.include('before it arrived');
  });

  it('rejects a signature more than five minutes before or after its receipt', () => {
    const webhook = { raw: RAW, sig: `t=${AT},v1=${hmac(`${AT}.${RAW}`)}` };
    for (const off of [-300_000, 300_000]) {
      verifyWebhook.stripe(webhook, SECRET, { receivedAtMs: AT_MS + off });
      const late = { receivedAtMs: AT_MS + off * 1.01 };
      expect(refused(() => verifyWebhook.stripe(webhook, SECRET, late))).to.include('303 seconds');
      verifyWebhook.stripe(webhook, SECRET, { ...late, toleranceSeconds: 600 });
    }
  });
});
