// The validators: one that converts text to numbers and booleans (queries, paths), one that takes a body as it is; and
// the serialisers of responses.
import type { ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import stringifierOf from 'fast-json-stringify'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import type { TSchema } from 'typebox'
import { isEmail, isLocale, isTimezone } from '../../domain/people/subscriber.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
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

/** Compiled when first needed: all at once they were a third of the startup time, and most are never used. */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  let compiled: ValidateFunction | undefined
  const validate = ((value) => {
    compiled ??= (httpPart === 'body' ? strict : coercing).compile(schema)
    const isGood = compiled(value)
    validate.errors = (compiled.errors ?? null) as LateValidator['errors']
    return isGood
  }) as LateValidator
  return validate
}

type LateValidator = ((value: unknown) => boolean) & { errors: FastifySchemaValidationError[] | null }

/** Writes an answer by its schema; compiled when there is one to write, for the same reason. */
export const serializerCompiler: FastifySerializerCompiler<object> = ({ schema }) => {
  let serialize: ((value: unknown) => string) | undefined
  return (value) => {
    serialize ??= stringifierOf.default(schema)
    return serialize(value)
  }
}

/** Judges one element of a call that judges each on its own; undefined when it is good. */
export function elementCheck(schema: TSchema): (element: unknown) => FieldErrors | undefined {
  let validate: ValidateFunction | undefined
  return (element) => {
    validate ??= strict.compile(schema)
    return validate(element) ? undefined : fieldErrorsOf((validate.errors ?? []) as SchemaMistake[], 'element')
  }
}
