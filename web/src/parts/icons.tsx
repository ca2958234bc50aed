// The icons, drawn inline: three dozen strokes weigh less than an icon package. They are
// decoration; labels are beside them.
import type { ReactNode } from 'react';

interface IconProps {
  size?: number | undefined;
}

function Drawn({ size = 18, children }: IconProps & { children: ReactNode }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.7}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {children}
    </svg>
  );
}

export const OverviewIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z" />
  </Drawn>
);
export const MessagesIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <rect x="3" y="5" width="18" height="14" rx="2.5" />
    <path d="m3.5 7.5 8.5 6 8.5-6" />
  </Drawn>
);
export const TemplatesIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <rect x="4" y="3.5" width="16" height="17" rx="2.5" />
    <path d="M4 8.500h16M8 12.500h8M8 16h5" />
  </Drawn>
);
export const BrandingIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M12 3.500a8.5 8.5 0 1 0 0 17c1.6 0 2-1 1.7-2-.5-1.7.4-3 2.3-3h1.500c1.9 0 3-1.4 3-3.300C20.5 7.3 16.7 3.5 12 3.500Z" />
    <circle cx="8" cy="11" r=".6" />
    <circle cx="11" cy="7.5" r=".6" />
    <circle cx="15.5" cy="8.5" r=".6" />
  </Drawn>
);
export const SendersIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M12 3.5 5 6v5.500c0 4.3 2.9 7.3 7 9 4.1-1.7 7-4.7 7-9V6z" />
    <path d="m9 11.8 2.2 2.2 4-4.3" />
  </Drawn>
);
export const WebhooksIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <circle cx="6" cy="16.5" r="3" />
    <circle cx="18" cy="16.5" r="3" />
    <circle cx="12" cy="6.5" r="3" />
    <path d="m10.5 9.2-3 4.700M13.5 9.200l3 4.700M9 16.500h6" />
  </Drawn>
);
export const KeysIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <circle cx="8" cy="15.5" r="4" />
    <path d="m11 12.5 8.5-8.500M16 7.500l2.5 2.500M13.5 10l1.5 1.5" />
  </Drawn>
);
export const StreamsIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M3.5 7.500c3-2.500 5.500-2.500 8.500 0s5.500 2.500 8.500 0M3.5 12.500c3-2.500 5.500-2.500 8.500 0s5.500 2.500 8.500 0M3.5 17.500c3-2.500 5.500-2.500 8.500 0s5.500 2.500 8.500 0" />
  </Drawn>
);
export const SuppressionsIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <circle cx="12" cy="12" r="8.5" />
    <path d="m6 6 12 12" />
  </Drawn>
);
export const SandboxIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M3.5 13.5 6 5.500h12l2.5 8v5h-17z" />
    <path d="M3.5 13.500H8l1.5 2.500h5l1.5-2.500h4.5" />
  </Drawn>
);
export const TeamIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <circle cx="9" cy="8" r="3.5" />
    <path d="M2.5 20c.6-3.6 3.2-5.5 6.5-5.500s5.9 1.9 6.5 5.500M16 4.800a3.5 3.5 0 0 1 0 6.400M18 14.900c2 .7 3.2 2.4 3.5 5.1" />
  </Drawn>
);
export const AccountIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <rect x="3" y="5.5" width="18" height="13" rx="2.5" />
    <path d="M3 10h18M7 14.500h3" />
  </Drawn>
);
export const OperatorIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <rect x="3.5" y="4" width="17" height="6.5" rx="2" />
    <rect x="3.5" y="13.5" width="17" height="6.5" rx="2" />
    <path d="M7.5 7.250h.01M7.5 16.750h.01" />
  </Drawn>
);
export const SearchIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <circle cx="11" cy="11" r="6.5" />
    <path d="m16 16 4.5 4.5" />
  </Drawn>
);
export const CopyIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <rect x="8.5" y="8.5" width="11.5" height="11.5" rx="2.5" />
    <path d="M15.5 8.500v-2A2.5 2.5 0 0 0 13 4H6.500A2.5 2.5 0 0 0 4 6.500V13a2.5 2.5 0 0 0 2.5 2.500h2" />
  </Drawn>
);
export const CheckIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="m5 12.5 4.5 4.500L19 7.5" />
  </Drawn>
);
export const CrossIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="m6.5 6.5 11 11M17.5 6.500l-11 11" />
  </Drawn>
);
export const PlusIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M12 5v14M5 12h14" />
  </Drawn>
);
export const ChevronIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="m9 6 6 6-6 6" />
  </Drawn>
);
export const ChevronDownIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="m6 9 6 6 6-6" />
  </Drawn>
);
export const BackIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M19 12H5m6-6-6 6 6 6" />
  </Drawn>
);
export const DotsIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path strokeWidth={2.6} d="M5.5 12h.01M12 12h.01M18.5 12h.01" />
  </Drawn>
);
export const DesktopIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <rect x="3" y="4.5" width="18" height="12" rx="2" />
    <path d="M9 20h6M12 16.500V20" />
  </Drawn>
);
export const PhoneIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <rect x="7" y="3" width="10" height="18" rx="2.5" />
    <path d="M11 18h2" />
  </Drawn>
);
export const MoonIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M20 14.500A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.500Z" />
  </Drawn>
);
export const SunIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 3v1.500M12 19.500V21M3 12h1.500M19.5 12H21M5.6 5.600l1.1 1.100M17.3 17.300l1.1 1.100M5.6 18.400l1.1-1.100M17.3 6.700l1.1-1.1" />
  </Drawn>
);
export const SendIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M20.5 3.5 10 14M20.5 3.5 14 20.5 10 14l-6.5-4z" />
  </Drawn>
);
export const RetryIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M4.5 12a7.5 7.5 0 0 1 13-5.100L20 9.5" />
    <path d="M20 4.500v5h-5M19.5 12a7.5 7.5 0 0 1-13 5.100L4 14.5" />
    <path d="M4 19.500v-5h5" />
  </Drawn>
);
export const TrashIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M4.5 6.500h15M9.5 6.500V4h5v2.500M6.5 6.500l.8 13.500h9.400l.8-13.500M10 10.500v6M14 10.500v6" />
  </Drawn>
);
export const EditIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M14.5 5.5 18.5 9.5 8.5 19.500h-4v-4zM12.5 7.500l4 4" />
  </Drawn>
);
export const ClipIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="m19.5 11.5-7.8 7.800a4.6 4.6 0 0 1-6.5-6.500l8-8a3.1 3.1 0 0 1 4.4 4.400l-8 8a1.5 1.5 0 0 1-2.2-2.200l7.3-7.3" />
  </Drawn>
);
export const WarningIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M12 4 2.8 19.500h18.400zM12 10v4.500M12 17h.01" />
  </Drawn>
);
export const InfoIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M12 11v5M12 8h.01" />
  </Drawn>
);
export const SignOutIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M14 4.500H6v15h8M10.5 12H21m-3.5-3.500L21 12l-3.5 3.5" />
  </Drawn>
);
export const DownloadIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M12 4v11m-4.5-4.500L12 15l4.5-4.500M4.5 19.500h15" />
  </Drawn>
);
export const UploadIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M12 15V4M7.500 8.500L12 4l4.500 4.500M4.500 19.500h15" />
  </Drawn>
);
export const HistoryIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M4 12a8 8 0 1 0 2.5-5.800L4 8.5" />
    <path d="M4 4v4.500h4.500M12 8v4.500l3 1.8" />
  </Drawn>
);
export const ImageIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <rect x="3.5" y="5" width="17" height="14" rx="2.5" />
    <path d="m4 16.500 4.500-4.500 4 4 2.500-2.500 5 4.500M15.500 9.500h.01" />
  </Drawn>
);
export const TextIcon = ({ size }: IconProps) => (
  <Drawn size={size}>
    <path d="M5 6.500h14M5 11h14M5 15.500h9" />
  </Drawn>
);
