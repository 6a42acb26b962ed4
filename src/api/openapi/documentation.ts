/** Documentation of the API, built on first use: it takes 100 ms of CPU time, and few processes need it. */
import { loadOnce } from '../../model/values/load-once.ts';
import type { Route } from '../rest/route.ts';
import type { openApi } from './document.ts';

type Document = ReturnType<typeof openApi>;

export class Documentation {
  readonly #document: () => Promise<Document>;
  readonly #page = loadOnce(async () => {
    const { DOCS_STYLE: style, docsPage } = await import('./page.ts');
    return { html: docsPage(await this.document('/')), style };
  });

  constructor(routes: readonly Route[]) {
    this.#document = loadOnce(async () => (await import('./document.ts')).openApi(routes));
  }

  /** @param url URL of the service, as its clients reach it */
  async document(url: string): Promise<Document> {
    const { openapi, info, ...rest } = await this.#document();
    return { openapi, info, servers: [{ url }], ...rest };
  }

  page() {
    return this.#page();
  }
}
