// Positions a box of the top layer beside what it belongs to, inside the window. For menus and
// tooltips; floating-ui, which Mantine's components need, is 16 KB on every page.

const GAP = 6;
const EDGE = 8;

interface Wish {
  above?: boolean;
  align: 'start' | 'center' | 'end';
}

/** On the requested side, or on the other one if it fits only there. */
export function placeBeside(box: HTMLElement, anchor: Element, { above, align }: Wish): void {
  const at = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const higher = at.top - GAP - height;
  const lower = at.bottom + GAP;
  const fitsAbove = higher >= EDGE;
  const fitsBelow = lower + height <= innerHeight - EDGE;
  const top = (above ? fitsAbove || !fitsBelow : fitsAbove && !fitsBelow) ? higher : lower;
  const left = {
    start: at.left,
    center: at.left + (at.width - width) / 2,
    end: at.right - width,
  }[align];
  box.style.top = `${inside(top, innerHeight - height)}px`;
  box.style.left = `${inside(left, document.documentElement.clientWidth - width)}px`;
}

const inside = (place: number, most: number): number =>
  Math.max(EDGE, Math.min(place, most - EDGE));
