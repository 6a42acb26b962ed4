/** Sonner writes its styles into a `<style>` element when it loads, which the dashboard's CSP forbids. This removes that call from the
 *  build; src/ui/toaster.tsx imports the same styles as a file. */
import type { Plugin } from 'vite';

const MODULE = /\/sonner\/dist\/index\.mjs$/;
const CALL = /^__insertCSS\(".*"\);?$/m;

export function sonnerStyles(): Plugin {
  return {
    name: 'sonner-styles',
    enforce: 'pre',
    transform(code, id) {
      if (!MODULE.test(id)) return;
      if (!CALL.test(code)) this.error('sonner no longer inserts its styles with __insertCSS: check sonner-styles.ts');
      return { code: code.replace(CALL, ''), map: null };
    },
  };
}
