import type { Headers } from './auth.ts';

/** A browser without pages: it keeps cookies, and follows no redirect by itself. */
export class CookieClient {
  readonly cookies = new Map<string, string>();

  async get(url: string, headers: Headers = {}) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return this.#kept(await fetch(url, { redirect: 'manual', headers: { ...headers, cookie } }));
  }

  async post(url: string, fields: Headers, more: Headers = {}) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...more, cookie, origin: new URL(url).origin };
    return this.#kept(
      await fetch(url, { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams(fields) }),
    );
  }

  /** As the scripts of a page do. */
  async json(url: string, body: unknown) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, origin: new URL(url).origin, 'content-type': 'application/json' };
    const response = await this.#kept(
      await fetch(url, { method: 'POST', redirect: 'manual', headers, body: JSON.stringify(body) }),
    );
    return { ...response, body: response.text === '' ? {} : JSON.parse(response.text) };
  }

  async #kept(response: Response) {
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return {
      status: response.status,
      location: response.headers.get('location'),
      headers: response.headers,
      text: await response.text(),
    };
  }
}
