// Room for many bytes, which the system gets back as soon as they are freed. glibc takes a block
// that is smaller than the largest one freed so far (up to 32 MB) from a heap of its own, and keeps
// that: 75 MB after one email of 25 MB. A larger block is always mapped by itself, and pages that
// nobody writes to take no memory. Before it: whoever reads or writes something large.

/** Above glibc's limit (DEFAULT_MMAP_THRESHOLD_MAX) by a page, so that it is always mapped. */
const MAPPED_BYTES = 32 * 1024 * 1024 + 4096;

/** For fewer, what the allocator keeps is not worth so much address space. */
const LEAST_BYTES = 4 * 1024 * 1024;

/** Not zeroed, and nothing else is in its buffer. */
export function allocateBytes(length: number): Buffer {
  const isMapped = length >= LEAST_BYTES && length < MAPPED_BYTES;
  return isMapped
    ? Buffer.allocUnsafeSlow(MAPPED_BYTES).subarray(0, length)
    : Buffer.allocUnsafeSlow(length);
}

/** All that is in its buffer. */
export const isWhole = ({ buffer, byteOffset, length }: Uint8Array): boolean =>
  length === buffer.byteLength || (byteOffset === 0 && buffer.byteLength === MAPPED_BYTES);

/** It fills most of its buffer, so nothing else uses that: it may be transferred, or freed. */
export const isAlone = (bytes: Uint8Array): boolean =>
  isWhole(bytes) || bytes.length * 2 > bytes.buffer.byteLength;
