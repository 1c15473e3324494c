// Our icons: strokes on a 16-pixel grid, in the colour of the text around them.
import type { ReactNode } from 'react'

const paths = {
  start: (
    <path d="M8 1.500v3M8 11.500v3M1.500 8h3M11.500 8h3M3.500 3.500l2 2M10.500 10.500l2 2M12.500 3.500l-2 2M5.500 10.500l-2 2" />
  ),
  overview: <path d="M2 13.500h12M4 11V8M7 11V4.500M10 11V6.500M13 11V2.500" />,
  activity: <path d="M1.500 8h3l2-5 3.500 10 2-5h2.500" />,
  workflow: <path d="M3 2.500h4v3H3zM9 10.500h4v3H9zM5 5.500v3.500a3 3 0 0 0 3 3h1" />,
  people: (
    <path d="M6 7.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM1.500 13.500c0-2.500 2-4 4.500-4s4.500 1.500 4.500 4M10.500 2.800a2.500 2.500 0 0 1 0 4.400M12 9.800c1.500.6 2.500 1.900 2.500 3.700" />
  ),
  topic: <path d="M2.500 8.500v-6h6l5.500 5.500-6 6zM5.500 5.500h.01" />,
  plug: <path d="M5.500 1.500v3.500M10.500 1.500v3.500M3.500 5h9v2.500a4.500 4.500 0 0 1-9 0zM8 12v2.500" />,
  outbox: <path d="M1.500 9.500 3.500 3h9l2 6.500v3.500h-13zM1.500 9.500h4l1 2h3l1-2h4" />,
  layout: <path d="M2 2.500h12v11H2zM2 6h12M6 6v7.500" />,
  language: (
    <path d="M1.500 4h7M5 2.500V4c0 3-1.500 5-3.500 6M3 6.500c1 1.500 2.500 2.500 4.500 3.500M8.500 13.500l2.700-7h.6l2.700 7M9.500 11.500h4" />
  ),
  settings: (
    <path d="M8 10.200a2.200 2.200 0 1 0 0-4.400 2.200 2.200 0 0 0 0 4.400ZM8 1.500v2M8 12.500v2M1.500 8h2M12.500 8h2M3.400 3.400l1.400 1.400M11.200 11.200l1.400 1.400M12.600 3.400l-1.400 1.400M4.800 11.200l-1.400 1.400" />
  ),
  mail: <path d="M1.500 3.500h13v9h-13zM1.500 4.500 8 9l6.500-4.500" />,
  sms: <path d="M1.500 2.500h13v9h-8l-3 2.500v-2.500h-2zM5 7h.01M8 7h.01M11 7h.01" />,
  push: <path d="M4.500 1.500h7v13h-7zM7 12.500h2" />,
  chat: (
    <path d="M2 7.500C2 4.700 4.500 2.500 8 2.500s6 2.200 6 5-2.500 5-6 5c-.7 0-1.400-.1-2-.3L2.500 13.500l.7-2.600A4.600 4.600 0 0 1 2 7.500Z" />
  ),
  bell: <path d="M4 7a4 4 0 0 1 8 0c0 3.500 1.500 4.500 1.500 4.500h-11S4 10.500 4 7ZM6.500 13.500c.7.9 2.300.9 3 0" />,
  clock: <path d="M8 14.500a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13ZM8 4.500V8l2.500 1.500" />,
  digest: <path d="M2 4h12M2 8h12M2 12h7M12 10.500v3M10.500 12h3" />,
  throttle: <path d="M2 3.500h12l-4.500 5v4l-3 1.500v-5.500z" />,
  code: <path d="M5 4.500 1.500 8 5 11.500M11 4.500 14.500 8 11 11.500M9 3l-2 10" />,
  check: <path d="m2.500 8.500 3.500 3.500 7.500-8" />,
  cross: <path d="m3.500 3.500 9 9M12.500 3.500l-9 9" />,
  warning: <path d="M8 2 1.500 13.500h13zM8 6.500v3M8 11.500h.01" />,
  info: <path d="M8 14.500a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13ZM8 7.500v3.500M8 5h.01" />,
  minus: <path d="M3.500 8h9" />,
  plus: <path d="M8 3v10M3 8h10" />,
  search: <path d="M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10ZM10.500 10.500 14.500 14.500" />,
  copy: <path d="M5.500 5.500h8v8h-8zM3.500 10.500h-1v-8h8v1" />,
  more: <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" />,
  right: <path d="m6 3.500 4.500 4.500L6 12.500" />,
  down: <path d="M3.500 6 8 10.500 12.500 6" />,
  up: <path d="M3.500 10 8 5.500 12.500 10" />,
  left: <path d="M10 3.500 5.500 8l4.500 4.500" />,
  menu: <path d="M2 4h12M2 8h12M2 12h12" />,
  sun: (
    <path d="M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M12.600 3.400l-1 1M4.400 11.600l-1 1" />
  ),
  moon: <path d="M13.500 9.500A5.800 5.800 0 0 1 6.500 2.500a5.800 5.800 0 1 0 7 7Z" />,
  out: <path d="M6.500 2.500h-4v11h4M10 5l3 3-3 3M13 8H6" />,
  send: <path d="M14.500 1.500 7 9M14.500 1.500l-4.500 13L7 9 1.500 6.500z" />,
  filter: <path d="M2 3.500h12M4.500 8h7M6.500 12.500h3" />,
  again: <path d="M13.500 8A5.500 5.500 0 1 1 11.500 3.700M13.500 1.500v3h-3" />,
  trash: <path d="M2.500 4h11M6 4V2.500h4V4M4 4l.7 9.500h6.600L12 4" />,
  duplicate: <path d="M5.500 5.500h8v8h-8zM10.500 3.500v-1h-8v8h1M9.500 7.500v4M7.500 9.500h4" />,
  key: <path d="M5 13.500A3.500 3.500 0 1 0 5 6.500a3.500 3.500 0 0 0 0 7ZM7.500 7.500l6-6M11 4l2 2" />,
  file: <path d="M3.500 1.500h6l3 3v10h-9zM9.500 1.500v3h3" />,
  eye: (
    <path d="M1.500 8S4 3.500 8 3.500 14.500 8 14.500 8 12 12.500 8 12.500 1.500 8 1.500 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z" />
  ),
  shield: <path d="M8 1.500 2.500 3.500v4c0 3.500 2.300 5.800 5.500 7 3.200-1.200 5.500-3.500 5.500-7v-4z" />,
  ban: <path d="M8 14.500a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13ZM3.500 3.500l9 9" />,
  link: (
    <path d="M6.500 9.500 9.500 6.500M7 4.500l1.500-1.500a3 3 0 0 1 4.500 4.500L11.500 9M9 11.500 7.500 13A3 3 0 0 1 3 8.500L4.500 7" />
  ),
  webhook: (
    <path d="M6.200 6.800A2.800 2.800 0 1 1 10.700 4.300M6.500 5.500 4.200 9.800M4 14a2.600 2.600 0 1 1 2.300-3.700M6.500 11.500h4.200M12 8.900a2.600 2.600 0 1 1-2.200 4.500M8 4.300l2.700 4.800" />
  ),
  tenant: (
    <path d="M2.500 14.500v-11h6v11M8.500 7h5v7.500M1.500 14.500h13M4.500 6h2M4.500 8.500h2M4.500 11h2M10.500 9.500h1M10.500 12h1" />
  ),
  context: <path d="M8 1.500 14 4.800v6.400L8 14.500l-6-3.300V4.800zM2 4.800l6 3.200 6-3.200M8 8v6.500" />,
  history: <path d="M2.500 8A5.500 5.500 0 1 0 4.500 3.700M2.500 1.500v3h3M8 5v3.200l2.200 1.300" />,
  promote: <path d="M8 13.500v-9M4.500 8 8 4.500 11.500 8M3 2h10" />,
  heart: <path d="M1.500 8h3l1.500-3 3 6 1.500-3h4" />,
} satisfies Record<string, ReactNode>

