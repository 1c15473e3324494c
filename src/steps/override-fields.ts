// Reads what a trigger overrides, field by field: an error is reported by its path, and nothing smuggles in a line
// break.
import type { Fields } from '../domain/merged.ts'
import { isFields } from '../domain/merged.ts'
import { RenderError } from '../domain/workflows/rendering.ts'

export class OverrideFields {
  readonly path: string
  readonly #fields: Fields

  /** Null and absent both mean nothing. Throws a RenderError if the value is not an object. */
  constructor(path: string, value: unknown) {
    this.path = path
    this.#fields = value === undefined || value === null ? {} : objectAt(path, value)
  }

  pathOf(name: string): string {
    return `${this.path}.${name}`
  }

  all(): Fields {
    return this.#fields
  }

  /** The remaining fields: those for the provider. */
  without(names: ReadonlySet<string>): Fields {
    return Object.fromEntries(Object.entries(this.#fields).filter(([name]) => !names.has(name)))
  }

  value(name: string): unknown {
    return memberOf(this.#fields, name)
  }

  text(name: string, lengthMax: number): string | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    if (typeof value !== 'string') throw new RenderError(this.pathOf(name), 'must be a string')
    if (value.length > lengthMax) {
      throw new RenderError(this.pathOf(name), `is ${value.length} characters long; at most ${lengthMax} are allowed`)
    }
    return value
  }

  line(name: string, lengthMax: number): string | undefined {
    const line = this.text(name, lengthMax)
    if (line !== undefined && hasControls(line)) {
      throw new RenderError(this.pathOf(name), 'must be a single line without control characters')
    }
    return line
  }

  flag(name: string): boolean {
    const value = this.value(name) ?? false
    if (typeof value !== 'boolean') throw new RenderError(this.pathOf(name), 'must be true or false')
    return value
  }

  object(name: string): Fields | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : objectAt(this.pathOf(name), value)
  }

  fields(name: string): OverrideFields {
    return new OverrideFields(this.pathOf(name), this.value(name))
  }
}

/** Of one of the members of `overrides`. */
export const overrideFields = (overrides: Fields, name: string): OverrideFields =>
  new OverrideFields(`overrides.${name}`, memberOf(overrides, name))

export const hasControls = (text: string): boolean => /[\p{Cc}\u2028\u2029]/u.test(text)

export const optional = (name: string, value: unknown): object => (value === undefined ? {} : { [name]: value })

/** Null and absent both mean nothing. */
function memberOf(fields: Fields, name: string): unknown {
  return (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? undefined
}

function objectAt(path: string, value: unknown): Fields {
  if (isFields(value)) return value
  throw new RenderError(path, 'must be an object')
}
