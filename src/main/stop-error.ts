// The error of a stop that was not clean. In a file of its own: every command knows it, and few need what throws it.
/** The service has ended, and not all of it in order. */
export class StopError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StopError'
  }
}