export type IconName = keyof typeof paths

export function Icon({ name, size = 16, className = '' }: { name: IconName; size?: number; className?: string }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className={`shrink-0 ${className}`}
    >
      {paths[name]}
    </svg>
  )
}

export function Logo({ size = 20 }: { size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={2}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className="shrink-0 text-accent"
    >
      <circle cx="10" cy="12" r="5.500" />
      <path d="M10 6.500H3M15.500 12c0 3 1.500 4.500 5.500 6.500V5.500C17 7.500 15.500 9 15.500 12Z" />
    </svg>
  )
}

const stepIcons: Readonly<Record<string, IconName>> = {
  email: 'mail',
  sms: 'sms',
  push: 'push',
  chat: 'chat',
  in_app: 'bell',
  delay: 'clock',
  digest: 'digest',
  throttle: 'throttle',
  custom: 'code',
  trigger: 'send',
}

export const iconOfStep = (type: string): IconName => stepIcons[type] ?? 'info'

const stepNames: Readonly<Record<string, string>> = {
  email: 'E-mail',
  sms: 'SMS',
  push: 'Push',
  chat: 'Chat',
  in_app: 'In-app',
  delay: 'Delay',
  digest: 'Digest',
  throttle: 'Throttle',
  custom: 'Custom',
}

export const nameOfStep = (type: string): string => stepNames[type] ?? type
