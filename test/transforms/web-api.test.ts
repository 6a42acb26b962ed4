import { createHash, createHmac } from 'node:crypto';
import { expect } from 'chai';
import { fieldsOf, REQUEST, returning, shared } from './support.ts';

/** Inside the isolate and here alike. */
const TEXTS = ['', 'abc', 'é€😀', '\ud800 alone', 'x'.repeat(131_071) + '😀'.repeat(3), 'é'.repeat(300_000)];
const BYTES = [0, 1, 127, 128, 255, 254, 61];

describe('The web API of a transform', () => {
  const transforms = shared();

  async function resultOf(expression: string, body: unknown = {}): Promise<unknown> {
    const code = `return { value: ${expression} }`;
    return fieldsOf(await transforms.run(returning(code), { ...REQUEST, body })).value;
  }

  describe('crypto', () => {
    for (const algorithm of ['md5', 'sha1', 'sha256', 'sha384', 'sha512']) {
      it(`hashes and signs text and bytes of any length with ${algorithm} like Node.js`, async () => {
        const made = (await resultOf(
          `evt.texts.map((text) => [crypto.createHash('${algorithm}').update(text).digest('hex'),
             crypto.createHmac('${algorithm}', text.slice(0, 9)).update(text).update(text).digest('base64')])`,
          { texts: TEXTS },
        )) as [string, string][];
        for (const [i, text] of TEXTS.entries()) {
          const hash = createHash(algorithm).update(text).digest('hex');
          const hmac = createHmac(algorithm, text.slice(0, 9)).update(text).update(text).digest('base64');
          expect(made[i], `text ${i}`).to.deep.equal([hash, hmac]);
        }
        expect(
          await resultOf(
            `crypto.createHmac('${algorithm}', new Uint8Array(evt)).update('é').update(new Uint8Array(evt)).update('€').digest('base64url')`,
            BYTES,
          ),
        ).to.equal(
          createHmac(algorithm, Buffer.from(BYTES))
            .update('é')
            .update(Buffer.from(BYTES))
            .update('€')
            .digest('base64url'),
        );
      });
    }

    it('gives a Uint8Array when digest is called without an encoding', async () => {
      const value = await resultOf(`(() => { const made = crypto.createHash('sha1').update('a').digest();
        return [made instanceof Uint8Array, made.toHex()] })()`);
      expect(value).to.deep.equal([true, createHash('sha1').update('a').digest('hex')]);
    });

    it('compares text and bytes in constant time, and different lengths differ', async () => {
      const pairs = '[["ab", "ab"], ["ab", "ac"], ["ab", "abc"], ["é", new Uint8Array([195, 169])], ["", ""]]';
      expect(await resultOf(`${pairs}.map(([a, b]) => crypto.timingSafeEqual(a, b))`)).to.deep.equal([
        true,
        false,
        false,
        true,
        true,
      ]);
    });

    it('makes random UUIDs', async () => {
      const [one, other] = (await resultOf('[crypto.randomUUID(), crypto.randomUUID()]')) as string[];
      expect(one).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(one).not.to.equal(other);
    });

    it('describes invalid arguments', async () => {
      for (const [way, message] of [
        ["crypto.createHash('sha3')", 'algorithm: expected one of md5, sha1, sha256, sha384, sha512'],
        ["crypto.createHmac('md5')", 'key: expected a string or a Uint8Array'],
        ["crypto.createHash('md5').update({})", 'data: expected a string or a Uint8Array'],
        ["crypto.createHash('md5').update('00', 'hex')", 'encoding: expected utf8'],
        ["crypto.createHash('md5').digest('utf8')", 'encoding: expected one of hex, base64, base64url'],
        [
          "(() => { const hash = crypto.createHash('md5'); hash.digest(); hash.digest() })()",
          'digest was called already',
        ],
      ]) {
        expect(await resultOf(`(() => { try { ${way} } catch (error) { return error.message } })()`), way).to.include(
          message,
        );
      }
    });
  });

  describe('base64 and hex', () => {
    it('atob and btoa work as in Node.js', async () => {
      const texts = ['', 'a', 'ab', 'abc', '\xff\x00é', 'x'.repeat(20_000)];
      expect(await resultOf('evt.map((text) => [btoa(text), atob(btoa(text))])', texts)).to.deep.equal(
        texts.map((text) => [btoa(text), text]),
      );
      const odd = ['YQ', ' Y Q = = ', 'YWI=', 'YQ=', 'Y', '=', 'YQ==YQ==', 'Y-_=', '€', 'YQ==='];
      const own = odd.map((text) => {
        try {
          return atob(text);
        } catch (error) {
          return (error as Error).name;
        }
      });
      expect(
        await resultOf('evt.map((text) => { try { return atob(text) } catch (error) { return error.name } })', odd),
      ).to.deep.equal(own);
      expect(await resultOf(`(() => { try { btoa('€') } catch (error) { return error.name } })()`)).to.equal(
        'InvalidCharacterError',
      );
    });

    it('Uint8Array has toBase64, fromBase64, toHex and fromHex', async () => {
      const value = await resultOf(
        `(() => { const bytes = new Uint8Array(evt); const url = bytes.toBase64({ alphabet: 'base64url', omitPadding: true });
           return [bytes.toBase64(), url, bytes.toHex(), [...Uint8Array.fromBase64(bytes.toBase64())],
             [...Uint8Array.fromBase64(url, { alphabet: 'base64url' })], [...Uint8Array.fromHex(bytes.toHex().toUpperCase())]] })()`,
        BYTES,
      );
      const buffer = Buffer.from(BYTES);
      expect(value).to.deep.equal([
        buffer.toString('base64'),
        buffer.toString('base64url'),
        buffer.toString('hex'),
        BYTES,
        BYTES,
        BYTES,
      ]);
    });
  });

  describe('text', () => {
    it('TextEncoder and TextDecoder work as in Node.js, even with invalid UTF-8', async () => {
      const encoded = (await resultOf(
        'evt.map((text) => [...new TextEncoder().encode(text)])',
        TEXTS.slice(0, 4),
      )) as number[][];
      expect(encoded).to.deep.equal(TEXTS.slice(0, 4).map((text) => [...new TextEncoder().encode(text)]));
      const odd = [
        [0x80],
        [0xc0, 0x80],
        [0xc3],
        [0xe2, 0x82],
        [0xe2, 0x82, 0x41],
        [0xed, 0xa0, 0x80],
        [0xf0, 0x9f, 0x98, 0x80],
        [0xf4, 0x90, 0x80, 0x80],
        [0xf0, 0x80, 0x80, 0x80],
        [0xff, 0x41],
        [0xef, 0xbb, 0xbf, 0x41],
        [0xf1, 0x80, 0x80, 0xe2],
        [0xe0, 0x9f, 0x80],
      ];
      for (let n = 0; n < 200; n++)
        odd.push(Array.from({ length: 12 }, (_, i) => (n * 7919 + i * i * 104_729 + n * i * 31) % 256));
      const decode = (bytes: number[]) => new TextDecoder().decode(Uint8Array.from(bytes));
      expect(await resultOf('evt.map((bytes) => new TextDecoder().decode(new Uint8Array(bytes)))', odd)).to.deep.equal(
        odd.map(decode),
      );
      expect(
        await resultOf(
          `(() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (error) { return error.name } })()`,
        ),
      ).to.equal('TypeError');
    });
  });

  describe('URL', () => {
    const PARTS = [
      'href',
      'origin',
      'protocol',
      'username',
      'password',
      'host',
      'hostname',
      'port',
      'pathname',
      'search',
      'hash',
    ];
    const partsOf = (url: URL) => PARTS.map((part) => url[part as 'href']);

    it('parses like Node.js, with and without a base', async () => {
      const given = [
        ['https://u:p@Bücher.example:8443/a/../b?x=1#y'],
        ['/c?d', 'https://e.com/a/b'],
        ['//f.com', 'http://g'],
        ['mailto:a@b'],
        ['HTTP://EX.com:80'],
        ['nope'],
        ['/c', 'nope'],
        ['http://[::1]:3/'],
        ['data:,x'],
      ];
      const value = await resultOf(
        `evt.given.map(([url, base]) => { const made = URL.parse(url, base); return made && evt.parts.map((part) => made[part]) })`,
        { given, parts: PARTS },
      );
      const own = given.map(([url = '', base]) => {
        const made = URL.parse(url, base);
        return made && partsOf(made);
      });
      expect(value).to.deep.equal(own);
    });

    it('changes like in Node.js, together with its searchParams', async () => {
      const changes = [
        ['protocol', 'http'],
        ['hostname', 'ü.de'],
        ['port', '81'],
        ['port', 'x'],
        ['pathname', 'a b'],
        ['search', 'q=ä&r'],
        ['hash', '#z'],
        ['host', ''],
        ['username', 'me:'],
        ['search', ''],
      ] as const;
      const value = await resultOf(
        `(() => { const url = new URL('https://a.com/b?c=d'); const params = url.searchParams; const seen = [];
           for (const [part, to] of evt) { url[part] = to; seen.push(url.href, params.toString()) }
           params.append('n m', 'ö&='); params.append('k', '1'); params.delete('k'); params.set('s', "'!()~*-._"); params.sort();
           return [...seen, url.href, String(url), JSON.stringify(url), url.searchParams === params] })()`,
        changes,
      );
      const url = new URL('https://a.com/b?c=d');
      const seen: unknown[] = [];
      for (const [part, to] of changes) {
        url[part] = to;
        seen.push(url.href, url.searchParams.toString());
      }
      url.searchParams.append('n m', 'ö&=');
      url.searchParams.set('s', "'!()~*-._");
      url.searchParams.sort();
      expect(value).to.deep.equal([...seen, url.href, String(url), JSON.stringify(url), true]);
    });

    it('URLSearchParams works as in Node.js', async () => {
      const queries = ['?a=1&b=2&a=3', 'a=%C3%A9+%zz%4&=x&&y', 'a=%ff%41&b=%F0%9F%98%80', 'n'];
      const value = await resultOf(
        `evt.map((query) => { const params = new URLSearchParams(query);
           return [[...params], String(params), params.get('a'), params.getAll('a'), params.has('b', '2'), params.size, [...params.keys()], [...params.values()]] })`,
        queries,
      );
      expect(value).to.deep.equal(
        queries.map((query) => {
          const params = new URLSearchParams(query);
          return [
            [...params],
            String(params),
            params.get('a'),
            params.getAll('a'),
            params.has('b', '2'),
            params.size,
            [...params.keys()],
            [...params.values()],
          ];
        }),
      );
      expect(
        await resultOf(
          `[new URLSearchParams({ a: 1, b: 'ü' }) + '', new URLSearchParams([['x', 'y']]) + '', new URLSearchParams(new URLSearchParams('k=v')) + '']`,
        ),
      ).to.deep.equal(['a=1&b=%C3%BC', 'x=y', 'k=v']);
    });

    it('rejects a URL that is too long', async () => {
      const refused = (url: string) =>
        resultOf(`(() => { try { return new URL(${url}).href.length } catch (error) { return error.message } })()`);
      expect(await refused(`'https://a.b/' + 'x'.repeat(16000)`)).to.equal(16_012);
      expect(await refused(`'https://a.b/' + 'x'.repeat(16384)`)).to.include('at most 16384 characters');
      expect(await refused(`'https://' + 'é'.repeat(2048)`)).to.include('at most 2048 characters');
    });
  });

  describe('structuredClone', () => {
    it('copies values, maps, sets, dates, bytes, errors and cycles', async () => {
      const value = await resultOf(
        `(() => { const bytes = new Uint16Array([1, 2]);
           const given = { a: [1, , 'x'], at: new Date(7), map: new Map([[{ k: 1 }, new Set([1])]]), bytes, view: new DataView(bytes.buffer, 2), re: /a/gi,
             none: undefined, big: 1n, error: new RangeError('no'), number: Object(3), yes: Object(true), text: Object('t') };
           given.self = given; given.map.set('self', given.map);
           const copy = structuredClone(given);
           bytes[0] = 9;
           return [copy !== given && copy.self === copy, copy.map.get('self') === copy.map, 1 in copy.a, copy.a.length, copy.at.getTime(), [...copy.map][0][0].k,
             [...copy.bytes], copy.view.byteLength, String(copy.re), 'none' in copy, typeof copy.big, copy.error instanceof RangeError && copy.error.message,
             typeof copy.number, copy.number + 1, copy.yes.valueOf(), copy.text + ''] })()`,
      );
      expect(value).to.deep.equal([
        true,
        true,
        false,
        3,
        7,
        1,
        [1, 2],
        2,
        '/a/gi',
        true,
        'bigint',
        'no',
        'object',
        4,
        true,
        't',
      ]);
    });

    it('rejects functions, symbols, promises and weak maps with a DataCloneError', async () => {
      for (const given of ['() => 1', 'Symbol()', '[{ f() {} }]', 'Promise.resolve()', 'new WeakMap()']) {
        expect(
          await resultOf(`(() => { try { structuredClone(${given}) } catch (error) { return error.name } })()`),
          given,
        ).to.equal('DataCloneError');
      }
    });
  });

  it('has only what the code declares', async () => {
    const names = '["cry" + "pto", "UR" + "L", "ato" + "b", "structured" + "Clone", "Text" + "Encoder"]';
    expect(await resultOf(`${names}.filter((name) => name in globalThis)`)).to.deep.equal([]);
  });

  it('has no access to the network, files or other processes', async () => {
    const names = '["subtle", "webcrypto", "createSign", "randomFillSync", "getFips", "constants"]';
    expect(
      await resultOf(`${names}.filter((name) => name in crypto).concat(typeof URL.createObjectURL)`),
    ).to.deep.equal(['undefined']);
  });
});
