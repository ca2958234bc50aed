// The look: one accent (the green of the emails' default branding), warm neutrals, system fonts.
// main.tsx hands it to Mantine.
import {
  type ActionIconProps,
  type BadgeProps,
  type ButtonProps,
  type ComboboxProps,
  type CSSVariablesResolver,
  createTheme,
  type DrawerProps,
  type MantineColorsTuple,
  type ModalProps,
  type PaperProps,
  type SelectProps,
  type SkeletonProps,
  type SwitchProps,
  type TableProps,
  type TextareaProps,
  type TextInputProps,
} from '@mantine/core';

/**
 * Around #00a071 (shade 5). White on it has a contrast of 3.4, so filled parts take shade 7: 5.4.
 */
const martin: MantineColorsTuple = [
  '#e8f8f2',
  '#d0efe3',
  '#9fdfc6',
  '#69cda6',
  '#2fb98a',
  '#00a071',
  '#008c63',
  '#007a56',
  '#006447',
  '#004d36',
];

/** Sand rather than steel: greys with a little warmth. */
const gray: MantineColorsTuple = [
  '#faf9f7',
  '#f4f2ef',
  '#eae7e2',
  '#dcd8d1',
  '#c4bfb6',
  '#a39d93',
  '#7d776d',
  '#635e56',
  '#3d3a35',
  '#1f1d1a',
];

const dark: MantineColorsTuple = [
  '#e9e7e3',
  '#c9c6c0',
  '#a5a29b',
  '#7c7973',
  '#45443f',
  '#33322e',
  '#262522',
  '#1b1a18',
  '#141311',
  '#0c0b0a',
];

/**
 * Mantine writes its variables after our styles, so our overrides go in here. Chosen for AA
 * contrast on every surface.
 */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#66615a',
    '--mantine-color-placeholder': '#736e66',
    '--mantine-color-default-border': gray[3],
    '--mantine-color-error': '#c2271b',
    '--mantine-color-red-light': '#fdeceb',
    '--mantine-color-red-light-color': '#a61b11',
    '--mantine-color-yellow-light': '#fcf4d9',
    '--mantine-color-orange-light': '#fdefe1',
    '--mantine-color-orange-light-color': '#9a3412',
    '--mantine-color-yellow-light-color': '#7a4d00',
  },
  dark: {
    '--mantine-color-body': '#191816',
    '--mantine-color-dimmed': '#a5a29b',
    '--mantine-color-placeholder': '#96928b',
    '--mantine-color-default-border': '#3a3935',
    '--mantine-color-error': '#ff8a7d',
    '--mantine-color-red-light': '#33201d',
    '--mantine-color-red-light-color': '#ffb4a9',
    '--mantine-color-yellow-light': '#302712',
    '--mantine-color-yellow-light-color': '#f5d08a',
    '--mantine-color-orange-light': '#33230f',
    '--mantine-color-orange-light-color': '#ffc48a',
    '--mantine-color-blue-light': '#1b2736',
    '--mantine-color-blue-light-color': '#a9cbff',
    '--mantine-color-martin-light': '#12291f',
    '--mantine-color-martin-light-color': '#7fdcb8',
    '--mantine-color-gray-light': '#2a2926',
    '--mantine-color-gray-light-color': '#c9c6c0',
  },
});

/**
 * Without importing the component itself, which would then be loaded by pages that do not use it.
 */
const of = <Props extends object>(defaultProps: Partial<Props>) => ({ defaultProps });

export const theme = createTheme({
  primaryColor: 'martin',
  primaryShade: { light: 7, dark: 7 },
  colors: { martin, gray, dark },
  defaultRadius: 'md',
  radius: { xs: '4px', sm: '6px', md: '8px', lg: '12px', xl: '16px' },
  fontFamily:
    'Inter, ui-sans-serif, -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace:
    'ui-monospace, SFMono-Regular, "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '12px', sm: '13.5px', md: '15px', lg: '17px', xl: '20px' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '26px', lineHeight: '1.25' },
      h2: { fontSize: '17px', lineHeight: '1.35' },
      h3: { fontSize: '15px', lineHeight: '1.4' },
    },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: of<ButtonProps>({ size: 'sm' }),
    ActionIcon: of<ActionIconProps>({ variant: 'subtle', color: 'gray' }),
    Badge: of<BadgeProps>({ variant: 'light', radius: 'sm', tt: 'none', fw: 500 }),
    Paper: of<PaperProps>({ withBorder: true, radius: 'lg' }),
    Table: of<TableProps>({ verticalSpacing: 'sm', horizontalSpacing: 'md' }),
    TextInput: of<TextInputProps>({ size: 'sm' }),
    Textarea: of<TextareaProps>({ size: 'sm' }),
    // Its options are drawn when it is opened: on a page with three such lists of fifty, drawing
    // them took half of the time.
    Combobox: of<ComboboxProps>({ keepMounted: false }),
    Select: of<SelectProps>({ size: 'sm', allowDeselect: false }),
    Switch: of<SwitchProps>({ size: 'sm' }),
    Skeleton: of<SkeletonProps>({ radius: 'sm' }),
    Drawer: of<DrawerProps>({
      closeButtonProps: { 'aria-label': 'Close' },
      overlayProps: { backgroundOpacity: 0.4, blur: 2 },
      transitionProps: { duration: 120 },
    }),
    Modal: of<ModalProps>({
      radius: 'lg',
      closeButtonProps: { 'aria-label': 'Close' },
      overlayProps: { backgroundOpacity: 0.4, blur: 2 },
      transitionProps: { duration: 120 },
    }),
  },
});
