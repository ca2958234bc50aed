// What the keyboard can do, on one sheet.
import '@mantine/core/styles/Kbd.css';
import { Group, Kbd, Table } from '@mantine/core';
import { Dialog } from '../parts/dialog.tsx';
import { SHORTCUTS } from './shortcuts.ts';

export function ShortcutSheet({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Dialog opened={opened} onClose={onClose} title="Keyboard shortcuts">
      <Table withRowBorders={false}>
        <Table.Tbody>
          {SHORTCUTS.map(({ keys, what }) => (
            <Table.Tr key={what}>
              <Table.Td w={150}>
                <Group gap={6}>
                  {keys.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </Group>
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  );
}
