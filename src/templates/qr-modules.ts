// A QR code as its modules, dark or light (ISO/IEC 18004): bytes, level M (15 % may be lost),
// versions 1 to 18, which is all that can be scanned off a screen. Before: qr-codes.ts has the
// text. After: it draws them.

/** Of level M, by version: check bytes in a block, and blocks. */
const CHECK_BYTES = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13];

/** Rows of modules, true where dark, without the blank zone around them. Undefined: too long. */
export function qrModules(bytes: Uint8Array): boolean[][] | undefined {
  const version = BLOCKS.findIndex((_, index) => fits(bytes.length, index + 1)) + 1;
  if (version === 0) return undefined;
  const codewords = interleave(version, dataCodewords(version, bytes));
  const plain = drawFixed(version);
  drawCodewords(plain, codewords);
  const masked = MASKS.map((mask, number) => applyMask(plain, mask, number));
  return masked.sort((one, other) => penalty(one) - penalty(other))[0];
}

// ---- The bytes ----------------------------------------------------------------------------------

const alignmentCount = (version: number): number =>
  version === 1 ? 0 : Math.floor(version / 7) + 2;

/** Bytes that the free modules of a version hold. */
function allCodewords(version: number): number {
  const count = alignmentCount(version);
  let modules = (16 * version + 128) * version + 64;
  if (count > 0) modules -= (25 * count - 10) * count - 55;
  if (version >= 7) modules -= 36;
  return Math.floor(modules / 8);
}

const dataLength = (version: number): number =>
  allCodewords(version) - CHECK_BYTES[version - 1]! * BLOCKS[version - 1]!;

const countBits = (version: number): number => (version < 10 ? 8 : 16);

const fits = (length: number, version: number): boolean =>
  4 + countBits(version) + 8 * length <= 8 * dataLength(version);

function dataCodewords(version: number, bytes: Uint8Array): number[] {
  const bits: number[] = [];
  const put = (value: number, length: number) => {
    for (let bit = length - 1; bit >= 0; bit--) bits.push((value >>> bit) & 1);
  };
  const wanted = dataLength(version);
  put(0b0100, 4);
  put(bytes.length, countBits(version));
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, 8 * wanted - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  const words: number[] = [];
  for (let at = 0; at < bits.length; at += 8) {
    words.push(Number.parseInt(bits.slice(at, at + 8).join(''), 2));
  }
  for (let pad = 0xec; words.length < wanted; pad ^= 0xec ^ 0x11) words.push(pad);
  return words;
}

/** Blocks with their check bytes, interleaved byte by byte: a stain damages a little of each. */
function interleave(version: number, data: number[]): number[] {
  const blocks = BLOCKS[version - 1]!;
  const checkBytes = CHECK_BYTES[version - 1]!;
  const divisor = checkDivisor(checkBytes);
  const short = Math.floor(data.length / blocks);
  const shortBlocks = blocks - (data.length % blocks);
  const parts: { data: number[]; check: number[] }[] = [];
  for (let block = 0, at = 0; block < blocks; block++) {
    const length = short + (block < shortBlocks ? 0 : 1);
    const part = data.slice(at, at + length);
    parts.push({ data: part, check: remainder(part, divisor) });
    at += length;
  }
  const inTurn = (lists: number[][]): number[] =>
    Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, n) =>
      lists.flatMap((list) => (n < list.length ? [list[n]!] : [])),
    ).flat();
  return [...inTurn(parts.map((it) => it.data)), ...inTurn(parts.map((it) => it.check))];
}

/** In GF(2⁸) modulo 0x11d. */
function multiply(x: number, y: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((y >>> bit) & 1) * x;
  }
  return product;
}

/** The product of (x - 2ⁿ) for n below the degree, highest power left out. */
function checkDivisor(degree: number): number[] {
  const result = Array<number>(degree).fill(0);
  result[degree - 1] = 1;
  let root = 1;
  for (let n = 0; n < degree; n++) {
    for (let at = 0; at < degree; at++) {
      result[at] = multiply(result[at]!, root) ^ (result[at + 1] ?? 0);
    }
    root = multiply(root, 2);
  }
  return result;
}

function remainder(data: number[], divisor: number[]): number[] {
  const result = divisor.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ result.shift()!;
    result.push(0);
    for (const [at, coefficient] of divisor.entries()) result[at]! ^= multiply(coefficient, factor);
  }
  return result;
}

// ---- The modules --------------------------------------------------------------------------------

interface Drawing {
  size: number;
  version: number;
  dark: boolean[][];
  /** Already drawn: the patterns by which cameras find the code. */
  fixed: boolean[][];
}

