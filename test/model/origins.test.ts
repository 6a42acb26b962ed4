import { expect } from 'chai';
import { isAllowedOrigin, originPatternSchema, proposedPattern } from '../../src/origin-patterns.ts';

const read = (text: string) => originPatternSchema.safeParse(text).data;

describe('Origins of apps', () => {
  it('are written as origins, or as patterns with one * in a label before the domain', () => {
    for (const [given, expected] of [
      ['https://Shop.example.com/', 'https://shop.example.com'],
      ['https://shop.example.com:443', 'https://shop.example.com'],
      ['http://10.0.0.7:3000', 'http://10.0.0.7:3000'],
      ['http://[::1]:3000', 'http://[::1]:3000'],
      ['http://shop', 'http://shop'],
      ['https://shop-*-acme.example.app', 'https://shop-*-acme.example.app'],
      ['https://*.shop.example.app:443', 'https://*.shop.example.app'],
      ['https://a*.b*.shop.example.app:8443', 'https://a*.b*.shop.example.app:8443'],
    ] as const) {
      expect(read(given), given).to.equal(expected);
    }
  });

  it("are rejected if a * would match somebody else's domain, or if they are more than an origin", () => {
    for (const given of [
      ...['*', 'https://*', 'https://*.app', 'https://*.example.app:x', 'https://shop.*.app', 'https://shop.example.*'],
      ...['https://a**.shop.example.app', 'https://a*b*.shop.example.app', 'https://shop-*.x.example.app/api'],
      ...[
        'https://shop.example.com/api',
        'https://u@shop.example.com',
        'https://shop.example.com?x',
        'shop.example.com',
      ],
      ...[
        'ftp://shop.example.com',
        'https://',
        '',
        `https://${'a.'.repeat(200)}example.com`,
        'https://a..*.x.example.app',
      ],
      ...['https://10.0.*.7', 'https://[::*]:1', 'https://user:*@shop.example.app'],
    ]) {
      expect(read(given), given).to.equal(undefined);
    }
  });

  it('match within a label, with the scheme and the port', () => {
    const patterns = ['https://shop.example.com', 'https://shop-*-acme.example.app', 'http://*.shop.example.org:81'];
    const allowed = (origin: string) => isAllowedOrigin(origin, patterns);
    for (const origin of [
      'https://shop.example.com',
      'https://shop-1a2b-acme.example.app',
      'https://shop-git-main-acme.example.app',
      'http://pr-7.shop.example.org:81',
    ]) {
      expect(allowed(origin), origin).to.equal(true);
    }
    for (const origin of [
      ...['http://shop.example.com', 'https://shop.example.com:8443', 'https://shop.example.com.evil.test'],
      ...[
        'https://shop-acme.example.app',
        'https://shop-1.evil-acme.example.app',
        'https://shop-1-acme.example.app.evil',
      ],
      ...[
        'https://evil/shop-1-acme.example.app',
        'https://shop-1-acme.example.app:444',
        'http://pr-7.shop.example.org',
      ],
      ...['http://a.b.shop.example.org:81', 'wss://connect'],
    ]) {
      expect(allowed(origin), origin).to.equal(false);
    }
  });

  it('get a proposed pattern if only the middle of a label changes', () => {
    const propose = proposedPattern;
    expect(propose('https://shop-1a2b-acme.example.app', 'https://shop-9z8y-acme.example.app')).to.equal(
      'https://shop-*-acme.example.app',
    );
    for (const [known, origin] of [
      ['https://shop-1.example.app', 'https://shop-2.example.app'],
      ['https://a-x-acme.example.app', 'https://b-x-acme.example.app'],
      ['https://shop-1-acme.example.app', 'http://shop-2-acme.example.app'],
      ['https://shop-1-acme.example.app', 'https://shop-2-acme.evil.app'],
      ['https://shop-1-acme.app', 'https://shop-2-acme.app'],
      ['https://shop.example.com', 'https://evil.example.net'],
      ['wss://connect', 'https://shop-1-acme.example.app'],
    ] as const) {
      expect(propose(known, origin), origin).to.equal(undefined);
    }
  });
});
