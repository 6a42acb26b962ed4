/** The environment that every key and webhook belongs to until there are others. */
export const PRODUCTION = 'production';
