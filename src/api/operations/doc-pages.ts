/** Serves the docs of the running version: `/llms.txt`, the index for programs, and `/docs/<page>.md`. They need no authentication and reveal
 *  nothing about the installation but its public URL. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../errors.ts';
import { describe } from '../../model/values/json.ts';
import type { Context, Router } from '../http/router.ts';

const FOLDER = join(import.meta.dirname, '../../../docs');
const PAGE = /^[a-z-]+\.md$/;
const INDEX = 'llms.txt';
/** The address in examples. */
const EXAMPLE_URL = 'http://127.0.0.1:8288';
const REPOSITORY = 'https://github.com/tidegate/tidegate/blob/main';
/** Links to files that a service does not have. */
const OUTSIDE = /\]\(\.\.\//g;
const DECISIONS = /\]\(decisions\//g;
const CACHE = 'public, max-age=300';

export function docPageRoutes(router: Router, publicUrl: string | undefined): void {
  /** The pages are read with the first request: 1 MB of text. */
  let pages: ReadonlyMap<string, string> | undefined;
  const send = (ctx: Context, name: string, type: string) => {
    pages ??= readPages(publicUrl);
    const text = pages.get(name);
    if (text === undefined) {
      throw new ServiceError('not_found', { detail: `there is no page ${describe(name)}; /llms.txt lists the pages` });
    }
    ctx.set({ 'content-type': `${type}; charset=utf-8`, 'cache-control': CACHE });
    ctx.body = text;
  };
  router.get(`/${INDEX}`, (ctx) => send(ctx, INDEX, 'text/plain'));
  router.get('/docs/:page', (ctx) => send(ctx, ctx.params.page, 'text/markdown'));
}

function readPages(publicUrl = EXAMPLE_URL): ReadonlyMap<string, string> {
  const names = readdirSync(FOLDER).filter((name) => name === INDEX || PAGE.test(name));
  return new Map(
    names.map((name) => {
      const text = readFileSync(join(FOLDER, name), 'utf8');
      const linked = text.replace(OUTSIDE, `](${REPOSITORY}/`).replace(DECISIONS, `](${REPOSITORY}/docs/decisions/`);
      return [name, linked.replaceAll(EXAMPLE_URL, publicUrl)];
    }),
  );
}
