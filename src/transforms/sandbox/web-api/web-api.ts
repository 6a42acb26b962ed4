/** The web API of transforms: which parts of it a transform uses, and their source text. An isolate gets only the parts that its code names, so
 *  that all others are created as fast as without it. */
import { base64Code } from './base64.ts';
import { cloneCode } from './clone.ts';
import { cryptoCode } from './crypto.ts';
import { kitCode } from './kit.ts';
import { searchParamsCode } from './search-params.ts';
import { textCode } from './text.ts';
import { urlCode } from './url.ts';

const PARTS = {
  crypto: { names: /\bcrypto\b/, source: `(${cryptoCode})(kit)` },
  base64: { names: /\b(?:atob|btoa|(?:to|from)(?:Base64|Hex)|DOMException)\b/, source: `(${base64Code})(kit)` },
  text: { names: /\bText(?:En|De)coder\b/, source: `(${textCode})(kit)` },
  url: { names: /\bURL(?:SearchParams)?\b/, source: `(${urlCode})(kit, (${searchParamsCode})(kit))` },
  clone: { names: /\bstructuredClone\b/, source: `(${cloneCode})(kit)` },
};

/** An expression that is a function `(hostCall) => object[]`: it adds the parts to the global object, and returns
 *  objects that code can reach only through them. Strict, so that no function of it shows its caller or its arguments.
 *  'null': the code names none. */
export function webApiSource(code: string): string {
  const sources = Object.values(PARTS).flatMap(({ names, source }) => (names.test(code) ? [source] : []));
  if (sources.length === 0) return 'null';
  return `(host) => { 'use strict'; const kit = (${kitCode})(host); return [${sources.map((source) => `...${source}`)}]; }`;
}
