/** Asks the browser for a passkey when a form with `data-passkey` is sent, and sends its response in the field `credential`. */
import { inlineScript } from '../http/html-page.ts';

export const PASSKEY_SCRIPT = inlineScript(`
for (const form of document.querySelectorAll('form[data-passkey]')) {
  const { credential: field } = form.elements;
  form.hidden = window.PublicKeyCredential?.parseRequestOptionsFromJSON === undefined;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const options = JSON.parse(form.dataset.options);
    try {
      const credential = form.dataset.passkey === 'create'
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
      field.value = JSON.stringify(credential.toJSON());
      form.submit();
    } catch {
      form.querySelector('[role=status]').textContent = 'The browser did not use a passkey. Try again, or use a code.';
    }
  });
}
`);
