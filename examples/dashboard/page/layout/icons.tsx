/** The page's icons, inline so that no image is loaded. All are decoration, because the text says the same. */
import type { ReactNode } from 'react';

function icon(path: ReactNode) {
  return function Icon({ size = 16 }: { readonly size?: number }) {
    return (
      <svg
        aria-hidden="true"
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
      >
        {path}
      </svg>
    );
  };
}

export const SearchIcon = icon(<path d="M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM21 21l-6-6" />);
export const KeyboardIcon = icon(
  <path d="M3 6h18v12H3ZM7 10h.01M11 10h.01M15 10h.01M18 10h.01M7 14h10" />,
);
export const CopyIcon = icon(<path d="M9 9h11v11H9ZM5 15H4V4h11v1" />);
export const SunIcon = icon(
  <path d="M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4" />,
);
export const MoonIcon = icon(<path d="M20 14.5A8.5 8.5 0 1 1 9.5 4 7 7 0 0 0 20 14.5Z" />);
export const UpIcon = icon(<path d="m6 15 6-6 6 6" />);
export const DownIcon = icon(<path d="m6 9 6 6 6-6" />);
export const UnplugIcon = icon(<path d="M9 3v5M15 3v5M6 8h12v4a6 6 0 0 1-12 0ZM12 18v3" />);
export const HourglassIcon = icon(<path d="M6 3h12M6 21h12M7 3v4l5 5 5-5V3M7 21v-4l5-5 5 5v4" />);
export const GaugeIcon = icon(<path d="M4 18a9 9 0 1 1 16 0M12 14l4-5" />);
export const RestartIcon = icon(<path d="M20 11a8 8 0 1 0-2.3 6M20 5v6h-6" />);
export const SilenceIcon = icon(<path d="M4 9v6h4l5 4V5L8 9ZM17 9l4 6M21 9l-4 6" />);
export const CheckIcon = icon(<path d="m5 12 5 5L20 7" />);
export const AlertIcon = icon(
  <path d="M12 8v5M12 17h.01M10.3 3.9 2.4 18a2 2 0 0 0 1.7 3h15.8a2 2 0 0 0 1.7-3L13.7 3.9a2 2 0 0 0-3.4 0Z" />,
);
export const InboxIcon = icon(<path d="M4 13 6.5 5h11L20 13v6H4ZM4 13h5l1.5 3h3L15 13h5" />);
export const FilterIcon = icon(<path d="M3 5h18l-7 8v6l-4-2v-4Z" />);
export const RightIcon = icon(<path d="m9 6 6 6-6 6" />);
export const ColumnsIcon = icon(<path d="M4 5h16v14H4ZM10 5v14M15 5v14" />);
export const PauseIcon = icon(<path d="M8 5v14M16 5v14" />);
export const PlayIcon = icon(<path d="M7 5v14l12-7Z" />);
