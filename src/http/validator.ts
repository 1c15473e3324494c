// The validators: one that reads text as numbers and booleans (queries, paths), one that takes a body at its word.
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import type { FieldErrors } from '../domain/problem.ts'
import { isEmail, isLocale, isTimezone } from '../domain/subscriber.ts'
import { isUuid } from '../domain/uuid-v7.ts'
import type { SchemaMistake } from './field-errors.ts'
import { fieldErrorsOf } from './field-errors.ts'

// `allErrors`: every wrong field at once. Bodies are bounded in size and depth before they come here.
const common = { allErrors: true, verbose: true, useDefaults: true, strict: false } as const
const strict = withFormats(new Ajv({ ...common, coerceTypes: false }))
const coercing = withFormats(new Ajv({ ...common, coerceTypes: 'array' }))

function withFormats(ajv: Ajv): Ajv {
  formats.default(ajv)
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('email', isEmail)
  ajv.addFormat('locale', isLocale)
  ajv.addFormat('timezone', isTimezone)
  ajv.addFormat('web-address', isWebAddress)
  return ajv
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}

export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) =>
  (httpPart === 'body' ? strict : coercing).compile(schema)

/** Judges one element of a call that judges each on its own; undefined when it is good. */
export function elementCheck(schema: TSchema): (element: unknown) => FieldErrors | undefined {
  const validate = strict.compile(schema)
  return (element) =>
    validate(element) ? undefined : fieldErrorsOf((validate.errors ?? []) as SchemaMistake[], 'element')
}
