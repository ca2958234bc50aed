// Passkeys in the browser: asks the device, and encodes its answer as the server reads it
// (src/people/webauthn.ts). Bytes are base64url.
import type {
  AddPasskey,
  NewPasskeyOptions,
  PasskeyAssertion,
  PasskeyOptions,
} from '../../src/dashboard/views/factors.ts';

/** Only over https or on localhost, and under a name: an IP address can have none. */
export const passkeysWork = (): boolean =>
  window.isSecureContext &&
  'PublicKeyCredential' in window &&
  !/^[\d.]+$|:/.test(window.location.hostname);

export async function showPasskey({ challenge, host }: PasskeyOptions): Promise<PasskeyAssertion> {
  const found = (await asked(() =>
    navigator.credentials.get({
      publicKey: { challenge: bytes(challenge), rpId: host, userVerification: 'required' },
    }),
  )) as PublicKeyCredential;
  const response = found.response as AuthenticatorAssertionResponse;
  return {
    id: text(found.rawId),
    clientData: text(response.clientDataJSON),
    authenticatorData: text(response.authenticatorData),
    signature: text(response.signature),
  };
}

export async function makePasskey(options: NewPasskeyOptions): Promise<AddPasskey['response']> {
  const { challenge, host, user, algorithms, known } = options;
  const made = (await asked(() =>
    navigator.credentials.create({
      publicKey: {
        challenge: bytes(challenge),
        rp: { id: host, name: 'Sandmartin' },
        user: { id: bytes(user.handle), name: user.email, displayName: user.name },
        pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
        excludeCredentials: known.map((id) => ({ type: 'public-key', id: bytes(id) })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        attestation: 'none',
      },
    }),
  )) as PublicKeyCredential;
  const response = made.response as AuthenticatorAttestationResponse;
  return {
    id: text(made.rawId),
    clientData: text(response.clientDataJSON),
    authenticatorData: text(response.getAuthenticatorData()),
  };
}

/** Browsers report "not allowed" for everything from a wrong address to a closed dialog. */
async function asked(ask: () => Promise<Credential | null>): Promise<Credential> {
  try {
    const answer = await ask();
    if (answer !== null) return answer;
  } catch (fault) {
    const name = fault instanceof Error ? fault.name : '';
    if (name === 'InvalidStateError') throw new Error('This device already has a passkey for you.');
    if (name === 'SecurityError') {
      throw new Error('Passkeys work only at the main address of this service. Open it there.');
    }
  }
  throw new Error('No passkey was used: the dialog was closed, or this device has none.');
}

const text = (buffer: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const bytes = (base64url: string): ArrayBuffer =>
  Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
    one.charCodeAt(0),
  ).buffer;
