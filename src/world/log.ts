// The log as the rest of the code sees it: four levels, an object of facts, a sentence.
export interface Log {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** A silent log, for tests and tools. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
