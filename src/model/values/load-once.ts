/** Loads something when it is first needed, and then keeps it. A failed load is repeated the next time: a kept error
 *  would last as long as the process. */
export interface LoadOnce<T> {
  (): Promise<T>;
  /** undefined: it is not loaded, nor being loaded. */
  readonly loaded: Promise<T> | undefined;
}

export function loadOnce<T>(load: () => Promise<T>): LoadOnce<T> {
  let loaded: Promise<T> | undefined;
  const get = () => {
    if (loaded) return loaded;
    const loading = load();
    loaded = loading;
    loading.catch(() => {
      if (loaded === loading) loaded = undefined;
    });
    return loading;
  };
  return Object.defineProperty(get, 'loaded', { get: () => loaded }) as LoadOnce<T>;
}
