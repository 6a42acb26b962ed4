/** The documentation of the API, built when it is first asked for: it takes 100 ms of CPU time, which few processes need. */
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

  /** @param url of the service, as its clients reach it */
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
