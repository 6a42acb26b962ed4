/** Requests and options for tests of verifiers, without a service. */
import { ProviderRequest } from '../../src/providers/provider-request.ts';
import type {
  FetchDocument,
  VerificationResult,
  Verifier,
  VerifyOptions,
} from '../../src/providers/verification/verification.ts';

export interface GivenRequest {
  method?: string;
  headers?: Record<string, string>;
  search?: string;
  body?: string | Buffer | undefined;
  urls?: readonly string[];
}

export function providerRequest({ method = 'POST', headers = {}, search = '', body = '', urls = [] }: GivenRequest) {
  return new ProviderRequest({ method, headers, search, body: Buffer.from(body), urls: () => urls });
}

/** A fetcher of documents from memory, which lists the URLs that it was asked for. */
export function documentsFrom(documents: Record<string, string>): { fetchDocument: FetchDocument; asked: string[] } {
  const asked: string[] = [];
  const fetchDocument = async (url: string) => {
    asked.push(url);
    const text = documents[url];
    if (text === undefined) throw new Error('404');
    return text;
  };
  return { fetchDocument, asked };
}

const noDocuments: FetchDocument = async (url) => {
  throw new Error(`no ${url}`);
};

export async function verifyRequest(
  verifier: Verifier,
  request: GivenRequest,
  options: Partial<VerifyOptions> = {},
): Promise<VerificationResult> {
  return verifier(providerRequest(request), { nowMs: Date.now(), fetchDocument: noDocuments, ...options });
}

/** "verified", or the reason. */
export async function resultOf(...given: Parameters<typeof verifyRequest>): Promise<string> {
  const verified = await verifyRequest(...given);
  return verified.result === 'verified' ? 'verified' : verified.reason;
}
