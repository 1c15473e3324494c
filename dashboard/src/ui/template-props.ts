// What a field of a template is given, with its editor or without.
import type { ReactNode } from 'react'

export interface TemplateFieldProps {
  readonly label: string
  readonly value: string
  readonly onText: (text: string) => void
  readonly hint?: ReactNode
  readonly error?: string | undefined
  /** One line for subjects and titles. */
  readonly rows?: number
  readonly variables?: readonly string[]
  /** Said to those who hear the page, and not shown. */
  readonly isLabelHidden?: boolean
  /** Liquid in text or HTML when left out. */
  readonly language?: 'liquid' | 'json'
}
