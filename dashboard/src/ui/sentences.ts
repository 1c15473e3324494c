// Sentences of the service as people read them: times of this browser instead of ISO 8601, words instead of operators.
import { exactTime } from './time.tsx'

const operators: Readonly<Record<string, string>> = {
  EQUAL: '',
  NOT_EQUAL: 'anything but ',
  LARGER: 'more than ',
  LARGER_EQUAL: 'at least ',
  SMALLER: 'less than ',
  SMALLER_EQUAL: 'at most ',
  BETWEEN: 'between ',
  NOT_BETWEEN: 'not between ',
  LIKE: 'to contain ',
  NOT_LIKE: 'not to contain ',
  IN: 'one of ',
  NOT_IN: 'none of ',
  ANY_IN: 'any of ',
  ALL_IN: 'all of ',
}

export const operatorWord = (operator: string): string => operators[operator]?.trim() ?? operator

export const readable = (sentence: string): string =>
  sentence
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (at) => exactTime(at))
    .replaceAll(/\bexpected ([A-Z_]+) /g, (whole, operator: string) =>
      operator in operators ? `expected ${operators[operator]}` : whole,
    )
