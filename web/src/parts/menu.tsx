// A menu below a button, in the browser's own top layer: it closes with Escape or a click
// elsewhere, and returns the focus. Arrows, Home, End and letters move in it (WAI-ARIA menu
// button).
import {
  type ComponentProps,
  cloneElement,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { placeBeside } from './beside.ts';
import { CheckIcon } from './icons.tsx';

interface MenuProps {
  /** The button. */
  target: ReactElement<ComponentProps<'button'>>;
  align?: 'start' | 'end';
  above?: boolean;
  width?: number;
  children: ReactNode;
}

export function Menu({ target, align = 'end', above = false, width, children }: MenuProps) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (!open || !box.current) return;
    placeBeside(box.current, button.current!, { above, align });
    itemsOf(box.current)[0]?.focus();
  }, [open, above, align]);
  return (
    <>
      {cloneElement(target, {
        ...{ ref: button, id: `${id}-button`, popoverTarget: id },
        ...{ 'aria-haspopup': 'menu', 'aria-expanded': open },
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          box.current?.showPopover();
        },
      })}
      <div
        {...{ ref: box, id }}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-labelledby={`${id}-button`}
        className="menu"
        style={{ width }}
        onToggle={(event) => setOpen(event.newState === 'open')}
        onKeyDown={onKey}
        // Before its action runs: a dialog that it opens returns the focus to the button.
        onClickCapture={({ target: clicked }) => {
          if (!(clicked as Element).closest('[role=menuitem]')) return;
          box.current?.hidePopover();
          button.current?.focus();
        }}
      >
        {open && children}
      </div>
    </>
  );
}

const itemsOf = (menu: Element): HTMLElement[] => [
  ...menu.querySelectorAll<HTMLElement>('[role^=menuitem]:not(:disabled)'),
];

function onKey(event: KeyboardEvent<HTMLDivElement>): void {
  const { key, currentTarget: menu } = event;
  if (key === 'Tab') menu.hidePopover();
  const items = itemsOf(menu);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next = {
    ArrowDown: items[(at + 1) % items.length],
    ArrowUp: items.at(at <= 0 ? -1 : at - 1),
    Home: items[0],
    End: items.at(-1),
  }[key];
  const found = next ?? (key.length === 1 ? beginningWith(key, items, at) : undefined);
  if (!found) return;
  event.preventDefault();
  found.focus();
}

function beginningWith(letter: string, items: HTMLElement[], at: number): HTMLElement | undefined {
  if (letter === ' ') return undefined;
  return [...items.slice(at + 1), ...items.slice(0, at + 1)].find((item) =>
    item.textContent?.toLowerCase().startsWith(letter.toLowerCase()),
  );
}

interface ItemProps {
  onClick: () => void;
  icon?: ReactNode;
  danger?: boolean;
  disabled?: boolean;
  /** The current choice. */
  current?: boolean;
  children: ReactNode;
}

export function MenuItem(props: ItemProps) {
  const { onClick, icon, danger = false, disabled, current = false, children } = props;
  return (
    <button
      {...{ onClick, disabled }}
      type="button"
      role="menuitem"
      tabIndex={-1}
      className="menu-item"
      data-danger={danger || undefined}
      aria-current={current || undefined}
    >
      {icon}
      <span className="menu-words">{children}</span>
      {current && <CheckIcon size={15} />}
    </button>
  );
}

/** One of several, of which one applies; the menu stays open. */
export function MenuChoice({
  onClick,
  checked,
  children,
}: Pick<ItemProps, 'onClick' | 'children'> & { checked: boolean }) {
  return (
    <button
      onClick={onClick}
      type="button"
      role="menuitemradio"
      aria-checked={checked}
      tabIndex={-1}
      className="menu-item"
    >
      <span className="menu-words">{children}</span>
      {checked && <CheckIcon size={15} />}
    </button>
  );
}

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <div className="menu-label">{children}</div>
);

export const MenuDivider = () => <div className="menu-divider" />;
