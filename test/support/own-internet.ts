/** Preloaded (--import) into a web process of a test: what the service would fetch, and the authorities that it trusts, are files in the directory
 *  OWN_INTERNET. So providers that sign with certificates can be tested without the network and without a setting that production could use. */
import { registerHooks } from 'node:module';

const FETCHER = new URL('own-document-fetcher.ts', import.meta.url).href;
const ROOTS = `import { readFileSync } from 'node:fs';
export const rootCertificates = [readFileSync(process.env.OWN_INTERNET + '/root.pem', 'utf8')];`;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.endsWith('/functions/document-fetcher.ts')) return next(FETCHER, context);
    if (specifier === 'node:tls' && context.parentURL?.endsWith('/verification/certificate-chain.ts')) {
      return { url: `data:text/javascript,${encodeURIComponent(ROOTS)}`, shortCircuit: true };
    }
    return next(specifier, context);
  },
});
