// A menu below a button.
import * as DropdownMenu from '@radix-ui/react-dropdown-menu'
import type { ReactNode } from 'react'
import type { IconName } from './icons.tsx'
import { Icon } from './icons.tsx'

export interface MenuItem {
  readonly text: string
  readonly icon?: IconName
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly hint?: string
  readonly onSelect: () => void
}

export function Menu({
  button,
  items,
  label,
}: {
  button: ReactNode
  items: readonly (MenuItem | 'line')[]
  label: string
}) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{button}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          aria-label={label}
          align="end"
          sideOffset={4}
          className="card arrive z-50 min-w-52 p-1 shadow-lg"
        >
          {items.map((item, index) =>
            item === 'line' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line has nothing else to be known by
              <DropdownMenu.Separator key={index} className="my-1 h-px bg-line" />
            ) : (
              <DropdownMenu.Item
                key={item.text}
                disabled={item.disabled}
                onSelect={item.onSelect}
                className={`flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 text-sm outline-none data-[disabled]:cursor-default data-[disabled]:opacity-50 data-[highlighted]:bg-bg-3 ${item.danger === true ? 'text-red' : 'text-ink'}`}
              >
                {item.icon !== undefined && <Icon name={item.icon} size={14} />}
                <span className="flex-1">
                  {item.text}
                  {item.hint !== undefined && <span className="block text-xs text-ink-3">{item.hint}</span>}
                </span>
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
