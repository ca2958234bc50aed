// The sand martin: the product's mark, a swooping bird in one stroke of colour.
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="#007a56" />
      <path
        fill="#fff"
        d="M4.5 10.2c5.1-.9 8.6.5 10.800 3.400 1.700-3.300 5.400-5.600 11.700-6.600-2.900 2.300-4.600 4.700-5.700 7.400 1.900.1 3.700.8 6.200 2.300-3 .3-5.200.9-7 2.300-1.600 3.700-4.700 5.800-9.800 6.300 2.600-1.700 3.900-3.600 4.200-5.900-3.300-1-6.400-4.300-10.400-9.200z"
      />
    </svg>
  );
}
