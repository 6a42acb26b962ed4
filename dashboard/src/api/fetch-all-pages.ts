import { callApi, type RequestOptions } from './client.ts';

const PAGE_SIZE = 100;

/** All pages of a list with tens or hundreds of items.
 *  @throws ApiError */
export async function fetchAllPages<T>(path: string, options: RequestOptions): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const query = { ...options.query, limit: PAGE_SIZE, cursor };
    const { data, metadata } = await callApi<T[]>(path, { ...options, query });
    all.push(...data);
    cursor = metadata.cursor;
  } while (cursor !== undefined);
  return all;
}
