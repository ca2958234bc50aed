// What a button without words does, and the exact time behind "3 min. ago": shown on hover, on
// focus and on touch, gone with Escape (WCAG 1.4.13). One box for the whole app, in the top layer.
import { cloneElement, type ReactElement, useEffect, useRef } from 'react';
import { placeBeside } from './beside.ts';

const MARK = 'data-tooltip';
const DELAY_MS = 250;
const GRACE_MS = 120;

export function Tooltip({
  label,
  children,
}: {
  label: string;
  children: ReactElement<{ [MARK]?: string }>;
}) {
  return cloneElement(children, { [MARK]: label });
}

/** Once, in the shell. */
export function Tooltips() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => listen(box.current!), []);
  return <div ref={box} id="tooltip" role="tooltip" popover="manual" className="tooltip" />;
}

function listen(box: HTMLDivElement): () => void {
  let anchor: Element | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  // A label may change while it is shown: "Copied".
  const changes = new MutationObserver(() => draw());

  const draw = (): void => {
    const label = anchor?.isConnected ? anchor.getAttribute(MARK) : null;
    if (!anchor || label === null) {
      hide();
      return;
    }
    box.textContent = label;
    // A button that already has this name would say it twice.
    if (anchor.getAttribute('aria-label') !== label) {
      anchor.setAttribute('aria-describedby', box.id);
    }
    box.showPopover();
    placeBeside(box, anchor, { above: true, align: 'center' });
  };
  const hide = (): void => {
    clearTimeout(timer);
    changes.disconnect();
    anchor?.removeAttribute('aria-describedby');
    anchor = null;
    box.hidePopover();
  };
  const show = (target: EventTarget | null, delayMs: number): void => {
    const next = target instanceof Element ? target.closest(`[${MARK}]`) : null;
    clearTimeout(timer);
    // The pointer may move onto the words, to read them to the end; there is a gap on the way.
    if (target === box) return;
    if (next === null && anchor !== null) timer = setTimeout(hide, GRACE_MS);
    if (next === null) return;
    if (next !== anchor) hide();
    anchor = next;
    changes.observe(next, { attributeFilter: [MARK] });
    timer = setTimeout(draw, delayMs);
  };

  const ending = new AbortController();
  const on = <Name extends keyof DocumentEventMap>(
    name: Name,
    act: (event: DocumentEventMap[Name]) => void,
  ) => document.addEventListener(name, act, { signal: ending.signal, capture: true });
  on('pointerover', ({ target, pointerType }) =>
    show(target, pointerType === 'touch' ? 0 : DELAY_MS),
  );
  on('focusin', ({ target }) => {
    if (target instanceof Element && target.matches(':focus-visible')) show(target, 0);
  });
  on('focusout', hide);
  on('scroll', hide);
  on('keydown', ({ key }) => {
    if (key === 'Escape') hide();
  });
  return () => {
    ending.abort();
    hide();
  };
}
