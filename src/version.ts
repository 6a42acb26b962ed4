/** The version of this installation. */
import packageJson from '../package.json' with { type: 'json' };

export const VERSION = packageJson.version;
