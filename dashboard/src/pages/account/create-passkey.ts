/** Asks the browser for a new passkey. @returns what `POST /auth/account/passkeys` takes
 *  @throws Error in words for people */
export async function createPasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<string> {
  try {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    const credential = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
    return JSON.stringify(credential.toJSON());
  } catch (error) {
    const isThere = (error as Error).name === 'InvalidStateError';
    throw new Error(isThere ? 'This device already has a passkey of yours' : 'The browser made no passkey. Try again');
  }
}
