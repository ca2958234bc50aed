// What an authenticator answered, as pages send it; people/webauthn.ts interprets it.
import { z } from 'zod';

const bytes = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[\w-]+$/, 'is base64url');

export const passkeyAssertion = z.strictObject({
  id: bytes(1400),
  clientData: bytes(4000),
  authenticatorData: bytes(8000),
  signature: bytes(2000),
});
