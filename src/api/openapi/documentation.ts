/** Documentation of the API, built on first use: it takes 100 ms of CPU time, and few processes need it. */
import type { Route } from '../rest/route.ts';
import type { openApi } from './document.ts';

type Document = ReturnType<typeof openApi>;

export class Documentation {
  readonly #routes: readonly Route[];
  #document: Promise<Document> | undefined;
  #html: Promise<string> | undefined;

  constructor(routes: readonly Route[]) {
    this.#routes = routes;
  }

  /** @param url URL of the service, as its clients reach it */
  async document(url: string): Promise<Document> {
    this.#document ??= import('./document.ts').then(({ openApi }) => openApi(this.#routes));
    const { openapi, info, ...rest } = await this.#document;
    return { openapi, info, servers: [{ url }], ...rest };
  }

  async page() {
    const { DOCS_STYLE: style, docsPage } = await import('./page.ts');
    this.#html ??= this.document('/').then(docsPage);
    return { html: await this.#html, style };
  }
}
