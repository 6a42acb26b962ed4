/** Equal to the version in package.json; a test checks that. */
export const VERSION = '0.1.0';
