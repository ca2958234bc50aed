// The settings that a program needs to send through this service by SMTP. Shown beside the keys,
// because a key is the password.
import { Text } from '@mantine/core';
import { useMe } from '../session.ts';
import { CopyLine } from './copy.tsx';
import { Fact } from './page.tsx';

/** `password`: the key, if it was just created. */
export function SmtpSettings({ password }: { password?: string }) {
  const { smtp } = useMe().service;
  if (smtp === null) {
    return (
      <Text size="sm" c="dimmed">
        This service does not accept emails by SMTP. Its operator can turn it on with SMTP_PORT.
      </Text>
    );
  }
  const ports = [
    smtp.port !== null && `${smtp.port} with STARTTLS`,
    smtp.securePort !== null && `${smtp.securePort} with TLS`,
  ].filter((port) => port !== false);
  return (
    <div className="columns columns-sm-2">
      <Fact label="Host">
        <CopyLine value={smtp.host} label="Copy the host" />
      </Fact>
      <Fact label="Port">{ports.join(', or ')}</Fact>
      <Fact label="Username">
        <CopyLine value="apikey" label="Copy the user" />
      </Fact>
      <Fact label="Password">
        {password === undefined ? (
          'An API key with the scope email:send'
        ) : (
          <CopyLine value={password} label="Copy the password" />
        )}
      </Fact>
    </div>
  );
}
