/** A request to the app, whatever the web framework. */
export interface AppRequest {
  method: string;
  /** Path and query, as the client of the app sent them. */
  url: string;
  /** Whether it came in over TLS. */
  secure: boolean;
  header(name: string): string | undefined;
  /** The raw body, which is better, or what a body parser made of it. */
  body(): Promise<Buffer | string | object>;
}
