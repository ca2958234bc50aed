// The same call in several programming languages, by name.
import { Tabs } from '@mantine/core';
import { CodeBlock } from './copy.tsx';

export function InLanguages({ ways }: { ways: Record<string, string> }) {
  return (
    <Tabs defaultValue="curl" variant="pills">
      <Tabs.List mb="sm">
        {Object.keys(ways).map((name) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {Object.entries(ways).map(([name, code]) => (
        <Tabs.Panel key={name} value={name}>
          <CodeBlock code={code} label={`${name} call`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