function drawFixed(version: number): Drawing {
  const size = 4 * version + 17;
  const blank = () => Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const drawing: Drawing = { size, version, dark: blank(), fixed: blank() };
  for (let n = 0; n < size; n++) {
    set(drawing, 6, n, n % 2 === 0);
    set(drawing, n, 6, n % 2 === 0);
  }
  const corners = [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const;
  for (const [x, y] of corners) drawSquares(drawing, x, y, 4);
  for (const [x, y] of alignmentPlaces(version, size)) drawSquares(drawing, x, y, 2);
  drawFormat(drawing, 0);
  drawVersion(drawing);
  return drawing;
}

function set({ size, dark, fixed }: Drawing, x: number, y: number, value: boolean): void {
  if (x < 0 || y < 0 || x >= size || y >= size) return;
  dark[y]![x] = value;
  fixed[y]![x] = true;
}

/** A dark middle with rings around it; the outermost of a corner is light. */
function drawSquares(drawing: Drawing, x: number, y: number, reach: number): void {
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      const ring = Math.max(Math.abs(dx), Math.abs(dy));
      const light = reach === 4 ? ring === 2 || ring === 4 : ring === 1;
      set(drawing, x + dx, y + dy, !light);
    }
  }
}

function alignmentPlaces(version: number, size: number): [number, number][] {
  const count = alignmentCount(version);
  if (count === 0) return [];
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  const lines = [6, ...Array.from({ length: count - 1 }, (_, n) => size - 7 - n * step).reverse()];
  const last = lines.at(-1)!;
  return lines
    .flatMap((x) => lines.map((y): [number, number] => [x, y]))
    .filter(([x, y]) => !((x === 6 && (y === 6 || y === last)) || (x === last && y === 6)));
}

const bitOf = (bits: number, n: number): boolean => ((bits >>> n) & 1) === 1;

/** Level M, whose number is 0, and the mask; twice. */
function drawFormat(drawing: Drawing, mask: number): void {
  let rest = mask;
  for (let n = 0; n < 10; n++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
  const bits = ((mask << 10) | rest) ^ 0x5412;
  const { size } = drawing;
  for (let n = 0; n < 15; n++) {
    const [x, y] = n < 8 ? [8, n < 6 ? n : n + 1] : [n === 8 ? 7 : 14 - n, 8];
    set(drawing, x, y, bitOf(bits, n));
    if (n < 8) set(drawing, size - 1 - n, 8, bitOf(bits, n));
    else set(drawing, 8, size - 15 + n, bitOf(bits, n));
  }
  set(drawing, 8, size - 8, true);
}

function drawVersion(drawing: Drawing): void {
  const { version, size } = drawing;
  if (version < 7) return;
  let rest = version;
  for (let n = 0; n < 12; n++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let n = 0; n < 18; n++) {
    const [along, across] = [size - 11 + (n % 3), Math.floor(n / 3)];
    set(drawing, along, across, bitOf(bits, n));
    set(drawing, across, along, bitOf(bits, n));
  }
}

/** Two columns at a time from the right, up and down in turn; column 6 is the timing pattern. */
function drawCodewords({ size, dark, fixed }: Drawing, codewords: number[]): void {
  let at = 0;
  for (let pair = 0; pair < (size - 1) / 2; pair++) {
    const right = size - 1 - 2 * pair - (size - 1 - 2 * pair <= 6 ? 1 : 0);
    for (let step = 0; step < size; step++) {
      const y = pair % 2 === 0 ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (fixed[y]![x] || at >= codewords.length * 8) continue;
        dark[y]![x] = bitOf(codewords[at >>> 3]!, 7 - (at & 7));
        at++;
      }
    }
  }
}

type Mask = (x: number, y: number) => boolean;

const MASKS: Mask[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

function applyMask(drawing: Drawing, mask: Mask, number: number): boolean[][] {
  const { dark, fixed } = drawing;
  const masked = dark.map((row, y) =>
    row.map((value, x) => (fixed[y]![x] ? value : value !== mask(x, y))),
  );
  drawFormat({ ...drawing, dark: masked, fixed: fixed.map((row) => [...row]) }, number);
  return masked;
}

/** How much of one colour is adjacent, in lines and in squares, which cameras find hard to read. */
function penalty(dark: boolean[][]): number {
  let sum = 0;
  for (const [y, row] of dark.entries()) {
    let [along, down] = [0, 0];
    for (let x = 0; x < row.length; x++) {
      along = x > 0 && row[x] === row[x - 1] ? along + 1 : 1;
      down = x > 0 && dark[x]![y] === dark[x - 1]![y] ? down + 1 : 1;
      for (const run of [along, down]) sum += run === 5 ? 3 : run > 5 ? 1 : 0;
      if (x === 0 || y === 0) continue;
      const above = dark[y - 1]!;
      if (row[x] === row[x - 1] && row[x] === above[x] && row[x] === above[x - 1]) sum += 3;
    }
  }
  return sum;
}
